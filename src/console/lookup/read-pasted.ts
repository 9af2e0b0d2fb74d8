/** Texts that people paste: IDs, paths, whole URLs, lists of them, or a CSV. Pure: nothing leaves the page. */

export interface Pasted {
  /** As it stood in the text. */
  readonly source: string;
  readonly id: string;
  /** Raw path, where a path or a URL was pasted: the place of the ID, which may say of which entity it is. */
  readonly path: string | undefined;
}

/** How an item is named where there is room for one name: with its place. */
export const nameOfPasted = ({ path, id }: Pasted): string => path ?? id;

export interface PastedList {
  readonly items: readonly Pasted[];
  /** Entries above the maximum, which are left out. */
  readonly left: number;
}

export const areSame = (one: PastedList, other: PastedList): boolean =>
  one.items.length === other.items.length &&
  one.left === other.left &&
  one.items.every(({ source, id, path }, at) => {
    const same = other.items[at];
    return source === same?.source && id === same.id && path === same.path;
  });

export const PASTED_MAX = 10_000;

/** Longer texts are no list of IDs. */
export const PASTED_CHARACTERS_MAX = 2_000_000;

/** Where a reader knows the table, it says which part of a path is the ID. */
export interface IdFinder {
  /** Whether some layout reads the text. */
  canRead(text: string): boolean;
  /** The ID in a raw path. */
  onPath(path: string): string | undefined;
}

const URL_OR_PATH = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i;
const SEPARATORS = /[\t,;]/;
/** Characters that mail, chats and spreadsheets put around a text. */
const AROUND = /^[\s"'`<([{]+|[\s"'`>)\]}.,;:!]+$/g;

export function readPasted(text: string, finder: IdFinder): PastedList {
  const rows = rowsOf(text.slice(0, PASTED_CHARACTERS_MAX));
  const cells = columnOf(rows, finder) ?? rows.flatMap((row) => idsIn(row, finder));
  const sources = cells.map((cell) => cell.replace(AROUND, "")).filter((cell) => cell !== "");
  return { items: sources.slice(0, PASTED_MAX).map((source) => readOne(source, finder)), left: leftOf(sources) };
}

const leftOf = (sources: readonly string[]): number => Math.max(0, sources.length - PASTED_MAX);

/** One entry. A path without a known pattern gives the last segment that is an ID, else the last one. */
export function readOne(source: string, finder: IdFinder): Pasted {
  const path = URL_OR_PATH.exec(source)?.[1];
  if (path === undefined) return { source, id: source, path };
  const known = finder.onPath(path);
  if (known !== undefined) return { source, id: decoded(known), path };
  const segments = path.split("/").filter((segment) => segment !== "");
  const id = segments.findLast((segment) => finder.canRead(decoded(segment))) ?? segments.at(-1) ?? "";
  return { source, id: decoded(id), path };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
  return lines.map((line) => (SEPARATORS.test(line) ? splitLine(line) : [line.trim()]));
}

/** IDs have digits, places have slashes, and keys may have signs: words of a sentence have none of them. */
const LIKE_AN_ID = /[\d/@_]|[^\s.]-[^\s.]/;

/** Cells of a line, or the words of a sentence that may be IDs. A sentence without any is one text. */
function idsIn(cells: readonly string[], finder: IdFinder): readonly string[] {
  const words = cells.flatMap((cell) => cell.split(/\s+/));
  const likely = words.filter((word) => LIKE_AN_ID.test(word));
  if (cells.length === 1) return likely.length === 0 ? cells : likely;
  const isSpaced = (cell: string): boolean => /\s/.test(cell);
  if (!cells.some(isSpaced)) return cells;
  if (likely.length === 0) return [cells.join(", ")];
  const isAboutIds = cells.filter(isSpaced).some((cell) => cell.split(/\s+/).some((word) => isRead(word, finder)));
  return isAboutIds ? likely : cells;
}

const isRead = (word: string, finder: IdFinder): boolean => finder.canRead(word.replace(AROUND, ""));

/** Fields of one line (RFC 4180): a quoted one may hold separators and doubled quotes. */
function splitLine(line: string): readonly string[] {
  const separator = SEPARATORS.exec(line.replaceAll(/"(?:[^"]|"")*"/g, ""))?.[0] ?? ",";
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (character === '"' && isQuoted && line.charAt(at + 1) === '"') {
      cell += '"';
      at++;
    } else if (character === '"' && (isQuoted || cell.trim() === "")) isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      cells.push(cell);
      cell = "";
    } else cell += character;
  }
  return [...cells, cell].map((each) => each.trim());
}

/** The cells of the column that has most IDs, without its heading. */
function columnOf(rows: readonly (readonly string[])[], finder: IdFinder): readonly string[] | undefined {
  const width = rows[0]?.length ?? 0;
  if (rows.length < 2 || width < 2 || rows.some((row) => row.length !== width)) return undefined;
  const itemIn = (row: readonly string[], at: number): Pasted => readOne((row[at] ?? "").replace(AROUND, ""), finder);
  const isId = ({ id, path }: Pasted): boolean =>
    finder.canRead(id) || (path !== undefined && finder.onPath(path) !== undefined);
  const sample = rows.slice(1, 51);
  const counts = Array.from({ length: width }, (_, at) => sample.filter((row) => isId(itemIn(row, at))).length);
  const most = Math.max(...counts);
  if (most === 0) return undefined;
  const [first = 0, ...others] = counts.flatMap((count, at) => (count === most ? [at] : []));
  const areSame = (other: number): boolean => sample.every((row) => itemIn(row, first).id === itemIn(row, other).id);
  // IDs in every column are a list in lines, not a table, unless a column repeats another one.
  if (most === sample.length && !others.every(areSame)) return undefined;
  // Two may repeat each other: the one with places says more.
  const at = [first, ...others].find((each) => sample.some((row) => itemIn(row, each).path !== undefined)) ?? first;
  const [heading = "", ...below] = rows.map((row) => row[at] ?? "");
  return isId(itemIn(rows[0] ?? [], at)) ? [heading, ...below] : below;
}

export type Row = readonly string[];

/** Rows of a file. The pasted text is a column of its own where an ID had a place: pasted again, it is read there again. */
export function sheetOf(columns: Row, items: readonly Pasted[], rows: readonly Row[]): readonly Row[] {
  const hasPlaces = items.some(({ path }) => path !== undefined);
  const line = ([, id = "", ...rest]: Row, source: string): Row => [id, ...(hasPlaces ? [source] : []), ...rest];
  return [line(columns, "Pasted"), ...rows.map((row, at) => line(row, items[at]?.source ?? ""))];
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
