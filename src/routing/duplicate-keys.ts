/**
 * The first key that stands twice in one object of a JSON text, `undefined` if none does. `JSON.parse` would keep the last
 * of them in silence, and the table or the wish would mean something else than it says. The text must be valid JSON.
 */
export const duplicateKey = (text: string): string | undefined => {
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

/** The index after the closing quote of a string that opens at `start`. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
};

/** Whether a colon follows: only then is a string a key. */
const isKey = (text: string, end: number): boolean => {
  let at = end;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return text[at] === ":";
};
