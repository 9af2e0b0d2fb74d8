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
  /** The table that the IDs stood in. */
  readonly sheet?: PastedSheet;
}

/** A CSV: its columns come back with those of the page. */
export interface PastedSheet {
  /** Names of the columns; absent where the first row has an ID. */
  readonly heading?: readonly string[];
  /** Place of the column with the IDs. */
  readonly column: number;
  /** Without the heading. `item`: the place of the row's ID among the items; absent where it has none. */
  readonly rows: readonly { readonly cells: readonly string[]; readonly item?: number }[];
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
  const sheet = sheetIn(rows, finder);
  if (sheet !== undefined) return readSheet(sheet, finder);
  const cells = rows.flatMap((row) => idsIn(row, finder));
  const sources = cells.map((cell) => cell.replace(AROUND, "")).filter((cell) => cell !== "");
  return { items: sources.slice(0, PASTED_MAX).map((source) => readOne(source, finder)), left: leftOf(sources) };
}

function readSheet({ heading, column, rows }: FoundSheet, finder: IdFinder): PastedList {
  const items: Pasted[] = [];
  const shown: { cells: readonly string[]; item?: number }[] = [];
  let left = 0;
  for (const cells of rows) {
    const source = (cells[column] ?? "").replace(AROUND, "");
    if (source === "") shown.push({ cells });
    else if (items.length === PASTED_MAX) left++;
    else shown.push({ cells, item: items.push(readOne(source, finder)) - 1 });
  }
  return { items, left, sheet: { ...(heading && { heading }), column, rows: shown } };
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

/** The most lines of one cell. */
const CELL_LINES_MAX = 100;
/** A cell begins with a quote, and does not end in the line; and the line in which it ends. */
const OPEN_QUOTE = /(?:^|[\t,;])\s*"(?:[^"]|"")*$/;
const CLOSING_QUOTE = /^(?:[^"]|"")*"\s*(?:$|[\t,;])/;

/** Lines of a file. A quoted cell may have several: a quote that is never closed is a mark of its own line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/);
  const whole: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    let line = lines[at] ?? "";
    while (OPEN_QUOTE.test(line.replaceAll(/"(?:[^"]|"")*"(?=\s*(?:$|[\t,;]))/g, ""))) {
      const end = lines.slice(at + 1, at + CELL_LINES_MAX).findIndex((next) => CLOSING_QUOTE.test(next));
      if (end === -1) break;
      line = [line, ...lines.slice(at + 1, at + 2 + end)].join("\n");
      at += end + 1;
    }
    if (line.trim() !== "") whole.push(line);
  }
  return whole;
}

function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = linesOf(text);
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

interface FoundSheet {
  readonly heading: readonly string[] | undefined;
  readonly column: number;
  readonly rows: readonly (readonly string[])[];
}

/** A table, and its column that has most IDs. */
function sheetIn(rows: readonly (readonly string[])[], finder: IdFinder): FoundSheet | undefined {
  const [first] = rows;
  const width = first?.length ?? 0;
  if (first === undefined || rows.length < 2 || width < 2 || rows.some((row) => row.length !== width)) return undefined;
  const itemIn = (row: readonly string[], at: number): Pasted => readOne((row[at] ?? "").replace(AROUND, ""), finder);
  const isId = ({ id, path }: Pasted): boolean =>
    finder.canRead(id) || (path !== undefined && finder.onPath(path) !== undefined);
  const sample = rows.slice(1, 51);
  const counts = Array.from({ length: width }, (_, at) => sample.filter((row) => isId(itemIn(row, at))).length);
  const most = Math.max(...counts);
  if (most === 0) return undefined;
  const [best = 0, ...others] = counts.flatMap((count, at) => (count === most ? [at] : []));
  const areSame = (other: number): boolean => sample.every((row) => itemIn(row, best).id === itemIn(row, other).id);
  // IDs in every column are a list in lines, not a table, unless a column repeats another one.
  if (most === sample.length && !others.every(areSame)) return undefined;
  // Two may repeat each other: the one with places says more.
  const column = [best, ...others].find((each) => sample.some((row) => itemIn(row, each).path !== undefined)) ?? best;
  const hasHeading = !isId(itemIn(first, column));
  return { heading: hasHeading ? first : undefined, column, rows: hasHeading ? rows.slice(1) : rows };
}
