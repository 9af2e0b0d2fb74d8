export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `"` is a whole string, `/` a whole comment; "" is the end of the text. Numbers, names and white space are passed over. */
type Token = "{" | "}" | "[" | "]" | ":" | "," | '"' | "/" | "";

/** Walks over the tokens of a JSON text without making values, which take thirty times its memory. The syntax is not checked. */
export class JsonScanner {
  at = 0;
  end = 0;
  /** Objects and arrays that are open behind the token. */
  depth = 0;
  /** The last string, with its quotes. Before a colon it is a key. */
  #stringAt = 0;
  #stringEnd = 0;
  /** The first line end behind `end`, once it was looked for. */
  #lineEnd = -1;
  #isUnclosed = false;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  next(): Token {
    const text = this.#text;
    for (let at = this.end; at < text.length; at++) {
      switch (text[at]) {
        case '"':
          this.at = this.#stringAt = at;
          this.end = this.#stringEnd = this.#endOfString(at);
          return '"';
        case "/": {
          const end = this.#endOfComment(at);
          if (end === undefined) continue;
          this.at = at;
          this.end = end;
          return "/";
        }
        case "{":
        case "[":
          this.depth++;
          return this.#sign(at);
        case "}":
        case "]":
          this.depth--;
          return this.#sign(at);
        case ":":
        case ",":
          return this.#sign(at);
      }
    }
    this.at = this.end = text.length;
    return "";
  }

  #sign(at: number): Token {
    this.at = at;
    this.end = at + 1;
    return this.#text[at] as Token;
  }

  key(): string {
    const text = this.#text.slice(this.#stringAt, this.#stringEnd);
    return text.includes("\\") ? JSON.parse(text) : text.slice(1, -1);
  }

  /** `undefined`: it is none, or it is not closed. */
  #endOfComment(start: number): number | undefined {
    const text = this.#text;
    if (text[start + 1] === "/") {
      const end = text.indexOf("\n", start);
      return end === -1 ? text.length : end;
    }
    if (text[start + 1] !== "*" || this.#isUnclosed) return undefined;
    const end = text.indexOf("*/", start + 2);
    // Else each of many openings would search the rest of the text.
    this.#isUnclosed = end === -1;
    return end === -1 ? undefined : end + 2;
  }

  #endOfString(start: number): number {
    const text = this.#text;
    if (this.#lineEnd < start) {
      const found = text.indexOf("\n", start);
      this.#lineEnd = found === -1 ? text.length : found;
    }
    for (let at = text.indexOf('"', start + 1); at !== -1 && at < this.#lineEnd; at = text.indexOf('"', at + 1)) {
      let before = at;
      while (text[before - 1] === "\\") before--;
      if ((at - before) % 2 === 0) return at + 1;
    }
    return this.#lineEnd;
  }
}

/** JSONC as JSON: comments and trailing commas become spaces, so that every value keeps its line and column. */
export const plainJson = (text: string): string => {
  const scanner = new JsonScanner(text);
  const blanks: (readonly [from: number, to: number])[] = [];
  /** Where the last comma is, while nothing but white space and comments is behind it. */
  let comma: number | undefined;
  let before = "";
  let end = 0;
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    const { at } = scanner;
    if (text.slice(end, at).trim() !== "") {
      comma = undefined;
      before = "value";
    }
    end = scanner.end;
    if (token === "/") {
      blanks.push([at, end]);
      continue;
    }
    if (comma !== undefined && (token === "}" || token === "]")) blanks.push([comma, comma + 1]);
    // A comma with no value before it stays a fault.
    comma = token === "," && !"{[:,".includes(before) ? at : undefined;
    before = token;
  }
  const parts: string[] = [];
  let done = 0;
  for (const [from, to] of blanks.sort(([a], [b]) => a - b)) {
    parts.push(text.slice(done, from), text.slice(from, to).replace(/[^\r\n]/g, " "));
    done = to;
  }
  return parts.join("") + text.slice(done);
};

/** The first key that an object of a JSON text has twice: `JSON.parse` silently keeps the last one. The text must be valid JSON. */
export const duplicateKey = (text: string): string | undefined => {
  const scanner = new JsonScanner(text);
  /** The keys of each object or array that is open. */
  const open: Set<string>[] = [];
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const key = scanner.key();
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
};

/** The text of a member of an object, or of an item of an array, with the white space around it. The text must be valid JSON without duplicate keys. */
export const memberText = (text: string, name: string): string | undefined => {
  const scanner = new JsonScanner(text);
  let start: number | undefined;
  /** Index of the next item; `undefined` in an object. */
  let index: number | undefined;
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    const { depth } = scanner;
    const isOver = (depth === 1 && token === ",") || depth === 0;
    if (start !== undefined && isOver) return text.slice(start, scanner.at);
    if (depth !== 1) continue;
    if (token === "[") index = 0;
    else if (token === "," && index !== undefined) index++;
    const isFound = index === undefined ? token === ":" && scanner.key() === name : String(index) === name;
    if (isFound) start ??= scanner.end;
  }
  return undefined;
};

/** The value of a JSON text; `undefined` for what is none, and where an object has a key twice (RFC 8259 §4). */
export const parseUniqueJson = (text: string): unknown => {
  const value = parseJson(text);
  return value === undefined || duplicateKey(text) !== undefined ? undefined : value;
};

/** The index of the first bracket that is nested deeper than `max`. */
export const tooDeepAt = (text: string, max: number): number | undefined => {
  const scanner = new JsonScanner(text);
  while (scanner.next() !== "") if (scanner.depth > max) return scanner.at;
  return undefined;
};
