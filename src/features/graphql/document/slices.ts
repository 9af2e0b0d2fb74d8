/**
 * A value in a JSON text by where it stands. Numbers keep every digit, and what is only passed on is never made: a result
 * that was put together has the bytes of its parts.
 */
export interface Slice {
  readonly text: string;
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
}

/** The whole text as one value; `undefined` where it is no JSON. */
export function sliceOf(text: string): Slice | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const start = afterSpace(text, 0);
  return { text, start, end: endOfValue(text, start) };
}

export const rawOf = ({ text, start, end }: Slice): string => text.slice(start, end);

export const isObject = ({ text, start }: Slice): boolean => text[start] === "{";
export const isList = ({ text, start }: Slice): boolean => text[start] === "[";
export const isNull = ({ text, start }: Slice): boolean => text[start] === "n";

/** The text of a string, or the digits of a number as they stand; `undefined` for all else. */
export function textOf(slice: Slice): string | undefined {
  const first = slice.text[slice.start] as string;
  if (first === '"') return JSON.parse(rawOf(slice)) as string;
  return first === "-" || (first >= "0" && first <= "9") ? rawOf(slice) : undefined;
}

export const stringOf = (slice: Slice): string | undefined =>
  slice.text[slice.start] === '"' ? textOf(slice) : undefined;

/** The members of an object; `undefined` where a key stands twice: readers differ in which one counts. */
export function membersOf({ text, start }: Slice): ReadonlyMap<string, Slice> | undefined {
  const members = new Map<string, Slice>();
  let at = afterSpace(text, start + 1);
  while (text[at] !== "}") {
    const keyEnd = endOfString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    if (members.has(key)) return undefined;
    const valueStart = afterSpace(text, afterSpace(text, keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    members.set(key, { text, start: valueStart, end });
    at = afterComma(text, end);
  }
  return members;
}

export function itemsOf({ text, start }: Slice): readonly Slice[] {
  const items: Slice[] = [];
  let at = afterSpace(text, start + 1);
  while (text[at] !== "]") {
    const end = endOfValue(text, at);
    items.push({ text, start: at, end });
    at = afterComma(text, end);
  }
  return items;
}

function afterComma(text: string, end: number): number {
  const at = afterSpace(text, end);
  return text[at] === "," ? afterSpace(text, at + 1) : at;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return at;
}

/** The syntax is known to be right, so that only brackets and strings count. A loop: a text nests deeper than the stack. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case "{":
      case "[":
        depth++;
        at++;
        break;
      case "}":
      case "]":
        depth--;
        at++;
        break;
      default:
        if (depth === 0) return endOfWord(text, at);
        at++;
    }
  } while (depth > 0);
  return at;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    at = quote + 1;
    if (escapes % 2 === 0) return at;
  }
}

/** The end of a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !" \n\r\t,]}".includes(text[at] as string)) at++;
  return at;
}
