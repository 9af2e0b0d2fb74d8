import { FAULTS_MAX } from "../limits.ts";

/** Something wrong in the declared table. A table with faults is never served. */
export interface Fault {
  /** RFC 6901 JSON pointer to the value at fault. */
  readonly pointer: string;
  readonly kind: FaultKind;
  /** One sentence: what is wrong and how to fix it. */
  readonly message: string;
}

export type FaultKind =
  | ("syntax" | "schema" | "size" | "too-complex")
  | ("unknown-name" | "name-clash" | "number-clash" | "group-clash")
  | ("key-range" | "time-range" | "slice-range")
  | ("layout-declaration" | "indistinguishable-layouts" | "public-ids")
  | ("path-collision" | "path-layout" | "reserved-path")
  | ("origin-url" | "gateway-url" | "origin-is-gateway" | "no-origin-weight" | "region-cycle" | "same-region")
  | ("unreachable-route" | "unreachable-source" | "split-parts" | "pack" | "moved-id");

/** Place of a value in the declared table: keys and indexes from the top. */
export type Place = readonly (string | number)[];

/** RFC 6901 section 3: `~` and `/` inside a key are written `~0` and `~1`. */
export const pointerTo = (place: Place): string =>
  place.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The keys of a pointer that is not empty, from the top. */
export const keysOfPointer = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

export type Report = (kind: FaultKind, place: Place, message: string) => void;

export const faultList = () => {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  const report: Report = (kind, place, message) => {
    if (faults.length >= FAULTS_MAX) return;
    const pointer = pointerTo(place);
    const key = `${kind} ${pointer} ${message}`;
    if (seen.has(key)) return;
    seen.add(key);
    faults.push({ pointer, kind, message });
  };
  return { report, faults };
};

/** Whether a report with so many faults may be incomplete: the check stops at the limit. */
export const isCut = (count: number): boolean => count >= FAULTS_MAX;

/** `1 fault`, `2 faults`, `at least 1,000 faults`: the number that the check found. */
export const formatFaultCount = (count: number): string => {
  const amount = isCut(count) ? `at least ${FAULTS_MAX.toLocaleString("en-US")}` : `${count}`;
  return `${amount} fault${count === 1 ? "" : "s"}`;
};

const NAMES_SHOWN = 12;

/** Names for a sentence: quoted, joined by commas, and cut when there are many. */
export const listNames = (names: Iterable<string>): string => {
  const shown: string[] = [];
  let count = 0;
  for (const name of names) if (++count <= NAMES_SHOWN) shown.push(JSON.stringify(name));
  if (count === 0) return "none";
  return count > NAMES_SHOWN ? `${shown.join(", ")} and ${count - NAMES_SHOWN} more` : shown.join(", ");
};

const DIFFER_MAX = 2;

/**
 * The name that was likely meant: the same but for case, or for up to two edits. More likely characters were left out than
 * written beside it: `uuid4` is `uuid-v4`, not `uuid`.
 */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const text = name.toLowerCase();
  let best: string | undefined;
  let least = Infinity;
  for (const each of known) {
    const other = each.toLowerCase();
    const longest = Math.max(text.length, other.length);
    const differ = editsBetween(text, other);
    const unlikely = isCutOut(text, other) ? (differ - 1) / 2 : differ;
    if (differ > DIFFER_MAX || differ * 2 >= longest || unlikely >= least) continue;
    least = unlikely;
    best = each;
  }
  return best;
};

/** Whether the text is the other one without some neighbouring characters. */
const isCutOut = (text: string, other: string): boolean => {
  let start = 0;
  while (start < text.length && text[start] === other[start]) start++;
  return text.length <= other.length && other.endsWith(text.slice(start));
};

/** Characters left out, added, changed, or swapped with a neighbour (optimal string alignment); beyond two only some greater number. */
const editsBetween = (a: string, b: string): number => {
  if (Math.abs(a.length - b.length) > DIFFER_MAX) return Infinity;
  let before: readonly number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line.push(
        Math.min(
          (above[column] as number) + 1,
          (line[column - 1] as number) + 1,
          (above[column - 1] as number) + (isSame ? 0 : 1),
          isSwapped ? (before[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    if (Math.min(...line) > DIFFER_MAX) return Infinity;
    before = above;
    above = line;
  }
  return above[b.length] as number;
};

/** A name in a request that the table does not have. */
export interface UnknownName<What extends string = string> {
  readonly reason: "unknown-name";
  readonly what: What;
  /** `undefined` where it may be a credential. */
  readonly name: string | undefined;
  readonly known: readonly string[];
  /** How many others there are that `known` does not list. */
  readonly more?: number;
  /** The source whose values the table lists in `known`. */
  readonly source?: string;
}

export const reportUnknown = (what: string, name: string, known: Iterable<string>, place: Place, report: Report) => {
  const names = [...known];
  const near = nearest(name, names);
  const others = names.length === 0 ? "" : ` or use one of ${listNames(names)}`;
  const remedy = near === undefined ? `declare it${others}` : `write ${JSON.stringify(near)}, or declare it`;
  const message = `There is no ${what} ${JSON.stringify(name)}; ${remedy}.`;
  report("unknown-name", place, message);
};
