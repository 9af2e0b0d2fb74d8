import { editText, type JsonPath } from "../../../formats/console/edit.ts";
import { positionsOf } from "../../../formats/console/positions.ts";
import { type Fault, parseJson, plainJson } from "../../../routing/index.ts";
import { keysOfPointer } from "../../../routing/schema/faults.ts";

/** Remedies that a fault names itself, as changes of the text. Pure. */

export interface Fix {
  /** On its button: `Put "eu" there`. */
  readonly name: string;
  /** The text with the remedy; the same text where it does not hold any more. */
  readonly apply: (text: string) => string;
}

/** More of them would be a list, and completion has it. */
const NAMES_MAX = 3;

const QUOTED = /"(?:[^"\\]|\\.)*"/g;

export function fixesOf({ pointer, kind, message }: Pick<Fault, "pointer" | "kind" | "message">): readonly Fix[] {
  if (pointer === "") return [];
  const [, remedy = ""] = /; (.*)\.$/.exec(message) ?? [];
  const fixes: Fix[] = [];
  const renamed = /^write ("(?:[^"\\]|\\.)*"), or remove it$/.exec(remedy)?.[1];
  const value = /^write ("(?:[^"\\]|\\.)*")(?:, or declare it)?$/.exec(remedy)?.[1];
  if (renamed !== undefined) fixes.push({ name: `Write ${renamed}`, apply: (text) => rename(text, pointer, renamed) });
  if (value !== undefined) fixes.push(put(pointer, value));
  const known = / use one of (.*)$/.exec(remedy)?.[1]?.match(QUOTED) ?? [];
  if (known.length <= NAMES_MAX) fixes.push(...known.map((name) => put(pointer, name)));
  if (/\bremove (?:it|this)$/.test(remedy) && kind !== "syntax") {
    const what = kind === "unreachable-route" ? "Remove this route" : "Remove it";
    fixes.push({ name: what, apply: (text) => edited(text, pointer, undefined) });
  }
  return fixes;
}

const put = (pointer: string, json: string): Fix => ({
  name: `Put ${json} there`,
  apply: (text) => edited(text, pointer, JSON.parse(json)),
});

function edited(text: string, pointer: string, value: unknown): string {
  try {
    const path = pathIn(parseJson(plainJson(text)), pointer);
    return path === undefined ? text : editText(text, [{ path, value }]);
  } catch {
    // The text is not JSON now.
    return text;
  }
}

/** The keys of a pointer, those of lists as numbers; `undefined` if the text has not the place. */
function pathIn(json: unknown, pointer: string): JsonPath | undefined {
  let value = json;
  const path: (string | number)[] = [];
  for (const key of keysOfPointer(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    path.push(Array.isArray(value) ? Number(key) : key);
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return path;
}

function rename(text: string, pointer: string, name: string): string {
  const span = positionsOf(text).keys.get(pointer);
  return span === undefined ? text : text.slice(0, span.from) + name + text.slice(span.to);
}
