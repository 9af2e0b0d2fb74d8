import { visit } from "jsonc-parser";
import { pointerTo } from "../../routing/schema/faults.ts";
import { tooDeepAt } from "../../routing/schema/json-scanner.ts";

/** Positions of values in a JSON text with comments. A faulty text never throws: the values before the fault are found. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Deeper than any table, and far below the stack limit of a recursive parser. */
const DEPTH_MAX = 64;

export interface Positions {
  /** By JSON pointer (RFC 6901). */
  readonly values: ReadonlyMap<string, Span>;
  /** Names of members. */
  readonly keys: ReadonlyMap<string, Span>;
  /** The offset of the first fault; the length of a text without any. */
  readonly end: number;
}

export function positionsOf(text: string): Positions {
  const values = new Map<string, Span>([["", { from: 0, to: text.length }]]);
  const keys = new Map<string, Span>();
  const open: Container[] = [];
  const shallow = text.slice(0, tooDeepAt(text, DEPTH_MAX));
  let end = shallow.length;
  const begins = (isList: boolean) => (offset: number) => {
    const pointer = nextIn(open.at(-1));
    open.push({ pointer, from: offset, isList, at: -1, key: "" });
    // A container that is never closed ends with the text.
    values.set(pointer, { from: offset, to: shallow.length });
  };
  const ends = (offset: number, length: number) => {
    const { pointer, from } = open.pop() ?? { pointer: "", from: 0 };
    values.set(pointer, { from, to: offset + length });
  };
  visit(
    shallow,
    {
      onObjectBegin: begins(false),
      onArrayBegin: begins(true),
      onObjectEnd: ends,
      onArrayEnd: ends,
      onObjectProperty: (name, from, length) => {
        const around = open.at(-1);
        if (around === undefined) return;
        around.key = pointerTo([name]);
        keys.set(around.pointer + around.key, { from, to: from + length });
      },
      onLiteralValue: (_value, from, length) => values.set(nextIn(open.at(-1)), { from, to: from + length }),
      onError: (_error, offset) => {
        end = Math.min(end, offset);
      },
    },
    { allowTrailingComma: true },
  );
  return { values, keys, end };
}

/** A list or an object that is being read. Its pointer is made once, and not from the top for each value in it. */
interface Container {
  readonly pointer: string;
  readonly from: number;
  readonly isList: boolean;
  /** The last element of a list. */
  at: number;
  /** The last member of an object, as in a pointer. */
  key: string;
}

function nextIn(around: Container | undefined): string {
  if (around === undefined) return "";
  if (!around.isList) return around.pointer + around.key;
  around.at++;
  return `${around.pointer}/${around.at}`;
}

/** From 1. `undefined` if the text has no such value. */
export const lineOf = (text: string, pointer: string): number | undefined => linesIn(text)(pointer);

/** The lines of many values: the text is read once, when the first is asked for. */
export function linesIn(text: string): (pointer: string) => number | undefined {
  let known: { readonly positions: Positions; readonly ends: readonly number[] } | undefined;
  return (pointer) => {
    known ??= { positions: positionsOf(text), ends: lineEndsOf(text) };
    const { values, keys } = known.positions;
    const span = keys.get(pointer) ?? values.get(pointer);
    return span && lineAt(known.ends, span.from);
  };
}

const lineEndsOf = (text: string): readonly number[] => [...text.matchAll(/\n/g)].map(({ index }) => index);

/** One more than the line ends before the offset. */
function lineAt(ends: readonly number[], offset: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

/** The span of a fault: the value, else the nearest one around it. */
export function spanOf({ values, keys }: Positions, pointer: string): Span {
  for (let place = pointer; place !== ""; place = place.slice(0, place.lastIndexOf("/"))) {
    const span = keys.get(place) ?? values.get(place);
    if (span !== undefined) return span;
  }
  return { from: 0, to: 1 };
}
