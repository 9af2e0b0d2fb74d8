import { M49_PARENTS } from "./m49.ts";
import { type Ranges, rangesOf } from "./ranges.ts";
import type { DeclaredNumbers } from "./schema.ts";

/** What the table says instead of numbers: why, and which item of an array it is. */
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

/** Reads UN M.49 codes: an area takes itself and every code beneath it. */
export const readM49 = (declared: DeclaredNumbers, max: number): NumbersReading => {
  // An area has hundreds of codes, so one that stands in a list thousands of times is read once.
  const seen = new Set<number | string>();
  return readItems(declared, (item) => {
    if (seen.has(item)) return [];
    const read = readArea(item, max);
    if (typeof read !== "string") seen.add(item);
    return read;
  });
};

type Pair = readonly [low: number, high: number];

const readItems = (
  declared: DeclaredNumbers,
  readItem: (item: number | string) => readonly Pair[] | string,
): NumbersReading => {
  const pairs: Pair[] = [];
  const faults: NumbersFault[] = [];
  const items = Array.isArray(declared) ? declared : [declared];
  for (const [index, item] of items.entries()) {
    const read = readItem(item);
    if (typeof read === "string") faults.push({ item: Array.isArray(declared) ? index : undefined, message: read });
    else for (const pair of read) pairs.push(pair);
  }
  return { ranges: rangesOf(pairs), faults };
};

const readRange = (item: number | string, max: number): readonly Pair[] | string => {
  const bounds = String(item).split("-").map(readDecimal);
  const [low, high] = [bounds[0], bounds.at(-1)];
  if (low === undefined || high === undefined || bounds.length > 2) {
    return `${JSON.stringify(item)} is not a decimal number or range without leading zeros, such as "0-1023"; rewrite it.`;
  }
  if (low > high) return `${JSON.stringify(item)} runs backwards; write "${high}-${low}".`;
  if (high > max) return `${JSON.stringify(item)} is beyond ${max}, the greatest value that the field holds; lower it.`;
  return [[low, high]];
};

const readDecimal = (text: string): number | undefined => {
  const value = Number(text);
  return /^(0|[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
};

const readArea = (item: number | string, max: number): readonly Pair[] | string => {
  // The standard writes codes with three digits, so "002" is one code and its usual spelling.
  const code = /^[0-9]{1,3}$/.test(String(item)) ? Number(item) : undefined;
  const codes = code === undefined ? undefined : AREAS.get(code);
  if (codes === undefined) {
    return `${JSON.stringify(item)} is not a UN M.49 code; write one code of a country or an area, such as 398 or "143".`;
  }
  const beyond = codes.find((each) => each > max);
  if (beyond !== undefined)
    return `M.49 code ${beyond} needs more bits than the slice has; make the slice 10 bits wide.`;
  return codes.map((each) => [each, each] as const);
};

/** Every code with itself and all codes beneath it. */
const AREAS: ReadonlyMap<number, readonly number[]> = (() => {
  const areas = new Map<number, number[]>([...M49_PARENTS.keys()].map((code) => [code, []]));
  for (const code of M49_PARENTS.keys()) {
    for (let area: number | undefined = code; area !== undefined; area = M49_PARENTS.get(area))
      areas.get(area)?.push(code);
  }
  return areas;
})();
