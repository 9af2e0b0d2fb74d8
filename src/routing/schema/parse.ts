import * as v from "valibot";
import { err, ok, type Result } from "../../ids/index.ts";
import { CONDITION_VALUES_MAX, ROUTES_MAX, TABLE_BYTES_MAX } from "../limits.ts";
import { loadTable } from "../load.ts";
import type { CompiledTable } from "../table.ts";
import { type Fault, pointerTo } from "./faults.ts";
import { type DeclaredPack, packsSchema } from "./parts.ts";

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

/** Caps on a table's text that are held before a value is made of it: that takes a hundred bytes for three, and a second or more. */

/** Objects and lists. In a table none stands in fewer bytes than a condition with a name of one letter: `"a":[7],`. */
export const CONTAINERS_MAX = TABLE_BYTES_MAX / 8;

/** Levels on which the parts of a table stand, or those of one that is a member of a wish. Below them no list is longer than a condition's. */
const WIDE_LEVELS = 3;

const entriesMaxAt = (level: number): number => (level <= WIDE_LEVELS ? ROUTES_MAX : CONDITION_VALUES_MAX);

/** What makes a text too large to be a table's. */
export interface Excess {
  /** Index in the text of the part that it is in; 0 for the whole. */
  readonly at: number;
  /** To that part. */
  readonly pointer: string;
  readonly message: string;
}

/** How many keys a text has, in one pass over its characters; whether it is JSON is another matter. */
export const countKeys = (text: string): Result<number, Excess> => {
  let keys = 0;
  let containers = 0;
  let partAt = 0;
  /** The commas in each object and list that is open. */
  const commas: number[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        if (commas.length === 1) partAt = at;
        at = endOfString(text, at) - 1;
        break;
      case ":":
        keys++;
        break;
      case "{":
      case "[":
        commas.push(0);
        if (++containers > CONTAINERS_MAX) return err(tooMany(text));
        break;
      case "}":
      case "]":
        commas.pop();
        break;
      case ",": {
        const count = (commas.pop() ?? 0) + 1;
        if (count >= entriesMaxAt(commas.length + 1)) return err(tooLong(text, partAt, commas.length + 1));
        commas.push(count);
      }
    }
  }
  return ok(keys);
};

const tooMany = (text: string): Excess => ({
  ...wholeOf(text),
  message: `At most ${CONTAINERS_MAX} objects and lists may stand in a table; there are more.`,
});

const tooLong = (text: string, partAt: number, level: number): Excess => {
  const max = entriesMaxAt(level);
  if (level === 1) return { ...wholeOf(text), message: `At most ${max} entries may stand here; there are more.` };
  const part = partFrom(text, partAt);
  if (level === 2) return { ...part, message: `At most ${max} entries may stand here; there are more.` };
  return { ...part, message: `At most ${max} entries may stand in one object or list in here; in one there are more.` };
};

const wholeOf = (text: string) => ({ at: Math.max(0, text.search(/\S/)), pointer: "" });

const partFrom = (text: string, at: number): Omit<Excess, "message"> => {
  const [key] = /^"[$A-Za-z]{1,64}"(?=\s*:)/.exec(text.slice(at, at + 100)) ?? [];
  return key === undefined ? wholeOf(text) : { at, pointer: pointerTo([key.slice(1, -1)]) };
};

/** What a text says, as strict as a published table is read everywhere: within the caps, JSON, and no key twice in one object. */
export const parseTableText = (text: string): Result<unknown, readonly Fault[]> => {
  const keys = countKeys(text);
  if (!keys.ok) return err([excessFault(keys.error)]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err([syntax("The text is not JSON; `waybill table check` shows where it ends to be.")]);
  }
  const twice = duplicateKey(text, value, keys.value);
  if (twice === undefined) return ok(value);
  return err([syntax(`The key ${JSON.stringify(twice)} stands twice in one object; remove one of the two.`)]);
};

/** Checks and compiles a table's text as the given revision. */
export const loadTableText = (text: string, revision: number): Result<CompiledTable, readonly Fault[]> => {
  const declared = parseTableText(text);
  return declared.ok ? loadTable(declared.value, revision) : declared;
};

/** The packs that a text declares as the schema says, without a check of the rest. None for a text that is no table. */
export const declaredPacks = (text: string): readonly (readonly [name: string, pack: DeclaredPack])[] => {
  // Most tables have none, and the check makes a value of the text once more.
  const mayHave = text.includes('"packs"') || text.includes("\\u");
  if (!mayHave || !countKeys(text).ok) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const table = v.safeParse(WITH_PACKS, value, { abortEarly: true });
  return table.success ? Object.entries(table.output.packs) : [];
};

const WITH_PACKS = /* @__PURE__ */ v.object({ packs: packsSchema });

/** Of bytes that are no text. */
export const NOT_UTF8: Fault = /* @__PURE__ */ syntax("The text is not UTF-8; save it as UTF-8.");

const excessFault = ({ pointer, message }: Excess): Fault => ({ pointer, kind: "size", message });

/** A fault of the text as a whole: a pointer would need a value. */
function syntax(message: string): Fault {
  return { pointer: "", kind: "syntax", message };
}
