import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Command } from "commander";
import { err, type Field, type Layout, ok, type Result } from "../ids/index.ts";
import { isIssued, keyFieldOf, ROUTABLE_BITS_MAX } from "../routing/layout-fields.ts";
import { type EncodedPack, encodePack } from "../routing/pack/encode.ts";
import { packFaultText } from "../routing/pack/fault-text.ts";
import type { Act } from "./action.ts";
import { findLayout, knownLayouts } from "./layouts.ts";
import { openPackTable, type PackTable, withEntry } from "./pack-table.ts";
import { printable } from "./printable.ts";
import { counted, startProgress } from "./progress.ts";
import { refuse } from "./refuse.ts";
import { countOf } from "./table-file.ts";
import { type LineRange, readRanges } from "./table-pack-lines.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options {
  readonly layout: string;
  readonly field?: string;
  readonly out: string;
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
    .option("--out <folder>", "where the file goes", "packs")
    .option("--table <file>", "write the entry into this routing table")
    .option("--name <name>", "the pack's name in the table; with --table")
    .option("--json", "the entry with the file's name as one JSON object, or the faults, one a line")
    .addHelpText("after", HELP)
    .action(act(pack));
};

const HELP = `
Examples:
  $ waybill table pack shards.csv --layout hotguid
  $ waybill table pack shards.csv --layout hotguid --table routing-table.json --name shards
  $ psql -c "copy … to stdout csv" | waybill table pack - --layout hotguid --out packs/

Lines may come in any order. Ranges that overlap are faults, each with both its lines; docs/packs.md has the rest.
Exit code: 0, or 1 when a line is at fault and nothing was written.`;

const pack = async (world: World, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  if ((options.table === undefined) !== (options.name === undefined)) {
    return refuse("error: --table and --name go together\n", world);
  }
  const table = await openNamed(options, world);
  if (!table.ok) return refuse(table.error, world);
  const field = fieldOf(options, table.value);
  if (!field.ok) return refuse(field.error, world);
  const input = path === "-" ? ok({ bytes: 0, chunks: world.stdin.chunks }) : await world.openFile(path);
  const name = path === "-" ? "stdin" : path;
  if (!input.ok) return refuse(`error: ${printable(name)} cannot be read: ${input.error}\n`, world);
  const progress = startProgress(
    { label: printable(name), bytes: input.value.bytes, isQuiet: options.json === true },
    world,
  );
  const { ranges, faults } = await readRanges(counted(input.value.chunks, progress), Number(field.value.max));
  progress.end();
  if (faults.length > 0) {
    const lines = faults.map(({ line, message }) =>
      options.json
        ? `${JSON.stringify({ file: name, line, message })}\n`
        : `${printable(`${name}:${line}: ${message}`)}\n`,
    );
    await world.print(lines.join(""));
    return refuse(`${printable(name)}: ${countOf(faults.length, "fault")}; nothing was written\n`, world);
  }
  return write(world, ranges, field.value, options, table.value);
};

const openNamed = async ({ table, name }: Options, world: World): Promise<Result<PackTable | undefined, string>> =>
  table === undefined || name === undefined ? ok(undefined) : openPackTable(table, name, world);

const fieldOf = ({ layout: name, field }: Options, table: PackTable | undefined): Result<Field, string> => {
  const layout = findLayout(name, knownLayouts(table?.rest));
  if (!layout.ok) return err(`error: ${layout.error} (--layout)\n`);
  const found = field === undefined ? keyFieldOf(layout.value) : routable(layout.value, field);
  if (found !== undefined) return ok(found);
  const what =
    field === undefined ? "no key; name a field with --field" : `no field ${field} that a route can depend on`;
  return err(`error: layout ${printable(`${name} has ${what}`)}\n`);
};

const routable = (layout: Layout, name: string): Field | undefined => {
  const field = layout.field(name);
  return field !== undefined && isIssued(field) && field.bits <= ROUTABLE_BITS_MAX ? field : undefined;
};

const write = async (
  world: World,
  ranges: readonly LineRange[],
  { bits }: Field,
  options: Options,
  table: PackTable | undefined,
): Promise<ExitCode> => {
  const sha256 = (octets: Uint8Array) => Promise.resolve(createHash("sha256").update(octets).digest());
  const encoded = await encodePack(ranges, { fieldBits: bits, sha256 });
  if (!encoded.ok) return refuse(`error: no pack can be made: ${printable(packFaultText(encoded.error))}\n`, world);
  const { header, pages, ...told } = encoded.value;
  const entry = entryOf(told, bits, options.field);
  const edited = table === undefined ? ok(undefined) : withEntry(table, options.name ?? "", entry);
  if (!edited.ok) return refuse(edited.error, world);
  const file = join(options.out, `${told.sha256}.pack`);
  const written = world.writeOctets(file, Buffer.concat([header, ...pages]));
  if (!written.ok) return refuse(`error: ${printable(file)} cannot be written: ${written.error}\n`, world);
  if (table !== undefined && edited.value !== undefined) {
    const saved = world.writeFile(table.name, edited.value);
    if (!saved.ok) return refuse(`error: ${printable(table.name)} cannot be written: ${saved.error}\n`, world);
  }
  await world.print(options.json ? `${JSON.stringify({ file, ...entry })}\n` : `${JSON.stringify(entry, null, 2)}\n`);
  world.report(`${printable(file)}: ${countOf(entry.ranges, "range")} in ${countOf(pages.length, "page")}\n`);
  return EXIT.ok;
};

type Told = Pick<EncodedPack, "sha256" | "bytes" | "ranges" | "regions">;

const entryOf = ({ sha256, bytes, ranges, regions }: Told, bits: number, field: string | undefined) => ({
  sha256,
  bytes,
  ranges,
  bits,
  ...(field === undefined ? {} : { field }),
  regions,
});
