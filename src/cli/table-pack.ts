import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Command } from "commander";
import { err, type Field, type Layout, ok, type Result } from "../ids/index.ts";
import { isIssued, keyFieldOf, ROUTABLE_BITS_MAX } from "../routing/layout-fields.ts";
import { type EncodedPack, encodePack } from "../routing/pack/encode.ts";
import { formatPackFault } from "../routing/pack/fault-text.ts";
import type { Slice } from "../routing/table.ts";
import type { Act } from "./action.ts";
import { findLayout, knownLayouts } from "./layouts.ts";
import { packFile } from "./pack-files.ts";
import { openPackTable, type PackTable, withEntry } from "./pack-table.ts";
import { escapeControls } from "./printable.ts";
import { counted, startProgress } from "./progress.ts";
import { fail } from "./refuse.ts";
import { countOf, formatFaults } from "./table-file.ts";
import { type LineRange, readRanges } from "./table-pack-lines.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

interface Options {
  readonly layout: string;
  readonly field?: string;
  readonly slice?: string;
  readonly out?: string;
  readonly table?: string;
  readonly name?: string;
  readonly json?: boolean;
}

/** `waybill table pack`: makes a pack of ranges, and the entry that a table has of it. */
export const addTablePack = (parent: Command, act: Act): void => {
  parent
    .command("pack")
    .description("make a pack of key ranges: a file beside the table, for more ranges than its JSON can hold")
    .argument("<ranges>", "lines of from,to,region or key,region, or NDJSON; - reads them from stdin")
    .requiredOption("--layout <name>", "the layout whose IDs the ranges are of")
    .option("--field <name>", "the field that they are of (default: the layout's key)")
    .option("--slice <name>", "the slice of the key that they are of, which --table declares for the layout")
    .option("--out <folder>", "where the file goes (default: packs beside the table, or in the current folder)")
    .option("--table <file>", "write the entry into this routing table as well")
    .option("--name <name>", "the pack's name in the table; with --table")
    .option("--json", "the entry with the file's name as one line of JSON, or the faults, one a line")
    .addHelpText("after", HELP)
    .action(act(pack));
};

const HELP = `
Examples:
  $ waybill table pack shards.csv --layout hotguid
  $ waybill table pack shards.csv --layout hotguid --table routing-table.json --name shards
  $ waybill table pack parts.csv --layout hotguid --slice partition --table routing-table.json --name parts
  $ psql -c "copy … to stdout csv" | waybill table pack - --layout hotguid --out packs/

The entry is printed in any case, and a route of the table has to lead to the pack. Lines may come
in any order. Ranges that overlap are faults, each with both its lines; docs/operate/publish.md has the rest.
Exit code: 0, or 1 when a line is at fault and nothing was written.`;

const pack = async (runtime: Runtime, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  if ((options.table === undefined) !== (options.name === undefined)) {
    return fail("error: --table and --name go together\n", runtime);
  }
  const table = await openNamed(options, runtime);
  if (!table.ok) return fail(table.error, runtime);
  const part = partOf(options, table.value);
  if (!part.ok) return fail(part.error, runtime);
  const input = path === "-" ? ok({ bytes: 0, chunks: runtime.stdin.chunks }) : await runtime.openFile(path);
  const name = path === "-" ? "stdin" : path;
  if (!input.ok) return fail(`error: ${escapeControls(name)} cannot be read: ${input.error}\n`, runtime);
  const progress = startProgress(
    { label: escapeControls(name), bytes: input.value.bytes, isQuiet: options.json === true },
    runtime,
  );
  const { ranges, faults } = await readRanges(counted(input.value.chunks, progress), part.value.max);
  progress.end();
  if (faults.length > 0) {
    const lines = faults.map(({ line, message }) =>
      options.json
        ? `${JSON.stringify({ file: name, line, message })}\n`
        : `${escapeControls(`${name}:${line}: ${message}`)}\n`,
    );
    await runtime.print(lines.join(""));
    return fail(`${escapeControls(name)}: ${formatFaults(faults.length)}; nothing was written\n`, runtime);
  }
  return write(runtime, ranges, part.value, options, table.value);
};

const openNamed = async ({ table, name }: Options, runtime: Runtime): Promise<Result<PackTable | undefined, string>> =>
  table === undefined || name === undefined ? ok(undefined) : openPackTable(table, name, runtime);

/** The number of an ID that the ranges are of. */
interface Part {
  readonly bits: number;
  readonly max: number;
}

const partOf = (options: Options, table: PackTable | undefined): Result<Part, string> => {
  const { layout: name, field, slice } = options;
  const layout = findLayout(name, knownLayouts(table?.rest));
  if (!layout.ok) return err(`error: ${layout.error} (--layout)\n`);
  if (slice !== undefined) return field === undefined ? sliceOf(slice, name, table) : err(ONE_PART);
  const found = field === undefined ? keyFieldOf(layout.value) : routable(layout.value, field);
  if (found !== undefined) return ok({ bits: found.bits, max: Number(found.max) });
  const what =
    field === undefined ? "no key; name a field with --field" : `no field ${field} that a route can depend on`;
  return err(`error: layout ${escapeControls(`${name} has ${what}`)}\n`);
};

const ONE_PART = "error: ranges are of a field or of a slice: say one of --field and --slice\n";

/** Only the table knows slices: it says which bits of the key they are. */
const sliceOf = (name: string, layout: string, table: PackTable | undefined): Result<Part, string> => {
  if (table === undefined)
    return err("error: a slice is known from the table that declares it: name it with --table\n");
  const slices = table.rest.layouts.get(layout)?.slices ?? new Map<string, Slice>();
  const found = slices.get(name);
  if (found !== undefined) return ok({ bits: found.bits, max: 2 ** found.bits - 1 });
  const known = slices.size === 0 ? "none is declared" : `it has ${[...slices.keys()].join(", ")}`;
  return err(
    `error: ${escapeControls(`in ${table.name} layout ${layout} has no slice ${name}: ${known}`)} (--slice)\n`,
  );
};

const routable = (layout: Layout, name: string): Field | undefined => {
  const field = layout.field(name);
  return field !== undefined && isIssued(field) && field.bits <= ROUTABLE_BITS_MAX ? field : undefined;
};

const write = async (
  runtime: Runtime,
  ranges: readonly LineRange[],
  { bits }: Part,
  options: Options,
  table: PackTable | undefined,
): Promise<ExitCode> => {
  const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());
  const encoded = await encodePack(ranges, { fieldBits: bits, sha256 });
  if (!encoded.ok)
    return fail(`error: no pack can be made: ${escapeControls(formatPackFault(encoded.error))}\n`, runtime);
  const { header, pages, ...report } = encoded.value;
  const entry = entryOf(report, bits, options);
  const edited = table === undefined ? ok(undefined) : withEntry(table, options.name ?? "", entry);
  if (!edited.ok) return fail(edited.error, runtime);
  const { out, table: beside = "-" } = options;
  const file = out === undefined ? packFile(beside, report.sha256) : join(out, `${report.sha256}.pack`);
  const written = runtime.writeBytes(file, Buffer.concat([header, ...pages]));
  if (!written.ok) return fail(`error: ${escapeControls(file)} cannot be written: ${written.error}\n`, runtime);
  if (table !== undefined && edited.value !== undefined) {
    const saved = runtime.writeFile(table.name, edited.value.text);
    if (!saved.ok) return fail(`error: ${escapeControls(table.name)} cannot be written: ${saved.error}\n`, runtime);
  }
  await runtime.print(options.json ? `${JSON.stringify({ file, ...entry })}\n` : `${JSON.stringify(entry, null, 2)}\n`);
  const made = `${countOf(ranges.length, "line")}, ${countOf(entry.ranges, "range")} in ${countOf(pages.length, "page")}`;
  runtime.report(`${escapeControls(file)}: ${made}\n${edited.value?.isIdle ? routeNote(options) : ""}`);
  return EXIT.ok;
};

/** A pack that no route leads to decides nothing. */
const routeNote = ({ table = "", name, layout }: Options): string => {
  const route = JSON.stringify({ when: { layout }, pack: name });
  return `note: ${escapeControls(`no route of ${table} leads to it yet; add one, such as ${route}`)}\n`;
};

type PackReport = Pick<EncodedPack, "sha256" | "bytes" | "ranges" | "regions">;

const entryOf = ({ sha256, bytes, ranges, regions }: PackReport, bits: number, { field, slice }: Options) => ({
  sha256,
  bytes,
  ranges,
  bits,
  ...(field === undefined ? {} : { field }),
  ...(slice === undefined ? {} : { slice }),
  regions,
});
