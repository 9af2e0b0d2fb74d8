import { join } from "node:path";
import { encodePack, formatPackFault } from "../../../features/packs/table/format.ts";
import { type CompiledTable, checkTable } from "../../../routing/index.ts";
import { isIssued, keyFieldOf, ROUTABLE_BITS_MAX } from "../../../routing/layouts/fields.ts";
import { FAULTS_MAX } from "../../../routing/limits.ts";
import { parseUniqueJson } from "../../../routing/schema/json-scanner.ts";
import type { Slice } from "../../../routing/table.ts";
import { openGateway } from "../../client/client.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../client/http.ts";
import { planUploads, sendUploads, summaryOf } from "../../client/pack-upload.ts";
import { command, type OptionsOf, option, required } from "../../command.ts";
import { linesOf, openInput, tableArgument, writeOutput } from "../../lib/input.ts";
import { editJson } from "../../lib/json-edit.ts";
import { objectOf } from "../../lib/json-values.ts";
import { findLayout, knownLayouts } from "../../lib/layouts.ts";
import { counted, countOf, escapeControls, jsonText, startProgress } from "../../lib/output.ts";
import { packFile, sha256 } from "../../lib/packs.ts";
import { type OpenTable, openAs } from "../../lib/table-edit.ts";
import { checkText, compile, formatFaults, idlePacks, readPublishable } from "../../lib/table-file.ts";
import { EXIT, type ExitCode, fail, misuse, type Runtime, Stop } from "../../runtime.ts";

/** Opens the table without this pack and its routes, which may be declared before the pack exists. */
const openPackTable = (path: string, pack: string, runtime: Runtime): Promise<PackTable> =>
  openAs(path, runtime, (bytes) => {
    const rest = checkText(bytes, (json) => compile(withoutPack(json, pack)));
    // Without some routes, the others have other indexes: the whole text has the faults.
    const whole = rest.ok ? rest : checkText(bytes, checkTable);
    return whole.ok ? rest : whole;
  });

type PackTable = OpenTable<CompiledTable>;

const withoutPack = (json: unknown, name: string): unknown => {
  const table = objectOf(json);
  if (table === undefined) return json;
  const { routes } = table;
  const packs = Object.entries(objectOf(table["packs"]) ?? {}).filter(([key]) => key !== name);
  return {
    ...table,
    ...(Array.isArray(routes) ? { routes: routes.filter((route) => objectOf(route)?.["pack"] !== name) } : {}),
    ...(objectOf(table["packs"]) === undefined ? {} : { packs: Object.fromEntries(packs) }),
  };
};

/** The text with the entry, and whether no route names the pack yet. The text is not written yet, so faults have no line. */
const withEntry = ({ name, text }: PackTable, pack: string, entry: object) => {
  const edited = editJson(text, new Map([["packs", new Map([[pack, entry]])]])).text;
  const checked = checkText(new TextEncoder().encode(edited), checkTable);
  if (checked.ok) return { text: edited, isIdle: idlePacks(checked.value).includes(pack) };
  const lines = checked.error.map(({ pointer, message }) => `${escapeControls(`${pointer}: ${message}`)}\n`);
  const what = `with this pack ${escapeControls(name)} would be invalid: ${formatFaults(lines.length)}`;
  return fail(`${lines.join("")}error: ${what}; nothing was written\n`);
};

type LineRange = { readonly from: number; readonly to: number; readonly region: string; readonly line: number };

/** `message`: a sentence. */
type LineFault = Pick<LineRange, "line"> & { readonly message: string };

/** Reads lines of `from,to,region` or `key,region`, or JSON objects, in any order. `max`: the largest key. Ranges are sorted. */
const readRanges = async (chunks: AsyncIterable<Uint8Array>, max: number) => {
  const ranges: LineRange[] = [];
  const faults: LineFault[] = [];
  let line = 0;
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (!text.ok) faults.push({ line: text.error, message: "The line is too long for a range." });
    else if (text.value.trim() !== "") {
      const range = rangeOf(text.value.trim(), line, max);
      if (typeof range === "string") faults.push({ line, message: range });
      else ranges.push(range);
    }
    if (faults.length >= FAULTS_MAX) break;
  }
  ranges.sort((a, b) => a.from - b.from || a.line - b.line);
  faults.push(...overlapsIn(ranges).slice(0, FAULTS_MAX - faults.length));
  return { ranges, faults: faults.toSorted((a, b) => a.line - b.line) };
};

const rangeOf = (text: string, line: number, max: number): LineRange | string => {
  const parts = text.startsWith("{") ? partsOfJson(text) : text.split(",").map((part) => part.trim());
  if (parts === undefined)
    return 'It is not a JSON object with "from", "to" and "region", or with "key" and "region", each once.';
  if (parts.length !== 2 && parts.length !== 3) return "A line is from,to,region or key,region.";
  const [from = "", to = "", region = ""] = parts.length === 2 ? [parts[0], parts[0], parts[1]] : parts;
  const first = keyOf(from, max);
  const last = keyOf(to, max);
  if (first === undefined || last === undefined) {
    return `${JSON.stringify(first === undefined ? from : to)} is not a key: a whole number from 0 to ${max}.`;
  }
  if (last < first) return `The range ends at ${last}, before its start ${first}.`;
  return region === "" ? "The region is missing." : { from: first, to: last, region, line };
};

const keyOf = (text: string, max: number): number | undefined => {
  const key = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return key <= max ? key : undefined;
};

const partsOfJson = (text: string): readonly string[] | undefined => {
  const { from, to, key, region, ...others } = objectOf(parseUniqueJson(text)) ?? {};
  if (Object.keys(others).length > 0 || typeof region !== "string") return undefined;
  const keys = key === undefined ? [from, to] : from === undefined && to === undefined ? [key] : [];
  const isGiven = keys.length > 0 && keys.every((each) => typeof each === "number" || typeof each === "string");
  return isGiven ? [...keys.map(String), region] : undefined;
};

const overlapsIn = (ranges: readonly LineRange[]): readonly LineFault[] => {
  const faults: LineFault[] = [];
  let widest: LineRange | undefined;
  for (const range of ranges) {
    if (widest !== undefined && range.from <= widest.to) {
      const [first, second] = [widest, range].toSorted((a, b) => a.line - b.line) as [LineRange, LineRange];
      const message = `Key ${range.from} is also in line ${first.line}, for ${first.region}; a key may be in one line only.`;
      faults.push({ line: second.line, message });
    }
    if (widest === undefined || range.to > widest.to) widest = range;
  }
  return faults;
};

const OPTIONS = [
  required("--layout <name>", "the layout of the ranges"),
  option("--field <name>", "the field of the ranges (default: the layout's key)"),
  option("--slice <name>", "the slice of the key, as declared for the layout in --table"),
  option("--out <folder>", "the output folder (default: packs beside the table, or in the current folder)"),
  option("--table <file>", "also write the entry into this routing table"),
  option("--name <name>", "the pack's name in the table; with --table"),
  option("--json", "the entry with the file name as one line of JSON, or the faults, one per line"),
] as const;
type Options = OptionsOf<typeof OPTIONS>;

export const tablePack = command({
  name: "pack",
  description: "create a pack: a file of key ranges beside the table, for more ranges than its JSON can hold",
  args: [["<ranges>", "lines of from,to,region or key,region, or NDJSON; - reads them from stdin"]],
  options: OPTIONS,
  help: `
Examples:
  $ waybill table pack shards.csv --layout hotguid
  $ waybill table pack shards.csv --layout hotguid --table routing-table.json --name shards
  $ waybill table pack parts.csv --layout hotguid --slice partition --table routing-table.json --name parts
  $ psql -c "copy … to stdout csv" | waybill table pack - --layout hotguid --out packs/

The entry is always printed; a route of the table must name the pack. Lines may be in any order.
Overlapping ranges are faults, each with both line numbers; see docs/operate/publish.md.
Exit code: 0, or 1 if a line has a fault and nothing was written.`,
  run: async (runtime, [path = ""], options) => {
    const { table: tablePath, name: pack } = options;
    if ((tablePath === undefined) !== (pack === undefined)) misuse("error: --table and --name require each other\n");
    const table =
      tablePath === undefined || pack === undefined ? undefined : await openPackTable(tablePath, pack, runtime);
    const part = partOf(options, table);
    const { name, bytes, chunks } = await openInput(path, runtime);
    const progress = startProgress({ label: escapeControls(name), bytes, isQuiet: options.json === true }, runtime);
    const { ranges, faults } = await readRanges(counted(chunks, progress), part.max);
    progress.clear();
    if (faults.length > 0) {
      const lines = faults.map(({ line, message }) =>
        options.json ? jsonText({ file: name, line, message }) : `${escapeControls(`${name}:${line}: ${message}`)}\n`,
      );
      const count = `${escapeControls(name)}: ${formatFaults(faults.length)}; nothing was written\n`;
      throw new Stop(count, EXIT.failed, lines.join(""));
    }
    return write(runtime, ranges, part.bits, options, table);
  },
});

/** The number that the ranges divide. */
const partOf = (options: Options, table: PackTable | undefined) => {
  const { layout: name, field, slice } = options;
  const layout = findLayout(name, knownLayouts(table?.table));
  if (!layout.ok) return misuse(`error: ${layout.error} (--layout)\n`);
  if (slice !== undefined && field !== undefined) misuse("error: pass at most one of --field, --slice\n");
  if (slice !== undefined) return sliceOf(slice, name, table);
  const found = field === undefined ? keyFieldOf(layout.value) : layout.value.field(field);
  if (found !== undefined && (field === undefined || (isIssued(found) && found.bits <= ROUTABLE_BITS_MAX))) {
    return { bits: found.bits, max: Number(found.max) };
  }
  const what = field === undefined ? "no key; name a field with --field" : `no field ${field} usable in a route`;
  return misuse(`error: layout ${escapeControls(`${name} has ${what}`)}\n`);
};

/** Slices are declared in the table. */
const sliceOf = (name: string, layout: string, table: PackTable | undefined) => {
  if (table === undefined) {
    return misuse("error: --slice requires the table that declares the slice; pass it with --table\n");
  }
  const slices = table.table.layouts.get(layout)?.slices ?? new Map<string, Slice>();
  const found = slices.get(name);
  if (found !== undefined) return { bits: found.bits, max: 2 ** found.bits - 1 };
  const known = slices.size === 0 ? "none is declared" : `it has ${[...slices.keys()].join(", ")}`;
  return fail(
    `error: ${escapeControls(`in ${table.name} layout ${layout} has no slice ${name}: ${known}`)} (--slice)\n`,
  );
};

const write = async (
  runtime: Runtime,
  ranges: readonly LineRange[],
  bits: number,
  options: Options,
  table: PackTable | undefined,
): Promise<ExitCode> => {
  const encoded = await encodePack(ranges, { fieldBits: bits, sha256 });
  if (!encoded.ok) {
    return fail(`error: the pack cannot be created: ${escapeControls(formatPackFault(encoded.error))}\n`);
  }
  const { header, pages, sha256: digest, bytes, regions } = encoded.value;
  const { field, slice, out, table: beside = "-" } = options;
  const part = { bits, ...(field === undefined ? {} : { field }), ...(slice === undefined ? {} : { slice }) };
  const entry = { sha256: digest, bytes, ranges: encoded.value.ranges, ...part, regions };
  const edited = table && withEntry(table, options.name ?? "", entry);
  const file = out === undefined ? packFile(beside, digest) : join(out, `${digest}.pack`);
  writeOutput(file, Buffer.concat([header, ...pages]), runtime);
  if (table !== undefined && edited !== undefined) writeOutput(table.name, edited.text, runtime);
  await runtime.print(options.json ? jsonText({ file, ...entry }) : `${JSON.stringify(entry, null, 2)}\n`);
  const made = `${countOf(ranges.length, "line")}, ${countOf(entry.ranges, "range")} in ${countOf(pages.length, "page")}`;
  runtime.report(`${escapeControls(file)}: ${made}\n${edited?.isIdle ? routeNote(options) : ""}`);
  return EXIT.ok;
};

const routeNote = ({ table = "", name, layout }: Options): string => {
  const route = JSON.stringify({ when: { layout }, pack: name });
  return `note: ${escapeControls(`no route of ${table} names it yet; add one, such as ${route}`)}\n`;
};

export const tableUploadPacks = command({
  name: "upload-packs",
  description: "upload the packs of a table that the gateway does not have",
  args: [["[file]", "the table; - reads it from stdin (default: routing-table.json)"]],
  options: [option("--json", "what was uploaded, as one JSON object"), ...GATEWAY_OPTIONS],
  help: `
Examples:
  $ waybill table upload-packs routing-table.json

\`waybill table publish\` and \`canary\` do the same before they send the table. Uploading alone changes nothing in force.
An interrupted upload resumes: run the same command again.
${GATEWAY_HELP}
Exit code: 0 if the gateway has all of them, otherwise 1.`,
  run: async (runtime, [given], options) => {
    const path = tableArgument(given, runtime);
    const { name, table } = await readPublishable(path, runtime);
    const gateway = openGateway(options, runtime);
    const { json = false } = options;
    const uploads = await planUploads(gateway, table, path, runtime);
    await sendUploads(gateway, uploads, json, runtime);
    const named = Object.keys(table.packs ?? {}).length;
    const packs = named === 1 ? "the pack" : `all of ${countOf(named, "pack")}`;
    await runtime.print(
      json ? jsonText({ uploaded: uploads.map(summaryOf) }) : `the gateway has ${packs} of ${name}\n`,
    );
    return EXIT.ok;
  },
});
