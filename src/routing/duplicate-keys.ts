/**
 * The first key that stands twice in one object of a JSON text, `undefined` if none does. `JSON.parse` would keep the last
 * of them in silence, and the table or the wish would mean something else than it says. `value`: what it made of the text.
 * `keys`: how many there are in the text, where that was counted.
 */
export const duplicateKey = (text: string, value: unknown, keys = keysInText(text)): string | undefined =>
  keys === keysInValue(value) ? undefined : firstTwice(text);

/** Of keys that stand twice the value has one: it has fewer than the text, and to count them takes no memory. */
const keysInText = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = endOfString(text, at);
    if (isKey(text, at)) count++;
  }
  return count;
};

const keysInValue = (value: unknown): number => {
  let count = 0;
  // A text may nest deeper than calls can.
  const open: object[] = [];
  const visit = (part: unknown): void => {
    if (typeof part === "object" && part !== null) open.push(part);
  };
  visit(value);
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (Array.isArray(part)) for (const item of part) visit(item);
    else {
      for (const key of Object.keys(part)) {
        count++;
        visit((part as Readonly<Record<string, unknown>>)[key]);
      }
    }
  }
  return count;
};

const firstTwice = (text: string): string | undefined => {
  /** The keys of each object that is open; `undefined` for an array. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") open.push(new Set());
    else if (character === "[") open.push(undefined);
    else if (character === "}" || character === "]") open.pop();
    else if (character === '"') {
      const end = endOfString(text, at);
      const keys = open.at(-1);
      if (keys !== undefined && isKey(text, end)) {
        const key: string = JSON.parse(text.slice(at, end));
        if (keys.has(key)) return key;
        keys.add(key);
      }
      at = end - 1;
    }
  }
  return undefined;
};

const BACKSLASH = 0x5c;

/** The index after the closing quote of a string that opens at `start`; that of the text's end where there is none. */
export const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    if (at === -1) return text.length;
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at + 1;
  }
};

/** Whether a colon follows: only then is a string a key. */
const isKey = (text: string, end: number): boolean => {
  let at = end;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return text[at] === ":";
};
