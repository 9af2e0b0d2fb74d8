import { type KeyRange, parseKeyRange } from "../../../ids/tools/key-range.ts";
import { escapeControls, formatCount } from "../../lib/output.ts";
import { fail } from "../../runtime.ts";

export type Ranges = ReadonlyMap<string, KeyRange>;

/** Reads `eu=0/4,us=1/4`: each region with its gateway's SEQUENCE_RANGE. */
export const rangesOf = (text: string): Ranges => {
  const ranges = new Map<string, KeyRange>();
  for (const part of text.split(",")) {
    const [, region, spelled = ""] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    const range = parseKeyRange(spelled);
    const shown = escapeControls(part);
    if (region === undefined || range === undefined) return fail(`error: --ranges: ${shown} is not like eu=0/4\n`);
    if (ranges.has(region)) return fail(`error: --ranges: ${escapeControls(region)} is named twice\n`);
    ranges.set(region, range);
  }
  return ranges;
};

/** Regions whose ranges share keys, as sentences. */
export const overlapsIn = (ranges: Ranges): readonly string[] => {
  const all = [...ranges];
  return all.flatMap(([region, range], at) =>
    all.slice(at + 1).flatMap(([other, { first, last }]) => {
      const [from, to] = [Math.max(range.first, first), Math.min(range.last, last)];
      return from > to ? [] : [`${region} and ${other} share the keys ${formatCount(from)} to ${formatCount(to)}`];
    }),
  );
};

export const isOutside = (range: KeyRange | undefined, primaryKey: number): boolean =>
  range !== undefined && (primaryKey < range.first || primaryKey > range.last);
