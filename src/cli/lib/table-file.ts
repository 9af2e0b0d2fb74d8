import { createHash } from "node:crypto";
import { err, ok, type Result } from "../../ids/index.ts";
import {
  type CompiledTable,
  checkTable,
  compileTable,
  type Fault,
  loadTable,
  NOT_UTF8,
  TABLE_BYTES_MAX,
} from "../../routing/index.ts";
import { formatFaultCount, isCut } from "../../routing/schema/faults.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import type { Runtime } from "../runtime.ts";
import { bytesOf } from "./input.ts";
import { type Position, readJsonText } from "./json-text.ts";
import { escapeControls } from "./output.ts";
import { loadPackFiles } from "./packs.ts";

/** Packs without a route. Not a fault: the route may be added later. */
export const idlePacks = ({ packs = {}, routes }: Pick<DeclaredTable, "packs" | "routes">): readonly string[] => {
  const used = new Set(routes.map(({ pack }) => pack));
  return Object.keys(packs).filter((name) => !used.has(name));
};

export const TABLE_FILE_DEFAULT = "routing-table.json";

/** A valid table from a file. */
export interface TableFile<Table> {
  readonly name: string;
  readonly table: Table;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the bytes in lower-case hex, as published. */
  readonly digest: string;
}

export interface PlacedFault extends Fault, Position {}

export type TableFileError =
  | { readonly reason: "unreadable"; readonly name: string; readonly why: string }
  | { readonly reason: "faulty"; readonly name: string; readonly faults: readonly PlacedFault[] };

/** Converts a JSON value to a table, or lists its faults. */
type Check<Table> = (json: unknown) => Result<Table, readonly Fault[]>;

/** Validates and compiles a table. A file has no revision. */
export const compile: Check<CompiledTable> = (json) => loadTable(json, 0);

/** Reads a table. `path`: `-` is stdin. */
export const readTableFile = async <Table>(
  path: string,
  runtime: Runtime,
  check: Check<Table>,
): Promise<Result<TableFile<Table>, TableFileError>> => {
  const name = path === "-" ? "stdin" : path;
  const bytes = await readBytes(path, runtime);
  if (!bytes.ok) return err({ reason: "unreadable", name, why: bytes.error });
  const table = checkText(bytes.value, check);
  if (!table.ok) return err({ reason: "faulty", name, faults: table.error });
  const digest = createHash("sha256").update(bytes.value).digest("hex");
  return ok({ name, table: table.value, bytes: bytes.value, digest });
};

/** Reads a table with the packs beside it. A missing or faulty pack is a fault of the table. */
export const readServable = async (
  path: string,
  runtime: Runtime,
): Promise<Result<TableFile<CompiledTable>, TableFileError>> => {
  const file = await readTableFile(path, runtime, compile);
  return file.ok ? withPacks(file.value, file.value.table, path, runtime) : file;
};

/** Validates the packs beside a table. */
export const withPacks = async <Table>(
  file: TableFile<Table>,
  compiled: CompiledTable,
  path: string,
  runtime: Runtime,
): Promise<Result<TableFile<Table>, TableFileError>> => {
  const faults = await loadPackFiles(compiled, path, runtime);
  if (faults.length === 0) return ok(file);
  const { positionOf } = readJsonText(new TextDecoder().decode(file.bytes));
  const placed = faults.map((fault) => ({ ...fault, ...positionOf(fault.pointer) }));
  return err({ reason: "faulty", name: file.name, faults: placed });
};

/** The same for a table to be published, as declared. */
export const readPublishable = async (
  path: string,
  runtime: Runtime,
): Promise<Result<TableFile<DeclaredTable>, TableFileError>> => {
  const file = await readTableFile(path, runtime, checkTable);
  if (!file.ok) return file;
  return withPacks(file.value, compileTable(file.value.table, 0), path, runtime);
};

/** The bytes of a file, or of stdin for `-`. */
export const readBytes = async (path: string, runtime: Runtime): Promise<Result<Uint8Array<ArrayBuffer>, string>> => {
  const bytes = path === "-" ? await bytesOf(runtime.stdin.chunks, TABLE_BYTES_MAX) : runtime.readFile(path);
  if (bytes === undefined) return err(SIZE_SENTENCE);
  if (bytes instanceof Uint8Array) return ok(bytes);
  return bytes.ok && bytes.value.length > TABLE_BYTES_MAX ? err(SIZE_SENTENCE) : bytes;
};

const SIZE_SENTENCE = `it is larger than the ${TABLE_BYTES_MAX} bytes allowed for a table`;

/** Reads a table from a text. All faults have their position. */
export const checkText = <Table>(bytes: Uint8Array, check: Check<Table>): Result<Table, readonly PlacedFault[]> => {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return err([{ line: 1, column: 1, ...NOT_UTF8 }]);
  }
  const { value, faults, positionOf } = readJsonText(text);
  const placed: PlacedFault[] = [...faults];
  if (value === undefined) return err(placed);
  const table = check(value);
  if (table.ok && placed.length === 0) return table;
  if (!table.ok) placed.push(...table.error.map((fault) => ({ ...fault, ...positionOf(fault.pointer) })));
  return err(placed.toSorted((a, b) => a.line - b.line || a.column - b.column));
};

/** `routing-table.json:12:5: /routes/3/region: …`, which editors and terminals link. */
export const faultLine = (name: string, { line, column, pointer, message }: Omit<PlacedFault, "kind">): string =>
  `${escapeControls(`${name}:${line}:${column}: ${pointer === "" ? "(whole table)" : pointer}: ${message}`)}\n`;

/** The error for stderr. */
export const formatTableError = (error: TableFileError): string =>
  error.reason === "unreadable"
    ? `error: ${escapeControls(error.name)} cannot be read: ${error.why}\n`
    : error.faults.map((fault) => faultLine(error.name, fault)).join("") +
      `error: ${error.name} is not a valid routing table: ${formatFaults(error.faults.length)}\n`;

/** `2 faults`, or `at least 1,000 faults; the check stopped there`. */
export const formatFaults = (count: number): string =>
  formatFaultCount(count) + (isCut(count) ? "; the check stopped there" : "");

/** The table of an option `--table`: none for `--no-table`, and by default the one in the current folder, if present. */
export const openTable = async (
  option: string | false | undefined,
  runtime: Runtime,
): Promise<Result<TableFile<CompiledTable> | undefined, TableFileError>> => {
  if (option === false || (option === undefined && !runtime.fileExists(TABLE_FILE_DEFAULT))) return ok(undefined);
  return readServable(option ?? TABLE_FILE_DEFAULT, runtime);
};

/** The named table; without the option none, not even the default file. */
export const openNamedTable = (
  path: string | undefined,
  runtime: Runtime,
): Promise<Result<TableFile<CompiledTable> | undefined, TableFileError>> => openTable(path ?? false, runtime);

/** A fault with its position, of any version's kind. */
interface ReportableFault {
  readonly line: number;
  readonly column: number;
  readonly pointer: string;
  readonly kind: string;
  readonly message: string;
}

/** A fault as one line of JSON. */
export const faultObject = (file: string, fault: ReportableFault): string => `${JSON.stringify({ file, ...fault })}\n`;

/** Reports an error on stderr, or with `json` the faults as objects on stdout. */
export const reportTableError = async (error: TableFileError, json: boolean, runtime: Runtime): Promise<void> => {
  if (!json || error.reason === "unreadable") {
    runtime.report(formatTableError(error));
    return;
  }
  await runtime.print(error.faults.map((fault) => faultObject(error.name, fault)).join(""));
  runtime.report(`${error.name}: ${formatFaults(error.faults.length)}\n`);
};

/** The same for faults found by a gateway. */
export const reportFaults = async (
  name: string,
  faults: readonly ReportableFault[],
  json: boolean,
  runtime: Runtime,
): Promise<void> => {
  if (json) await runtime.print(faults.map((fault) => faultObject(name, fault)).join(""));
  else runtime.report(faults.map((fault) => faultLine(name, fault)).join(""));
};
