import { createHash } from "node:crypto";
import { err, ok, type Result } from "../../ids/index.ts";
import type { CompiledTable, Fault } from "../../routing/index.ts";
import { checkTable, compileTable, loadTable, NOT_UTF8, plainJson, TABLE_BYTES_MAX } from "../../routing/index.ts";
import { formatFaultCount, isCut } from "../../routing/schema/faults.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { EXIT, fail, type Runtime, Stop } from "../runtime.ts";
import { bytesOf, tablePath, unreadable } from "./input.ts";
import { type PlacedFault, readJsonText } from "./json-text.ts";
import { escapeControls, jsonText } from "./output.ts";
import { loadPackFiles } from "./packs.ts";

/** Packs without a route. Not a fault: the route may be added later. */
export const idlePacks = ({ packs = {}, routes }: Pick<DeclaredTable, "packs" | "routes">): readonly string[] => {
  const used = new Set(routes.map(({ pack }) => pack));
  return Object.keys(packs).filter((name) => !used.has(name));
};

/** Directories in which nothing is looked up. Not a fault: their keys may be imported first. */
export const idleDirectories = ({ directory = {}, entities = {}, routes }: DeclaredTable): readonly string[] => {
  const used = new Set([...Object.values(entities), ...routes].map((entry) => entry.directory));
  return Object.keys(directory).filter((name) => !used.has(name));
};

/** Regions that the table names nowhere else; none where requests or directories may name any. */
export const idleRegions = ({ regions, ...rest }: DeclaredTable): readonly string[] => {
  if (rest.directory !== undefined || rest.sources !== undefined || rest.withoutId !== undefined) return [];
  const named = new Set<string>();
  JSON.stringify([Object.values(regions), rest], (key, value: unknown) => {
    named.add(key);
    if (typeof value === "string") named.add(value);
    return value;
  });
  return Object.keys(regions).filter((name) => !named.has(name));
};

export interface TableFile<Table> {
  readonly name: string;
  readonly table: Table;
  /** JSON, with spaces where a file has comments and trailing commas. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the bytes in lower-case hex, as published. */
  readonly digest: string;
}

export type NamedTable = Pick<TableFile<DeclaredTable>, "name" | "table">;

/** Where faults of a table are shown; `json`: as objects on stdout. */
export type Shown = "stderr" | "stdout" | "json";

export type Checked<Table> = Result<Table, readonly PlacedFault[]>;

type Check<Table> = (json: unknown) => Result<Table, readonly Fault[]>;

/** Validates and compiles a table. A file has no revision. */
export const compile: Check<CompiledTable> = (json) => loadTable(json, 0);

/** Reads a table. `path`: `-` is stdin. */
export const readTableFile = async <Table>(path: string, runtime: Runtime, check: Check<Table>, shown?: Shown) => {
  const name = path === "-" ? "stdin" : path;
  const jsonc = await readBytes(path, runtime);
  const table = valid(name, checkText(jsonc, check), shown);
  // The published form is JSON.
  const bytes = new TextEncoder().encode(plainJson(new TextDecoder().decode(jsonc)));
  return { name, table, bytes, digest: createHash("sha256").update(bytes).digest("hex") };
};

/**
 * Directories name files of a self-hosted gateway's state, and macOS and Windows ignore case there. Tables that are in force
 * are not asked: elsewhere they do no harm.
 */
const namesOfOneFile = ({ directory = {} }: DeclaredTable): readonly Fault[] => {
  const firsts = new Map<string, string>();
  return Object.keys(directory).flatMap((name): readonly Fault[] => {
    const first = firsts.get(name.toLowerCase());
    if (first === undefined) {
      firsts.set(name.toLowerCase(), name);
      return [];
    }
    const message = `It differs from ${first} in case alone: on macOS and Windows their copies would be one file; rename one.`;
    return [{ kind: "name-clash", pointer: `/directory/${name}`, message }];
  });
};

/** Reads a table with the packs beside it. A missing or faulty pack is a fault of the table. */
const withPacks =
  <Table>(check: Check<Table>, compiled: (table: Table) => CompiledTable) =>
  async (path: string, runtime: Runtime, shown?: Shown) => {
    const file = await readTableFile(path, runtime, check, shown);
    const clashes = namesOfOneFile(JSON.parse(new TextDecoder().decode(file.bytes)));
    const faults = [...clashes, ...(await loadPackFiles(compiled(file.table), path, runtime))];
    if (faults.length > 0) valid(file.name, err(placed(faults, file.bytes)), shown);
    return file;
  };

export const readServable = withPacks(compile, (table) => table);

/** A table to be published, as declared. */
export const readPublishable = withPacks(checkTable, (table) => compileTable(table, 0));

export const placed = <Found extends { readonly pointer: string }>(faults: readonly Found[], bytes: Uint8Array) => {
  const { positionOf } = readJsonText(new TextDecoder().decode(bytes));
  return faults.map((fault) => ({ ...fault, ...positionOf(fault.pointer) }));
};

/** The bytes of a file, or of stdin for `-`. */
export const readBytes = async (path: string, runtime: Runtime, what = "a table"): Promise<Uint8Array<ArrayBuffer>> => {
  const read = path === "-" ? ok(await bytesOf(runtime.stdin.chunks, TABLE_BYTES_MAX)) : runtime.readFile(path);
  const name = path === "-" ? "stdin" : path;
  if (!read.ok) return unreadable(name, read.error + tableIn(path, runtime));
  if (read.value !== undefined && read.value.length <= TABLE_BYTES_MAX) return read.value;
  return unreadable(name, `it is larger than the ${TABLE_BYTES_MAX} bytes allowed for ${what}`);
};

/** The table in a folder, such as that of a build, which was given in its place. */
const tableIn = (folder: string, { fileExists }: Runtime): string => {
  const table = `${folder.replace(/\/+$/, "")}/routing-table.json`;
  return fileExists(table) ? `; give the table in it, ${table}` : "";
};

/** Reads a table from a text. All faults have their position. */
export const checkText = <Table>(bytes: Uint8Array, check: Check<Table>, noun?: string): Checked<Table> => {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return err([{ line: 1, column: 1, ...NOT_UTF8 }]);
  }
  const { value, faults, positionOf } = readJsonText(text, noun);
  if (value === undefined) return err(faults);
  const table = check(value);
  if (table.ok && faults.length === 0) return table;
  const others = table.ok ? [] : table.error.map((fault) => ({ ...fault, ...positionOf(fault.pointer) }));
  return err([...faults, ...others].toSorted((a, b) => a.line - b.line || a.column - b.column));
};

/** `routing-table.json:12:5: /routes/3/region: …`, which editors and terminals link. */
export const faultLine = (
  name: string,
  { line, column, pointer, message }: Omit<PlacedFault, "kind">,
  whole = "(whole table)",
): string => `${escapeControls(`${name}:${line}:${column}: ${pointer === "" ? whole : pointer}: ${message}`)}\n`;

/** The table; its faults end the command. `last`: after them on stderr. */
export const valid = <Table>(name: string, checked: Checked<Table>, shown: Shown = "stderr", last = ""): Table => {
  if (checked.ok) return checked.value;
  const found = formatFaults(checked.error.length);
  const text = checked.error.map((fault) =>
    shown === "json" ? jsonText({ file: name, ...fault }) : faultLine(name, fault),
  );
  if (shown !== "stderr") throw new Stop(`${name}: ${found}\n${last}`, EXIT.failed, text.join(""));
  return fail(`${text.join("")}error: ${name} is not a valid routing table: ${found}\n${last}`);
};

/** `2 faults`, or `at least 1,000 faults; the check stopped there`. */
export const formatFaults = (count: number): string =>
  formatFaultCount(count) + (isCut(count) ? "; the check stopped there" : "");

/** The file of an option `--table`. */
export const openTableFile = async (option: string | false | undefined, runtime: Runtime) => {
  const path = tablePath(option, runtime);
  return path === undefined ? undefined : readServable(path, runtime);
};
