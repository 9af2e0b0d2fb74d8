import { err, formatShortKey, ok, type Result } from "../../../ids/index.ts";
import type { EntityLocation } from "../../../routing/moves/steps.ts";
import { groupsOf } from "../../../routing/resolve/match.ts";
import type { CompiledTable } from "../../../routing/table.ts";
import { command, group, type OptionsOf, option, withDefault } from "../../command.ts";
import { countingNumber, oneOf, writeOutput } from "../../lib/input.ts";
import { alignColumns, countOf, escapeControls, indented, jsonText, linesText } from "../../lib/output.ts";
import { type OpenTable, openForEdit, reportRemoved } from "../../lib/table-edit.ts";
import { checkText, compile, valid } from "../../lib/table-file.ts";
import { EXIT, type ExitCode, fail, misuse, type Runtime } from "../../runtime.ts";
import { locator, rewriteTable } from "../move.ts";
import { KeySet, PAGES_MAX } from "./key-set.ts";
import { type Clash, clashIn, type OldKey, type Reported } from "./reassign.ts";
import { isOutside, overlapsIn, type Ranges, rangesOf, recordsOf, type Source, sourcesOf } from "./sources.ts";

/** Limits memory: with more shared keys something else is wrong, such as a file that is named twice. */
const SHARED_RECORDS_MAX = 500_000;

/** Faulty lines and stray keys that are shown. */
const SHOWN_MAX = 10;

const oldKey = oneOf<OldKey>(["moved", "gone"], "It must be moved or gone.");

const OPTIONS = [
  option("--table <file>", "the routing table, for names of entities and for --out"),
  option("--out <file>", "write the table with the re-assignments"),
  option("--from <number>", "the lowest new primary key (default: beyond the highest of the group)", countingNumber),
  withDefault("--old <state>", "a shared short key is moved to its keeper, or gone for all", "moved", oldKey),
  option("--ranges <list>", "check the regions' SEQUENCE_RANGE: eu=0/4,us=1/4"),
  option("--json", "one JSON object per line"),
] as const;
type Options = OptionsOf<typeof OPTIONS>;

const verify = command({
  name: "verify",
  description: "find primary keys that several regions gave, and re-assign them",
  args: [["[source...]", "region=FILE or region=https://…, NDJSON"]],
  options: OPTIONS,
  help: `
Examples:
  $ waybill luuid verify eu=eu.ndjson us=https://us.acme.test/luuids --ranges eu=0/4,us=1/4
  $ waybill luuid verify eu=eu.ndjson us=us.ndjson --table routing-table.json --from 5000000 --out next.json

docs/guides/luuid.md has the lines, and who keeps a key.
Exit code: 0 without findings, 2 if keys are shared or outside their ranges, 1 if something cannot be decided.`,
  run: async (runtime, args, options) => {
    const sources = sourcesOf(args);
    const ranges = options.ranges === undefined ? undefined : rangesOf(options.ranges);
    if (sources.length === 0 && ranges === undefined) misuse("error: no source; write region=FILE, or --ranges\n");
    if (options.out !== undefined && options.table === undefined) misuse("error: --out needs --table\n");
    const opened = options.table === undefined ? undefined : await openForEdit(options.table, runtime);
    checkRegions(sources, opened, ranges);
    const read = await readKeys(sources, ranges, options, runtime);
    const records = await sharedRecords(sources, read, options, runtime);
    return answer(
      { read, clashes: clashesIn(records, read, opened, options, runtime), ranges, opened },
      options,
      runtime,
    );
  },
});

const checkRegions = (sources: readonly Source[], opened: OpenTable | undefined, ranges: Ranges | undefined): void => {
  for (const { region } of sources) {
    const shown = escapeControls(region);
    if (opened !== undefined && !Object.hasOwn(opened.table.regions, region)) {
      fail(`error: the routing table has no region ${shown}\n`);
    }
    if (ranges !== undefined && !ranges.has(region)) misuse(`error: --ranges has no range of ${shown}\n`);
  }
};

interface Read {
  readonly seen: KeySet;
  readonly shared: KeySet;
  /** The highest key by group. */
  readonly highest: Map<number, number>;
  /** Lines of each source. */
  readonly counts: number[];
  readonly faults: string[];
  faultCount: number;
  readonly strays: string[];
  strayCount: number;
}

/** The first reading: which keys come twice. */
const readKeys = async (
  sources: readonly Source[],
  ranges: Ranges | undefined,
  { json = false }: Options,
  runtime: Runtime,
) => {
  const seen = new KeySet();
  const read: Read = {
    seen,
    shared: new KeySet(),
    highest: new Map(),
    counts: [],
    faults: [],
    faultCount: 0,
    strays: [],
    strayCount: 0,
  };
  for (const [at, source] of sources.entries()) {
    read.counts[at] = 0;
    const range = ranges?.get(source.region);
    for await (const record of recordsOf(source, json, runtime)) {
      read.counts[at]++;
      if (!record.ok) {
        if (read.faultCount++ < SHOWN_MAX) read.faults.push(record.error);
        continue;
      }
      const { group, primaryKey } = record.value;
      if (!seen.add(group, primaryKey)) read.shared.add(group, primaryKey);
      if (seen.isFull) fail(`error: the keys are too scattered: more than ${PAGES_MAX} pages of 65,536\n`);
      if (primaryKey > (read.highest.get(group) ?? -1)) read.highest.set(group, primaryKey);
      if (isOutside(range, primaryKey) && read.strayCount++ < SHOWN_MAX) {
        read.strays.push(`${source.region}: key ${formatShortKey(primaryKey)} of group ${group} is outside its range`);
      }
    }
  }
  return read;
};

/** The second reading: who has the keys that came twice. */
const sharedRecords = async (
  sources: readonly Source[],
  { shared, counts }: Read,
  { json = false }: Options,
  runtime: Runtime,
) => {
  const records = new Map<string, Reported[]>();
  if (shared.size === 0) return records;
  const orders = new Map([...new Set(sources.map(({ region }) => region))].map((region, order) => [region, order]));
  let kept = 0;
  for (const [at, source] of sources.entries()) {
    let count = 0;
    for await (const record of recordsOf(source, json, runtime)) {
      count++;
      if (!record.ok || !shared.has(record.value.group, record.value.primaryKey)) continue;
      const { region } = source;
      const key = `${record.value.group}/${record.value.primaryKey}`;
      const same = records.get(key) ?? [];
      same.push({ ...record.value, region, order: orders.get(region) ?? 0 });
      records.set(key, same);
      if (++kept > SHARED_RECORDS_MAX) fail(`error: more than ${SHARED_RECORDS_MAX} records share keys\n`);
    }
    if (count !== counts[at]) fail(`error: ${escapeControls(source.from)} changed between two readings\n`);
  }
  return records;
};

type Found = Clash & { readonly entity?: string };

/** The clashes with what the table says of them, and the changes of its entries. */
const clashesIn = (
  records: ReadonlyMap<string, readonly Reported[]>,
  { seen, highest }: Read,
  opened: OpenTable | undefined,
  { from, old }: Options,
  runtime: Runtime,
) => {
  const compiled = opened && compiledOf(opened);
  const names = new Map(
    [...(compiled?.entities.values() ?? [])].flatMap((entity) =>
      groupsOf(entity).map((owner) => [owner.group, entity.name] as const),
    ),
  );
  const given = new Map<number, number>();
  const nextKey = (group: number): number => {
    const last = given.get(group);
    let next = last === undefined ? (from ?? (highest.get(group) ?? 0) + 1) : last + 1;
    while (seen.has(group, next) || compiled?.moved.findShort(group, next) !== undefined) next++;
    given.set(group, next);
    return next;
  };
  const locate = opened && locator(opened.table, runtime.nowMs());
  const changes = new Map<string, EntityLocation>();
  const epochMin = (opened?.table.epochFloor ?? 0) + 1;
  const found: Found[] = [];
  for (const reported of records.values()) {
    const clash = clashIn(reported, old, nextKey);
    if (clash === undefined) continue;
    const entity = names.get(clash.group);
    const named = entity === undefined ? clash : { ...clash, entity };
    const isOverridden = compiled?.moved.findShort(clash.group, clash.primaryKey) !== undefined;
    const placed =
      locate === undefined || "undecided" in clash
        ? ok([])
        : isOverridden
          ? err("the table has an entry of this short key in moved, moves or gone")
          : changesFor(clash, locate, epochMin);
    if (placed.ok) {
      for (const [id, at] of placed.value) changes.set(id, at);
      found.push(named);
    } else {
      const holders = reported.map(({ region, id = "" }) => ({ region, id }));
      const { group, primaryKey, shortKey } = clash;
      const key = { group, primaryKey, shortKey, ...(entity === undefined ? {} : { entity }) };
      found.push({ ...key, undecided: placed.error, holders });
    }
  }
  return { found, changes };
};

const compiledOf = ({ name, text }: OpenTable): CompiledTable =>
  valid(name, checkText(new TextEncoder().encode(text), compile));

type Change = readonly [id: string, at: EntityLocation];

/** The entries by which the old key goes to its keeper, or nowhere, and each new one to its region. */
const changesFor = (
  clash: Exclude<Clash, { readonly undecided: string }>,
  locate: ReturnType<typeof locator>,
  epochMin: number,
): Result<readonly Change[], string> => {
  const changes: Change[] = [];
  const lead = (id: string, region: string): string | undefined => {
    const located = locate(id);
    if (!located.ok) return located.error;
    const { at } = located.value;
    if (at.state !== "routed") return `the table says of ${id}: ${at.state}`;
    if (at.region !== region) changes.push([located.value.id, { state: "moved", region, epoch: undefined }]);
    return undefined;
  };
  const { keeps, reassigned } = clash;
  if (keeps === undefined) {
    // All IDs of one short key must have the same entry.
    for (const { id } of reassigned) {
      const located = locate(id);
      if (!located.ok) return located;
      changes.push([located.value.id, { state: "gone", epoch: epochMin }]);
    }
  } else {
    const why = lead(keeps.id, keeps.region);
    if (why !== undefined) return err(why);
  }
  for (const { newId, region } of reassigned) {
    const why = lead(newId, region);
    if (why !== undefined) return err(why);
  }
  return ok(changes);
};

interface Outcome {
  readonly read: Read;
  readonly clashes: ReturnType<typeof clashesIn>;
  readonly ranges: Ranges | undefined;
  readonly opened: OpenTable | undefined;
}

const answer = async (
  { read, clashes, ranges, opened }: Outcome,
  { json, out }: Options,
  runtime: Runtime,
): Promise<ExitCode> => {
  const { found, changes } = clashes;
  const overlaps = overlapsIn(ranges ?? new Map());
  const undecided = found.filter((clash) => "undecided" in clash).length;
  for (const clash of found) await runtime.print(json ? jsonText(clash) : formatClash(clash));
  const tell = (what: string, count: number, lines: readonly string[]): void => {
    for (const line of lines) runtime.report(`${what}: ${escapeControls(line)}\n`);
    if (count > lines.length) runtime.report(`${what}: and ${countOf(count - lines.length, "more", "more")}\n`);
  };
  tell("error", read.faultCount, read.faults);
  tell("overlap", overlaps.length, overlaps);
  tell("outside", read.strayCount, read.strays);
  const clashCount = countOf(found.length, "shared key");
  runtime.report(
    `${countOf(read.seen.size, "key")} of ${countOf(read.highest.size, "group")}: ${clashCount}, ${undecided} undecided\n`,
  );
  const isDecided = read.faultCount + undecided === 0;
  if (out !== undefined && opened !== undefined) {
    if (!isDecided) runtime.report(`error: ${escapeControls(out)} was not written: first decide what is listed\n`);
    else {
      const edited = rewriteTable(opened.text, changes, 0);
      const bytes = new TextEncoder().encode(edited.text);
      valid(out, checkText(bytes, compile), "stderr", "error: nothing was written\n");
      writeOutput(out, bytes, runtime);
      reportRemoved(edited.removed, runtime);
      runtime.report(`${escapeControls(out)}: ${countOf(changes.size, "entry", "entries")} changed\n`);
    }
  }
  if (!isDecided) return EXIT.failed;
  return found.length + overlaps.length + read.strayCount > 0 ? EXIT.differs : EXIT.ok;
};

const formatClash = (clash: Found): string => {
  const of = clash.entity === undefined ? `group ${clash.group}` : `group ${clash.group} (${clash.entity})`;
  const head = `${clash.shortKey} of ${of}`;
  if ("undecided" in clash) {
    const rows = clash.holders.map(({ region = "", id = "" }) => ["has", region, id]);
    return linesText([escapeControls(`${head}: undecided: ${clash.undecided}`), ...indented(alignColumns(rows))]);
  }
  const keeps = clash.keeps === undefined ? [] : [["keeps", clash.keeps.region, clash.keeps.id]];
  const rows = clash.reassigned.map(({ region, id, newId, newShortKey }) => [
    "new",
    region,
    id,
    "→",
    newId,
    newShortKey,
  ]);
  return linesText([escapeControls(head), ...indented(alignColumns([...keeps, ...rows]))]);
};

export const luuidKeys = group("luuid", "verify the primary keys of LUUIDs over regions", [verify]);
