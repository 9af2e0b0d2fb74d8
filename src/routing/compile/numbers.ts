import { M49_AREAS } from "../data/m49.ts";
import { pairsOf, type Ranges, rangesOf } from "../lookup/ranges.ts";
import type { DeclaredNumbers } from "../schema/table.ts";

/** A declared value that is no number of the field: why, and which item of an array it is. */
export interface NumbersFault {
  readonly item: number | undefined;
  readonly message: string;
}

export interface NumbersReading {
  readonly ranges: Ranges;
  readonly faults: readonly NumbersFault[];
}

/** Reads `5`, `"5"`, `"0-1023"` or an array of these. `max` is the greatest value that the field holds. */
export const readNumbers = (declared: DeclaredNumbers, max: number): NumbersReading =>
  readItems(declared, (item) => readRange(item, max));

/** Reads UN M.49 codes: an area stands for itself and every code below it. */
export const readM49 = (declared: DeclaredNumbers, max: number): NumbersReading => {
  // An area has hundreds of codes; a list may repeat it thousands of times, and it is read once.
  const seen = new Set<number | string>();
  return readItems(declared, (item) => {
    if (seen.has(item)) return [];
    const read = readArea(item, max);
    if (typeof read !== "string") seen.add(item);
    return read;
  });
};

type Pair = readonly [low: number, high: number];

const readItems = (declared: DeclaredNumbers, readItem: (item: number | string) => Ranges | string): NumbersReading => {
  const pairs: Pair[] = [];
  const faults: NumbersFault[] = [];
  const items = Array.isArray(declared) ? declared : [declared];
  for (const [index, item] of items.entries()) {
    const read = readItem(item);
    if (typeof read === "string") faults.push({ item: Array.isArray(declared) ? index : undefined, message: read });
    else for (const pair of pairsOf(read)) pairs.push(pair);
  }
  return { ranges: rangesOf(pairs), faults };
};

const readRange = (item: number | string, max: number): Ranges | string => {
  const text = String(item);
  const hyphen = text.indexOf("-");
  const low = readDecimal(hyphen === -1 ? text : text.slice(0, hyphen));
  const high = hyphen === -1 ? low : readDecimal(text.slice(hyphen + 1));
  if (low === undefined || high === undefined) {
    return `${JSON.stringify(item)} is not a decimal number or range without leading zeros, such as "0-1023"; rewrite it.`;
  }
  if (low > high) return `${JSON.stringify(item)} is reversed; write "${high}-${low}".`;
  if (high > max) return `${JSON.stringify(item)} is greater than ${max}, the maximum of the field; lower it.`;
  return [low, high];
};

const readDecimal = (text: string): number | undefined => {
  const value = Number(text);
  return /^(0|[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
};

/** Not sorted: `rangesOf` does that for all items together. */
const readArea = (item: number | string, max: number): Ranges | string => {
  // The standard writes codes with three digits, so "002" is one code and its usual spelling.
  const code = /^[0-9]{1,3}$/.test(String(item)) ? Number(item) : undefined;
  const codes = code === undefined ? undefined : AREAS.get(code);
  if (codes === undefined) {
    return `${JSON.stringify(item)} is not a UN M.49 code; write one code of a country or an area, such as 398 or "143".`;
  }
  const beyond = codes.find((each) => each > max);
  if (beyond !== undefined)
    return `M.49 code ${beyond} needs more bits than the slice has; make the slice 10 bits wide.`;
  return codes.flatMap((each) => [each, each]);
};

const MEMBERS: ReadonlyMap<number, readonly number[]> = new Map(M49_AREAS.map(([area = 0, ...codes]) => [area, codes]));

const codesIn = (area: number): readonly number[] => [area, ...(MEMBERS.get(area) ?? []).flatMap(codesIn)];

/** The area of M.49 that has all others in it. */
const WORLD = 1;

/** Every code, with itself and all codes below it. */
const AREAS: ReadonlyMap<number, readonly number[]> = new Map(
  codesIn(WORLD).map((code) => [code, codesIn(code).toSorted((a, b) => a - b)]),
);
