import { base64 } from "@scure/base";
import type { Cell, TableLine } from "../../formats/state-export.ts";
import { err, messageOf, ok, type Result } from "../../ids/result.ts";
import type { RowCursor, RowsDigest, RowsPage } from "../../ports/moving.ts";
import { hexOf } from "../../routing/bytes.ts";
import { runningHash } from "../platform.ts";

/** Rows of one object, of all its tables, in the order of their names and primary keys. */

/** Rows that are read together: all other calls of the object wait. In UTF-16 units; a row may have 2 MB. */
const PAGE_LENGTH = 512 * 1024;

/** This module's own table, in an object of any class: the import that has the object. */
export const IMPORT_TABLE = "waybill_import";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
}

type ColumnInfo = { name: string; type: string; notnull: number; pk: number };

export type Sql = SqlStorage;

export const hasTable = (sql: Sql, name: string): boolean =>
  sql.exec("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name).toArray().length > 0;

/** The tables of the object's class. `derived`: those that other rows make. */
export function tablesOf(sql: Sql, derived: readonly string[]): readonly Table[] {
  const names = sql
    .exec<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 4) <> '_cf_'",
    )
    .toArray()
    .map(({ name }) => name)
    .filter((name) => name !== IMPORT_TABLE && !derived.includes(name))
    .toSorted(byText);
  return names.map((name) => {
    const columns = sql.exec<ColumnInfo>('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', name).toArray();
    const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
    // The only key of a table without a rowid; else SQLite fills an integer key by itself.
    if (key.length === 0) throw new Error(`the table ${name} has no primary key`);
    return {
      name,
      columns: columns.map(({ name: column, type, notnull, pk }) => ({
        name: column,
        type,
        isNullable: notnull === 0 && pk === 0,
      })),
      key: key.map(({ name: column }) => column),
    };
  });
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const hasRows = (sql: Sql, tables: readonly Table[]): boolean =>
  tables.some(({ name }) => sql.exec(`SELECT 1 FROM ${quoted(name)} LIMIT 1`).toArray().length > 0);

/** Deletes all rows of an object, those that others make too. */
export function wipe(sql: Sql): void {
  for (const { name } of tablesOf(sql, [])) sql.exec(`DELETE FROM ${quoted(name)}`);
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A page of lines. Each table begins with its own line. `columns`: of some of the tables, in their order. */
export function readPage(
  sql: Sql,
  tables: readonly (Pick<Table, "name" | "key"> & { readonly columns: readonly Pick<Column, "name">[] })[],
  from: RowCursor | undefined,
): RowsPage {
  let text = "";
  let rows = 0;
  const changes = () => sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
  const isAt = from === undefined ? 0 : tables.findIndex(({ name }) => name === from.table);
  for (const [index, table] of tables.slice(isAt).entries()) {
    const after = index === 0 ? from?.after : undefined;
    const names = table.columns.map(({ name }) => name);
    if (after === undefined) text += `${JSON.stringify({ table: table.name, columns: names })}\n`;
    // The key comes with the row, also where an export of a former version had not all columns.
    const selected = [...names, ...table.key].map(quoted).join();
    const key = table.key.map(quoted).join();
    const where = after === undefined ? "" : `WHERE (${key}) > (${table.key.map(() => "?").join()})`;
    const values = (after ?? []).map(storedOf);
    const query = `SELECT ${selected} FROM ${quoted(table.name)} ${where} ORDER BY ${key}`;
    for (const row of sql.exec(query, ...values).raw<SqlStorageValue[]>()) {
      const cells = row.map(cellOf);
      text += `${JSON.stringify(cells.slice(0, names.length))}\n`;
      rows += 1;
      if (text.length >= PAGE_LENGTH) {
        const next = { table: table.name, after: cells.slice(names.length) };
        return { text, rows, next, changes: changes(), alarm: null };
      }
    }
  }
  return { text, rows, next: undefined, changes: changes(), alarm: null };
}

/** Why no page begins there. */
export function cursorFault(tables: readonly Table[], { table, after }: RowCursor): string | undefined {
  const key = tables.find(({ name }) => name === table)?.key;
  return key?.length === after.length
    ? undefined
    : `the object has no rows behind ${JSON.stringify(after)} of ${table}`;
}

/** The digest of the rows as an export has them. Other calls get their turn between pages. */
export async function digestOf(
  sql: Sql,
  own: readonly Table[],
  lines: readonly TableLine[],
): Promise<Result<RowsDigest, string>> {
  const tables = [];
  for (const { table: name, columns } of lines) {
    const fault = tableFault(own, { table: name, columns });
    if (fault !== undefined) return err(fault);
    const { key } = own.find((table) => table.name === name) as Table;
    tables.push({ name, key, columns: columns.map((column) => ({ name: column })) });
  }
  const hash = runningHash("SHA-256");
  const encoder = new TextEncoder();
  let rows = 0;
  for (let from: RowCursor | undefined; ; ) {
    const page = readPage(sql, tables, from);
    rows += page.rows;
    await hash.update(encoder.encode(page.text));
    from = page.next;
    if (from === undefined) return ok({ rows, sha256: hexOf(new Uint8Array(await hash.digest())) });
  }
}

/** Why rows of a table cannot be written; `undefined` where they can. */
export function tableFault(own: readonly Table[], { table, columns }: TableLine): string | undefined {
  const known = own.find(({ name }) => name === table);
  const newer = "an export of a later version is imported by that version or a later one";
  if (known === undefined) return `this version has no table ${JSON.stringify(table)} here; ${newer}`;
  const names = known.columns.map(({ name }) => name);
  const unknown = columns.find((column) => !names.includes(column));
  if (unknown !== undefined) return `this version has no column ${JSON.stringify(unknown)} in ${table}; ${newer}`;
  if (new Set(columns).size < columns.length) return `a column of ${table} is there twice`;
  const missing = known.key.find((column) => !columns.includes(column));
  return missing === undefined ? undefined : `${table} needs its column ${missing}`;
}

/** Inserts rows. The caller's transaction takes all of them back where one is refused. */
export function insertRows(
  sql: Sql,
  own: readonly Table[],
  line: TableLine,
  rows: readonly unknown[],
): string | undefined {
  const fault = tableFault(own, line);
  if (fault !== undefined) return fault;
  const { name, columns } = own.find((table) => table.name === line.table) as Table;
  const used = line.columns.map((column) => columns.find((known) => known.name === column) as Column);
  const places = used.map(() => "?").join();
  const statement = `INSERT INTO ${quoted(name)} (${line.columns.map(quoted).join()}) VALUES (${places})`;
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== used.length) return `a row of ${name} has not ${used.length} values`;
    const wrong = used.findIndex((column, at) => !isOfType(column, row[at]));
    if (wrong !== -1)
      return `a value of ${name}.${(used[wrong] as Column).name} is not ${typeOf(used[wrong] as Column)}`;
    try {
      sql.exec(statement, ...row.map(storedOf));
    } catch (error) {
      return `SQLite refuses a row of ${name}: ${messageOf(error)}`;
    }
  }
  return undefined;
}

const typeOf = ({ type, isNullable }: Column): string => `${type}${isNullable ? " or null" : ""}`;

function isOfType({ type, isNullable }: Column, value: unknown): boolean {
  if (value === null) return isNullable;
  switch (type) {
    case "INTEGER":
      return Number.isSafeInteger(value);
    case "REAL":
      return typeof value === "number";
    case "TEXT":
      return typeof value === "string";
    case "BLOB":
      return isBlob(value);
    default:
      return false;
  }
}

const isBlob = (value: unknown): value is { readonly base64: string } =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as { base64?: unknown }).base64 === "string" &&
  isBase64(value);

function isBase64(value: object): boolean {
  try {
    base64.decode((value as { readonly base64: string }).base64);
    return true;
  } catch {
    return false;
  }
}

const storedOf = (cell: Cell): SqlStorageValue =>
  typeof cell === "object" && cell !== null ? (base64.decode(cell.base64).buffer as ArrayBuffer) : cell;

function cellOf(value: SqlStorageValue): Cell {
  if (value instanceof ArrayBuffer) return { base64: base64.encode(new Uint8Array(value)) };
  // JSON has no text for these, and no class stores them.
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("a value is no finite number");
  return value;
}
