import { err, ok, type Result } from "../ids/index.ts";
import { endOfString } from "./duplicate-keys.ts";
import { pointerTo } from "./faults.ts";
import { CONDITION_VALUES_MAX, ROUTES_MAX, TABLE_BYTES_MAX } from "./limits.ts";

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
