import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { text as readText } from "node:stream/consumers";
import { readTextKey } from "../../src/features/directory/table/compile.ts";
import { isMissingKey } from "../../src/features/directory/table/types.ts";
import { type FieldValue, formatUuid, type Layout, type Words } from "../../src/ids/index.ts";
import { wordsToBig } from "../../src/ids/layout/words.ts";
import { wordMinter } from "../../src/ids/mint/create-minter.ts";
import { loadTable, resolvePath } from "../../src/routing/index.ts";
import type { CompiledTable, IdDecision } from "../../src/routing/table.ts";
import { ENTRIES, type Library } from "./libraries.ts";

/** How one library and Waybill read each other's IDs. */
export interface Comparison {
  /** The library's IDs that Waybill refuses. */
  readonly refused: readonly string[];
  /** IDs made with a known key that a route by this key does not take. */
  readonly misrouted: readonly string[];
  /** Fields that both read alike in every ID of both. */
  readonly alike: readonly string[];
  /** The first difference of a field that they do not read alike. */
  readonly differences: readonly string[];
  readonly reads: Library["reads"];
  /** The share of its IDs that the layout of `mistaken` reads, as IDs of about now if it has a time. */
  readonly mistakenShare?: number;
}

type Fields = Readonly<Record<string, string | number>>;
type ReadOne = { readonly text: string; readonly fields?: Fields; readonly refused?: string };

interface Report {
  readonly fromMs: number;
  readonly toMs: number;
  readonly known: Fields;
  readonly made: readonly { readonly text: string; readonly fields: Fields }[];
  readonly read?: readonly ReadOne[];
}

/** A table whose one entity has IDs of the library. Those of the key go to `us`, others to `eu`. */
export const tableFor = (library: Library, key: Fields = {}): CompiledTable => {
  const { layout } = library;
  const entry = layout === undefined ? undefined : ENTRIES[layout];
  const table = loadTable(
    {
      regions: Object.fromEntries(
        ["eu", "us"].map((name) => [name, { origins: [{ url: `https://${name}.example.com` }] }]),
      ),
      entities: {
        thing:
          layout === undefined
            ? { path: "/things/:id", directory: "thing" }
            : { path: "/things/:id", ids: [{ layout }] },
      },
      ...(layout === undefined && { directory: { thing: { key: { text: "nfc" } } } }),
      ...(entry && { layouts: { [layout as string]: entry } }),
      routes: Object.keys(key).length === 0 ? [] : [{ when: { layout, fields: key }, region: "us" }],
      default: "eu",
    },
    1,
  );
  if (!table.ok) throw new Error(`${library.name}: ${JSON.stringify(table.error)}`);
  return table.value;
};

export const layoutOf = (table: CompiledTable): Layout | undefined =>
  table.paths.match("/things/0")?.entity.ids[0]?.enabled.layout;

/** The table's decision about a text on the entity's path. */
export const decisionOf = (table: CompiledTable, text: string, nowMs: number): IdDecision | undefined => {
  const path = `/things/${text}`;
  const match = table.paths.match(path);
  const decision = match && resolvePath(table, match, path, nowMs);
  return decision?.ok ? decision.value : undefined;
};

const readBy = (table: CompiledTable, text: string, nowMs: number): Words | undefined =>
  decisionOf(table, text, nowMs)?.words;

/** The key that a directory is asked for. */
const keyIn = (table: CompiledTable, text: string): string | undefined => {
  const path = `/things/${text}`;
  const match = table.paths.match(path);
  if (match?.entity.directory === undefined) return undefined;
  const needed = readTextKey(match, match.entity.directory, path, undefined);
  return "missing" in needed && isMissingKey(needed.missing) ? needed.missing.key : undefined;
};

const MINTED_COUNT = 200;
/** A library that counts seconds rounds them, or is a second ahead. */
const AHEAD_MS = 1_000;

export async function compare(folder: string, library: Library): Promise<Comparison> {
  const table = tableFor(library);
  const layout = layoutOf(table);
  const ours = layout === undefined ? [] : mintedBy(layout, Date.now());
  const report = await run(folder, library.name, ours);
  if (layout === undefined) {
    const refused = report.made.map(({ text }) => text).filter((text) => keyIn(table, text) !== text);
    return { refused, misrouted: [], alike: [], differences: [], reads: undefined };
  }
  const judge = new Judge(layout, report);
  const mistakenShare =
    library.mistaken === undefined ? undefined : shareReadBy({ ...library, layout: library.mistaken.layout }, report);
  const refused = report.made.flatMap(({ text, fields }) => {
    const words = readBy(table, text, report.toMs);
    if (words === undefined) return text;
    judge.made(text, words, fields);
    return [];
  });
  const read = report.read ?? [];
  for (const { text, fields } of read) {
    const words = readBy(table, text, report.toMs);
    if (words === undefined) throw new Error(`${library.name}: Waybill refuses its own ${text}`);
    if (fields !== undefined) judge.compared(text, words, fields);
  }
  const count = read.filter((one) => one.refused === undefined).length;
  const known = ours.length === 0 ? undefined : report.read;
  const reads = known === undefined ? undefined : count === ours.length ? "yes" : "no";
  const misrouted = misroutedOf(library, layout, report);
  return { refused, misrouted, ...judge.result(), reads, ...(mistakenShare !== undefined && { mistakenShare }) };
}

/** By the route of the keys that the driver gave to the library. */
function misroutedOf(library: Library, layout: Layout, { known, made, toMs }: Report): readonly string[] {
  const key = Object.fromEntries(Object.entries(known).filter(([name]) => layout.field(name)?.role === "key"));
  if (Object.keys(key).length === 0) return [];
  const table = tableFor(library, key);
  return made.map(({ text }) => text).filter((text) => decisionOf(table, text, toMs)?.target.region.name !== "us");
}

const DAY_MS = 86_400_000;

function shareReadBy(library: Library, { made, toMs }: Report): number {
  const table = tableFor(library);
  const layout = layoutOf(table);
  const isOfNow = (words: Words): boolean => Math.abs((layout?.mintedAtMs?.(words) ?? toMs) - toMs) < DAY_MS;
  const read = made.filter(({ text }) => {
    const words = readBy(table, text, toMs);
    return words !== undefined && isOfNow(words);
  });
  return read.length / made.length;
}

/** Compares fields. A field counts as read alike if no ID shows another value. */
class Judge {
  readonly #layout: Layout;
  readonly #report: Report;
  readonly #alike = new Set<string>();
  readonly #differences = new Map<string, string>();

  constructor(layout: Layout, report: Report) {
    this.#layout = layout;
    this.#report = report;
  }

  /** An ID of the library: by its decoder, else by the clock and by what it was given. */
  made(text: string, words: Words, fields: Fields): void {
    this.compared(text, words, { ...this.#report.known, ...fields });
    const mintedAtMs = this.#layout.mintedAtMs?.(words);
    if (mintedAtMs === undefined) return;
    // A unit of the time is a second at most.
    const isNear = mintedAtMs > this.#report.fromMs - AHEAD_MS && mintedAtMs <= this.#report.toMs + AHEAD_MS;
    this.#note("mintedAt", isNear, `${text}: ${mintedAtMs} ms at ${this.#report.fromMs} ms`);
  }

  compared(text: string, words: Words, fields: Fields): void {
    for (const [name, theirs] of Object.entries(fields)) {
      const own = this.#value(name, words);
      const value = name === "mintedAt" ? BigInt(Math.floor(Number(theirs))) : BigInt(theirs);
      this.#note(name, own === value, `${text}: ${name} ${own} and ${value}`);
    }
  }

  #value(name: string, words: Words): bigint | undefined {
    if (name === "bits") return BigInt(`0x${formatUuid(uuidWords(words)).replaceAll("-", "")}`);
    if (name === "mintedAt") return BigInt(Math.floor(this.#layout.mintedAtMs?.(words) ?? -1));
    return this.#layout.field(name)?.readBig(words);
  }

  #note(name: string, isAlike: boolean, difference: string): void {
    if (isAlike) this.#alike.add(name);
    else if (!this.#differences.has(name)) this.#differences.set(name, difference);
  }

  result(): Pick<Comparison, "alike" | "differences"> {
    const alike = [...this.#alike].filter((name) => !this.#differences.has(name)).toSorted();
    return { alike, differences: [...this.#differences.values()] };
  }
}

/** The 16 bytes of a UUID from its words. */
const uuidWords = (words: Words): Words => {
  if (wordsToBig(words) >= 1n << 128n) throw new Error("more than 128 bits");
  return [...Array(4 - words.length).fill(0), ...words];
};

/** IDs of the layout, by a minter that starts now; none if Waybill mints none. */
export function mintedBy(layout: Layout, nowMs: number, count = MINTED_COUNT): readonly string[] {
  if (layout.table.minter === "none") return [];
  const given = layout.fields.filter(({ role }) => role === "key" || role === "node");
  const keys: Record<string, FieldValue> = Object.fromEntries(
    given.map(({ name, bits }, at) => [name, bits > 53 ? BigInt(at + 1) : at + 1]),
  );
  const minter = wordMinter(layout, keys, { word: () => randomBytes(4).readUInt32BE() });
  if (!minter.ok) throw new Error(`${layout.name}: ${minter.error.reason}`);
  return Array.from({ length: count }, () => {
    const words = minter.value(nowMs);
    if (!words.ok) throw new Error(`${layout.name}: ${words.error.reason}`);
    return layout.format(words.value);
  });
}

async function run(folder: string, name: string, ours: readonly string[]): Promise<Report> {
  return JSON.parse(await outputOf(folder, ["drivers/run.mjs", name], JSON.stringify(ours)));
}

/** Statements of the page about libraries alone, each with what drivers/claims.mjs finds. */
export const claims = async (folder: string): Promise<Readonly<Record<string, boolean>>> =>
  JSON.parse(await outputOf(folder, ["drivers/claims.mjs"], ""));

async function outputOf(folder: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: "pipe" });
  const exit = new Promise<number | null>((resolve, reject) => child.on("exit", resolve).on("error", reject));
  child.stdin.end(input);
  const [output, errors, code] = await Promise.all([readText(child.stdout), readText(child.stderr), exit]);
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${errors}`);
  return output;
}
