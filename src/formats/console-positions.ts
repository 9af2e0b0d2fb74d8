import type { Rule } from "../routing/index.ts";
import { pointerTo } from "../routing/schema/faults.ts";

/** Where a value stands in a JSON text with comments. It never throws: of a text with faults it finds what comes before them. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const STRING = /"(?:[^"\\]|\\[\s\S])*"/y;
const SCALAR = /[^\s,[\]{}:"]+/y;

/** Deeper values belong to what is around them. */
const DEPTH_MAX = 64;

export interface Positions {
  /** By JSON pointer (RFC 6901). */
  readonly values: ReadonlyMap<string, Span>;
  /** Where the name of a member stands. */
  readonly keys: ReadonlyMap<string, Span>;
  /** Up to here it is JSON. */
  readonly end: number;
}

export function positionsOf(text: string): Positions {
  const values = new Map<string, Span>();
  const keys = new Map<string, Span>();
  let at = 0;
  const take = (form: RegExp): string | undefined => {
    form.lastIndex = at;
    const found = form.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const readValue = (pointer: string, depth: number): boolean => {
    take(SPACE);
    const from = at;
    const isRead = readAt(pointer, depth);
    values.set(pointer, { from, to: at });
    return isRead;
  };
  const readAt = (pointer: string, depth: number): boolean => {
    const first = text.charAt(at);
    if (first === '"') return take(STRING) !== undefined;
    if ((first !== "{" && first !== "[") || depth >= DEPTH_MAX) return take(SCALAR) !== undefined;
    at++;
    for (let index = 0; ; index++) {
      take(SPACE);
      if (text.charAt(at) === (first === "{" ? "}" : "]")) {
        at++;
        return true;
      }
      let key = String(index);
      if (first === "{") {
        const from = at;
        const name = take(STRING);
        if (name === undefined) return false;
        key = nameIn(name);
        keys.set(pointer + pointerTo([key]), { from, to: at });
        take(SPACE);
        if (text.charAt(at) !== ":") return false;
        at++;
      }
      if (!readValue(pointer + pointerTo([key]), depth + 1)) return false;
      take(SPACE);
      if (text.charAt(at) === ",") at++;
    }
  };
  readValue("", 0);
  take(SPACE);
  return { values, keys, end: at };
}

function nameIn(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}

/** From 1. `undefined` if the text has no such value. */
export function lineOf(text: string, pointer: string): number | undefined {
  const { values, keys } = positionsOf(text);
  const span = keys.get(pointer) ?? values.get(pointer);
  return span && text.slice(0, span.from).split("\n").length;
}

/** The span of a fault: the value, else the nearest one around it. */
export function spanOf({ values, keys }: Positions, pointer: string): Span {
  for (let place = pointer; place !== ""; place = place.slice(0, place.lastIndexOf("/"))) {
    const span = keys.get(place) ?? values.get(place);
    if (span !== undefined) return span;
  }
  return { from: 0, to: 1 };
}

/** The JSON pointer of the rule's entry. `key`: of the override. */
export function pointerOf(rule: Rule, key: string): string {
  switch (rule.kind) {
    case "route":
      return pointerTo(["routes", rule.index]);
    case "canary":
      return pointerTo(["routes", rule.index, "canary"]);
    case "default":
      return pointerTo(["default"]);
    case "directory":
      return pointerTo(["directory", rule.directory]);
    default:
      return pointerTo([rule.kind === "moving" ? "moves" : "moved", key]);
  }
}

/** The value in parsed JSON that a pointer names. */
export const valueAt = (json: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, part) => (Object.hasOwn(Object(value), part) ? Object(value)[part] : undefined), json);
