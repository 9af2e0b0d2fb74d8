import { loadavg } from "node:os";
import { whyNoNamespaces } from "../../test/system/machines/hosts/namespaces.ts";
import type { CreatesReport } from "../../test/system/machines/rig/load/creates.ts";
import { type Rig, startRig } from "../../test/system/machines/rig/rig.ts";
import { ROWS, rowsOf } from "../../test/system/machines/rows/rows.ts";
import {
  partOf,
  RATES,
  type Rates,
  type Row,
  type RowResult,
  runRow,
  SHORT,
} from "../../test/system/machines/rows/trial.ts";
import type { Bench, BenchOptions, Cell, Section } from "../lib/report.ts";
import { publishSection } from "./publish.ts";

const STATE_NODES = 3;
const EDGES = 2;

/** A node's last words, where a row did not heal. */
const LOG_CHARACTERS = 2_000;

const COLUMNS = [
  "failure",
  "proxied GETs",
  "errors",
  "GET p50, ms",
  "GET p99, ms",
  "creates",
  "lost",
  "create attempts refused",
  "in use, 409",
  "LUUIDs",
  "duplicates",
  "misroutes",
  "first create began after, s",
  "last 503 began after, s",
  "publication in force p50, ms",
  "load",
  "notes",
];

/** Each failure of docs/operate/failures.md under load, counted. */
export const machinesBench: Bench = {
  name: "machines",
  run: async (options) => {
    const whyNot = whyNoNamespaces();
    if (options.isPublish === true) return [await publishSection({ ...options, needsCuts: whyNot === undefined })];
    const wanted = options.rowNames === undefined ? ROWS : rowsOf(options.rowNames);
    if (whyNot !== undefined) options.progress(`Machines: ${whyNot}; hosts are addresses of loopback`);
    const rig = await startRig({
      states: STATE_NODES,
      edges: EDGES,
      ...(options.isShort === true ? SHORT : { timeDivisor: 1 }),
      needsCuts: whyNot === undefined,
      against: options.against,
      progress: (line) => options.progress(`Machines: ${line}`),
    });
    try {
      const rates = partOf(RATES, options.loadPercent ?? 100);
      return [sectionOf(await runAll(rig, wanted, rates, options), rates, options.isShort === true)];
    } finally {
      await rig.stop();
    }
  },
};

interface Ran extends RowResult {
  readonly load1: number;
}

async function runAll(
  rig: Rig,
  rows: readonly Row[],
  rates: Rates,
  { isShort = false, progress }: BenchOptions,
): Promise<Ran[]> {
  const results: Ran[] = [];
  for (const row of rows) {
    const why = whyLeftOut(rig, row);
    if (why !== undefined) {
      progress(`Machines: ${row.title}: left out: ${why}`);
      continue;
    }
    progress(`Machines: ${row.title}`);
    const result = { ...(await runRow(rig, row, { isShort, rates })), load1: loadavg()[0] ?? 0 };
    progress(`Machines: ${wordsOf(result)}`);
    for (const line of [...result.lost, ...result.keysWithTwo, ...(result.load.mints?.duplicates ?? [])])
      progress(`  ${line}`);
    if (!result.isHealed || (result.load.creates?.givenUp ?? 0) > 0)
      for (const node of rig.states) progress(node.printed().slice(-LOG_CHARACTERS));
    results.push(result);
  }
  return results;
}

function whyLeftOut({ cuts, whyNoClocks }: Rig, { needs }: Row): string | undefined {
  if (needs === "cuts" && cuts === undefined) return "hosts cannot be cut apart here";
  return needs === "clocks" ? whyNoClocks : undefined;
}

const seconds = (ms: number | undefined): string => (ms === undefined ? "none" : (ms / 1_000).toFixed(1));

function wordsOf({ load, healedMs, firstCreateMs, isHealed, lost, misroutes, notes }: Ran): string {
  const { gets, creates, mints } = load;
  const counted = `${gets.asked} GETs, ${gets.failed} errors; ${creates?.acknowledged} creates, ${lost.length} lost`;
  const outcomes = JSON.stringify([gets.outcomes, creates?.outcomes, mints?.outcomes]);
  return `${counted}; ${misroutes} misroutes; ${isHealed ? "healed" : "NOT HEALED"}: ${seconds(healedMs)} s, first create: ${seconds(firstCreateMs)} s, ${creates?.givenUp} given up; ${outcomes}; ${notes.join("; ")}`;
}

const inUse = (creates: CreatesReport | undefined): number =>
  Object.entries(creates?.outcomes ?? {}).reduce(
    (sum, [outcome, count]) => (outcome.startsWith("409") ? sum + count : sum),
    0,
  );

function cellsOf(row: Ran): readonly Cell[] {
  const { gets, creates, mints, publications } = row.load;
  const refused = creates === undefined ? 0 : creates.failed / creates.asked;
  return [
    row.title,
    gets.asked,
    gets.failed,
    gets.p50Ms,
    gets.p99Ms,
    creates?.acknowledged ?? 0,
    row.lost.length + row.keysWithTwo.length,
    `${Math.round(100 * refused)} %`,
    inUse(creates),
    mints?.ids ?? 0,
    mints?.duplicates.length ?? 0,
    row.misroutes + gets.misroutes,
    seconds(row.firstCreateMs),
    row.isHealed ? seconds(row.healedMs) : "not healed",
    publications?.p50InForceMs ?? null,
    row.load1.toFixed(1),
    row.notes.join("; "),
  ];
}

function sectionOf(results: readonly Ran[], rates: Rates, isShort: boolean): Section {
  const sum = (countOf: (row: Ran) => number) => results.reduce((total, row) => total + countOf(row), 0);
  const errors = sum(({ load }) => load.gets.failed);
  const lost = sum(({ lost, keysWithTwo, load }) => lost.length + keysWithTwo.length + (load.creates?.givenUp ?? 0));
  const duplicates = sum(({ load }) => load.mints?.duplicates.length ?? 0);
  const misroutes = sum(({ load, misroutes }) => misroutes + load.gets.misroutes);
  const backwards = sum(({ load }) => load.publications?.backwards ?? 0);
  const ill = results.filter(({ isHealed }) => !isHealed).map(({ name }) => name);
  const section = {
    title: "Machines: failures under load",
    note: `${EDGES} edges, ${STATE_NODES} state nodes, a stand-in of a bucket; in a second ${rates.getsPerSecond} GETs, ${rates.createsPerSecond} keyed creates, ${rates.mintsPerSecond} mints of 20 LUUIDs${isShort ? "; times are shortened" : ""}.`,
    columns: COLUMNS,
    rows: results.map(cellsOf),
    closing: `machines: ${results.length} rows, ${errors} proxied errors, ${lost} creates lost, ${duplicates} duplicates, ${misroutes} misroutes`,
  };
  const faults = [
    ...(errors + lost + duplicates + misroutes === 0 ? [] : ["not all of it was 0"]),
    ...(backwards === 0 ? [] : [`${backwards} answers by an older table after a newer one`]),
    ...results.flatMap((row) => row.faults),
    ...(ill.length === 0 ? [] : [`not healed: ${ill.join(", ")}`]),
  ];
  return faults.length === 0 ? section : { ...section, failure: faults.join("; ") };
}
