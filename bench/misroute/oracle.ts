import type { LayoutTable, Words } from "../../src/ids/index.ts";
import { bigToWords } from "../../src/ids/layout/words.ts";
import { slowHolds, slowMintedAtMs } from "../../test/ids/oracle.ts";
import { slowPart, slowPlace } from "../../test/routing/resolve/slow-canary.ts";
import { PACKS } from "./packs.ts";
import { type Reader, readersOf } from "./readers.ts";
import {
  CANARY_PERCENT,
  NOW_MS,
  SPLIT_PARTS,
  SUBJECTS,
  type Subject,
  WINDOW_AHEAD_MS,
  WINDOW_FROM_MS,
} from "./subjects.ts";

/** A slow, obvious resolver: texts by patterns, bits by whole numbers, routes by the subject's own definition. */

/** A layout's reading of a text. */
export interface SlowReading {
  readonly subject: Subject;
  readonly form: string;
  /** `undefined` if no route matches. */
  readonly region: string | undefined;
}

/** The region of an ID by its layout's routes. `key`: the value of the field that routes depend on. */
export type SlowRoutes = (
  subject: Subject,
  words: Words,
  mintedMs: number | undefined,
  key: bigint | undefined,
) => string | undefined;

const READERS = new Map(SUBJECTS.map((subject) => [subject, readersOf(subject.layout)]));

/** All subjects and forms that can parse a text, by bits and time. */
export const slowReadings = (
  subjects: readonly Subject[],
  text: string,
  routes: SlowRoutes,
): readonly SlowReading[] => {
  const values = new Map<Reader, bigint | undefined>();
  const readings: SlowReading[] = [];
  for (const subject of subjects) {
    for (const [form, reader] of READERS.get(subject) ?? []) {
      if (!values.has(reader)) values.set(reader, reader(text));
      const value = values.get(reader);
      const fields = value === undefined ? undefined : fieldsOf(subject.layout.table, value);
      if (fields === undefined) continue;
      const mintedAtMs = slowMintedAtMs(subject.layout.table, fields);
      const mintedMs = mintedAtMs === undefined ? undefined : Number(mintedAtMs);
      if (mintedMs !== undefined && !isTimely(mintedMs)) continue;
      const words = bigToWords(value as bigint, subject.layout.fixed.value.length);
      readings.push({
        subject,
        form,
        region: routes(subject, words, mintedMs, fields[subject.key?.field.name ?? ""]),
      });
    }
  }
  return readings;
};

/**
 * The expected region of a text with these readings; `undefined` for none. A text of 16 or more digits counts only as
 * decimal or hex if it can be either. All readings that count must agree on the region.
 */
export const onlyRegion = (readings: readonly SlowReading[], text: string): string | undefined => {
  const plain = /^[0-9]{16,}$/.test(text) ? readings.filter(({ form }) => form === "decimal" || form === "hex") : [];
  const [first, ...others] = plain.length > 0 ? plain : readings;
  return others.every(({ region }) => region === first?.region) ? first?.region : undefined;
};

/** The routes that `byRegions` declares. */
export const slowByRegions: SlowRoutes = ({ name, layout, cutMs, key }, words, mintedMs, value) => {
  if (cutMs !== undefined && mintedMs !== undefined && mintedMs < cutMs) return `${name}-old`;
  const orCanary = (region: string): string =>
    slowPlace(layout, words) * 100 < CANARY_PERCENT ? `${name}-canary` : region;
  if (key === undefined) return orCanary(`${name}-all`);
  const third = BigInt(key.third);
  if (value === undefined || value >= 2n * third) return undefined;
  return value < third ? orCanary(`${name}-low`) : `${name}-high`;
};

/** The routes that `byPacksAndSplits` declares: linear search of ranges, and parts by a textbook hash. */
export const slowByPacksAndSplits: SlowRoutes = ({ name, layout, cutMs, key }, words, mintedMs, value) => {
  if (cutMs !== undefined && mintedMs !== undefined && mintedMs < cutMs) return `${name}-old`;
  if (value !== undefined) {
    for (const { from, to, region } of PACKS.get(name)?.ranges ?? []) {
      if (value >= BigInt(from) && value <= BigInt(to)) return region;
    }
  }
  if (key !== undefined && (value === undefined || value >= 2n * BigInt(key.third))) return undefined;
  return ["0", "1", "0", "1", "0"].map((each) => `${name}-part-${each}`)[slowPart(layout, words, SPLIT_PARTS)];
};

const isTimely = (mintedMs: number): boolean => mintedMs >= WINDOW_FROM_MS && mintedMs <= NOW_MS + WINDOW_AHEAD_MS;

/** All fields of a whole number; `undefined` if a fixed field or a bound rules the ID out. */
const fieldsOf = (table: LayoutTable, value: bigint): Readonly<Record<string, bigint>> | undefined => {
  if (value < BigInt(table.least ?? 0)) return undefined;
  let rest = inRowOrder(table, value);
  const fields: Record<string, bigint> = {};
  const widths: Record<string, bigint> = {};
  for (const row of table.rows.toReversed()) {
    const bits = BigInt(row.bits);
    const part = rest & ((1n << bits) - 1n);
    rest >>= bits;
    if (row.role === "fixed" && part !== BigInt(row.value)) return undefined;
    const below = widths[row.field] ?? 0n;
    fields[row.field] = (fields[row.field] ?? 0n) + (part << below);
    widths[row.field] = below + bits;
  }
  return rest === 0n && table.rows.every((row) => slowHolds(row, fields[row.field] ?? 0n)) ? fields : undefined;
};

const inRowOrder = ({ octetOrder, text }: LayoutTable, value: bigint): bigint => {
  if (octetOrder === undefined) return value;
  const bytes =
    value
      .toString(16)
      .padStart(text.bits / 4, "0")
      .match(/../g) ?? [];
  return BigInt(`0x${octetOrder.map((place) => bytes[place]).join("")}`);
};
