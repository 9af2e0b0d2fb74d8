import type { Load } from "../../ids/index.ts";
import { ownOf } from "../app/own.ts";
import { countText, longText, percentText, plural, wholeText } from "../app/words.ts";

/** How long a layout lasts for a load, and how likely two of its IDs are equal, in words. */

const NUMBERS: Readonly<Record<string, string>> = {
  country: "Country numbers",
  service: "Service numbers",
  group: "Groups",
  shardKey: "Shard keys with a route",
};

/** Values of a field that the table uses. */
export const numbersOf = (field: string): string => ownOf(NUMBERS, field) ?? `Values of ${field}`;

/** `2,000 IDs a second by 10 minters, for 10 years`. */
export const loadText = ({ idsPerSecond, minters, years }: Load): string =>
  `${plural(idsPerSecond, "ID")} a second by ${plural(minters, "minter")}, for ${plural(years, "year")}`;

const YEAR_MS = 31_557_600_000;

/** A year of our calendar, or how many years after it began. */
export const yearOf = (ms: number | undefined): string => {
  if (ms === undefined) return "a year beyond all counting";
  const year = new Date(ms).getUTCFullYear();
  return Number.isNaN(year) ? `the year ${countText(1970 + Math.floor(ms / YEAR_MS))}` : `the year ${year}`;
};

/** `8,863 years`. */
export const yearsLeft = (endMs: number | undefined, nowMs: number): string =>
  endMs === undefined ? "no end is known" : plural(Math.max(0, Math.floor((endMs - nowMs) / YEAR_MS)), "year");

export const durationOf = (seconds: number): string => {
  const years = (seconds * 1000) / YEAR_MS;
  return years >= 2 ? `${countText(years)} years at this rate` : `${countText(seconds / 86_400)} days at this rate`;
};

/** `1 chance in 114,000`: three digits, and beyond billions in words. */
export const oddsOf = (probability: number): string => {
  if (probability >= 0.01) return percentText(probability);
  const one = Number((1 / probability).toPrecision(3));
  return probability === 0 ? "no chance" : `1 chance in ${one < 1e9 ? wholeText(one) : longText(one)}`;
};
