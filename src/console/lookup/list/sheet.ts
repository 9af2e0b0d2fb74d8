import type { Pasted, PastedList, PastedSheet } from "../read-pasted.ts";

/** The file of a list: what came, and what the page found. Pure. */

export type Row = readonly string[];

/** A pasted table comes back with all its columns, and `found` after them; those of an earlier file are written again. */
export function sheetOf({ items, sheet }: PastedList, columns: Row, found: (item: number) => Row): readonly Row[] {
  return sheet === undefined ? ofList(items, columns, found) : ofSheet(sheet, columns, found);
}

/** The pasted text is a column of its own where an ID had a place: pasted again, it is read there again. */
function ofList(items: readonly Pasted[], columns: Row, found: (item: number) => Row): readonly Row[] {
  const hasPlaces = items.some(({ path }) => path !== undefined);
  return [
    ["ID", ...(hasPlaces ? ["Pasted"] : []), ...columns],
    ...items.map(({ id, source }, at) => [id, ...(hasPlaces ? [source] : []), ...found(at)]),
  ];
}

function ofSheet({ heading, rows }: PastedSheet, columns: Row, found: (item: number) => Row): readonly Row[] {
  const width = rows[0]?.cells.length ?? 0;
  const names = heading ?? Array.from({ length: width }, (_, at) => `Column ${at + 1}`);
  const places = columns.map((name) => names.indexOf(name));
  const added = columns.flatMap((_, at) => (places[at] === -1 ? [at] : []));
  const nothing = columns.map(() => "");
  return [
    [...names, ...added.map((at) => columns[at] ?? "")],
    ...rows.map(({ cells, item }) => {
      const own = item === undefined ? nothing : found(item);
      const line = [...cells];
      for (const [at, place] of places.entries()) if (place !== -1) line[place] = own[at] ?? "";
      return [...line, ...added.map((at) => own[at] ?? "")];
    }),
  ];
}

/**
 * A CSV (RFC 4180). A formula gets a quote before it, so that no spreadsheet runs it (OWASP, CSV injection): also inside a cell,
 * where other separators begin a new one for the spreadsheets of some countries.
 */
export const csvOf = (rows: readonly (readonly (string | undefined)[])[]): string =>
  rows.map((row) => `${row.map((cell) => quoted(cell ?? "")).join(",")}\r\n`).join("");

const FORMULA = /(?<=^|[;,|\t\r\n])(?=[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

function quoted(cell: string): string {
  const safe = cell.replaceAll(FORMULA, "'");
  return /[";,|\t\r\n]/.test(safe) || safe !== cell ? `"${safe.replaceAll('"', '""')}"` : safe;
}
