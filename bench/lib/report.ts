import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import type { Spread } from "./sample.ts";

/** How long to measure, and where to report progress. */
export interface BenchOptions {
  readonly rounds: number;
  /** Time per candidate and round; candidates that answer over the network get more. */
  readonly sampleMs: number;
  /** Number of random values to try; each benchmark has its own default. */
  readonly count?: number;
  /** Seed of the random values; each benchmark has its own default. */
  readonly seed?: number;
  /** Another checkout of the project, to compare with. */
  readonly against?: string;
  /** Shorter times, in machines. */
  readonly isShort?: boolean;
  /** Names of the rows to run, in machines; each has its own default. */
  readonly rowNames?: readonly string[];
  /** Requests a second, in percent of the usual ones, in machines. */
  readonly loadPercent?: number;
  /** Publications in place of failures, in machines. */
  readonly isPublish?: boolean;
  readonly progress: (line: string) => void;
}

/** One benchmark, by its name on the command line. */
export interface Bench {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<readonly Section[]>;
}

/** A figure with its spread, a plain figure, text, or empty. */
export type Cell = string | number | Spread | null;

/** One table of a report. */
export interface Section {
  readonly title: string;
  readonly note: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Why the benchmark failed, in one sentence. The run prints it and exits with 1. */
  readonly failure?: string;
  /** Its sums in one line. The last of a run is the run's last line. */
  readonly closing?: string;
}

export interface Report {
  /** ISO 8601. */
  readonly date: string;
  /** The machine's properties, by name. */
  readonly machine: Readonly<Record<string, string>>;
  readonly sections: readonly Section[];
}

/** Call it before measuring: the load is then that of other processes. */
export function describeMachine(): Report["machine"] {
  return {
    processor: `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} usable`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release()}`,
    "load before": `${loadavg()[0]?.toFixed(1)} running processes, the average of the minute before the first measurement`,
    node: process.versions.node,
    v8: process.versions.v8,
    workerd: packageVersion("workerd"),
  };
}

/** The report as Markdown. */
export function markdown({ date, machine, sections }: Report): string {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const tables = sections.map(({ title, note, columns, rows }) =>
    [`## ${title}`, "", note, "", ...table([columns, ...rows.map((row) => row.map(cellText))])].join("\n"),
  );
  return [`# Waybill benchmark, ${date}`, "", ...facts, "", tables.join("\n\n"), ""].join("\n");
}

function table(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  // Names are aligned left, figures right.
  const pad = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  const [heads, ...body] = lines.map((line) => `| ${line.map(pad).join(" | ")} |`);
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [heads ?? "", `| ${rule.join(" | ")} |`, ...body];
}

function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "string") return cell;
  if (typeof cell === "number") return figure(cell);
  // One round has no range.
  if (cell.min === cell.max) return figure(cell.median);
  return `${figure(cell.median)} (${figure(cell.min)}-${figure(cell.max)})`;
}

/** Three significant digits; more would be noise. */
const figure = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toString() : Number(value.toPrecision(3)).toString();

function packageVersion(name: string): string {
  const path = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const contents: unknown = JSON.parse(readFileSync(path, "utf8"));
  const found = typeof contents === "object" && contents !== null && "version" in contents && contents.version;
  return typeof found === "string" ? found : "unknown";
}
