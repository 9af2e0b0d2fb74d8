import { err, ok, type Result } from "../../ids/index.ts";
import { CONDITION_VALUES_MAX, ROUTES_MAX, TABLE_BYTES_MAX } from "../limits.ts";
import { type Fault, pointerTo } from "./faults.ts";
import { duplicateKey, JsonScanner, parseJson } from "./json-scanner.ts";

/** Limits of a table's text, checked before parsing: a parsed value takes thirty times the memory of its text. */

/** Objects and lists. In a table each takes at least the bytes of the shortest condition: `"a":[7],`. */
export const CONTAINERS_MAX = TABLE_BYTES_MAX / 8;

/** Levels of the parts of a table, or of a table inside a request body. Deeper lists are at most as long as a condition's. */
const WIDE_LEVELS = 3;

const entriesMaxAt = (level: number): number => (level <= WIDE_LEVELS ? ROUTES_MAX : CONDITION_VALUES_MAX);

/** `at`: index in the text of the part that it is in; 0 for the whole. */
export type Excess = { readonly at: number; readonly pointer: string; readonly message: string };

/** Why a text is too large, in one pass. Whether it is JSON is checked later. */
export const excessOf = (text: string): Excess | undefined => {
  const scanner = new JsonScanner(text);
  let containers = 0;
  let partAt = 0;
  /** The commas in each object and list that is open. */
  const commas: number[] = [];
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    if (token === '"' && commas.length === 1) partAt = scanner.at;
    else if (token === "{" || token === "[") {
      commas.push(0);
      if (++containers > CONTAINERS_MAX) {
        const message = `At most ${CONTAINERS_MAX} objects and lists are allowed in a table; there are more.`;
        return { ...wholeOf(text), message };
      }
    } else if (token === "}" || token === "]") commas.pop();
    else if (token === ",") {
      const count = (commas.pop() ?? 0) + 1;
      const level = commas.push(count);
      if (count >= entriesMaxAt(level)) return tooLong(text, partAt, level);
    }
  }
  return undefined;
};

const tooLong = (text: string, partAt: number, level: number): Excess => {
  const where = level > 2 ? "in one object or list here" : "here";
  const message = `At most ${entriesMaxAt(level)} entries are allowed ${where}; there are more.`;
  return { ...(level === 1 ? wholeOf(text) : partFrom(text, partAt)), message };
};

const wholeOf = (text: string) => ({ at: Math.max(0, text.search(/\S/)), pointer: "" });

const partFrom = (text: string, at: number): Omit<Excess, "message"> => {
  const [key] = /^"[$A-Za-z]{1,64}"(?=\s*:)/.exec(text.slice(at, at + 100)) ?? [];
  return key === undefined ? wholeOf(text) : { at, pointer: pointerTo([key.slice(1, -1)]) };
};

/** Parses a table's text strictly: within the limits, valid JSON, and no duplicate key in an object. */
export const parseTableText = (text: string): Result<unknown, readonly Fault[]> => {
  const excess = excessOf(text);
  if (excess !== undefined) return err([{ pointer: excess.pointer, kind: "size", message: excess.message }]);
  const value = parseJson(text);
  if (value === undefined) {
    return err([syntax("The text is not JSON; `waybill table check` shows the line and column.")]);
  }
  const twice = duplicateKey(text);
  if (twice === undefined) return ok(value);
  return err([syntax(`The key ${JSON.stringify(twice)} is duplicated in one object; remove one of them.`)]);
};

export const NOT_UTF8: Fault = /* @__PURE__ */ syntax("The text is not UTF-8; save it as UTF-8.");

/** A fault of the text as a whole: a pointer would need a value. */
function syntax(message: string): Fault {
  return { pointer: "", kind: "syntax", message };
}
