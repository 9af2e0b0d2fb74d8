const BACKSLASH = 0x5c;

/**
 * The text of a member of the object that a JSON text is: all between its colon and what ends it, white space too. `undefined`
 * where there is none. The text must be valid JSON, and no key stand twice.
 */
export function memberText(text: string, name: string): string | undefined {
  let depth = 0;
  let start: number | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      // Only a key has a colon after it.
      const colon = depth === 1 && start === undefined ? colonAfter(text, end) : undefined;
      if (colon !== undefined && JSON.parse(text.slice(at, end)) === name) start = colon + 1;
      at = end - 1;
    } else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    if (start === undefined) continue;
    const isOver = (depth === 1 && character === ",") || depth === 0;
    if (isOver) return text.slice(start, at);
  }
  return undefined;
}

/** The index after the closing quote of a string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at + 1;
  }
}

function colonAfter(text: string, end: number): number | undefined {
  let at = end;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return text[at] === ":" ? at : undefined;
}
