import { KNOWN_NAMES_MAX } from "../limits.ts";

/** Regions by value, as a source lists them: a whole value first, then the longest prefix. */

export type RegionByValue = ReadonlyMap<string, string>;

/** `wider`: the longest of the other prefixes that it begins with. */
interface Prefix {
  readonly text: string;
  readonly region: string;
  readonly wider: Prefix | undefined;
}

/** Sorted by text. */
export type Prefixes = readonly Prefix[];

export interface Listed {
  readonly regions: RegionByValue;
  /** Absent where none is listed: most sources have none. */
  readonly prefixes: Prefixes | undefined;
  /** Whether a value that is not listed goes on to the next source. */
  readonly goesOn: boolean;
}

export function prefixesOf(regions: RegionByValue): Prefixes {
  const prefixes: Prefix[] = [];
  for (const [text, region] of [...regions].sort(([a], [b]) => (a < b ? -1 : 1))) {
    // Those that a text begins with precede it, with only longer ones of the same kind between them.
    let wider = prefixes.at(-1);
    while (wider !== undefined && !text.startsWith(wider.text)) wider = wider.wider;
    prefixes.push({ text, region, wider });
  }
  return prefixes;
}

/** The longest prefix of a value. A binary search finds the last one that is not greater; each other prefix of the value is one of that, too. */
export function prefixOf(prefixes: Prefixes, value: string): Prefix | undefined {
  let low = 0;
  let high = prefixes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((prefixes[middle] as Prefix).text <= value) low = middle + 1;
    else high = middle;
  }
  let found = prefixes[low - 1];
  while (found !== undefined && !value.startsWith(found.text)) found = found.wider;
  return found;
}

export const regionFor = ({ regions, prefixes }: Listed, value: string): string | undefined =>
  regions.get(value) ?? (prefixes && prefixOf(prefixes, value)?.region);

/** The first values for a problem, and how many more there are. A prefix has an asterisk. */
export function knownOf({ regions, prefixes = [] }: Listed): {
  readonly known: readonly string[];
  readonly more?: number;
} {
  const known: string[] = [];
  for (const value of regions.keys()) if (known.push(value) === KNOWN_NAMES_MAX) break;
  for (const { text } of prefixes) if (known.length < KNOWN_NAMES_MAX) known.push(`${text}*`);
  const more = regions.size + prefixes.length - known.length;
  return more === 0 ? { known } : { known, more };
}
