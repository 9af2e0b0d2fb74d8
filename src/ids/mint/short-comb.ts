import type { Layout, Words } from "../layout/layout.ts";
import { fieldOf } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import { type MintError, type RandomWords, randomValue } from "./mint.ts";

/**
 * Short COMBs: a 16-bit counter of intervals since 1970 that wraps after 65,536, or 45.5 days of minutes. The minting
 * time is known only modulo the wrap, which suffices to check new IDs, but not to route by time. Source: uuid-creator,
 * commit 3f41c3e; klokwrk. `layout` is `shortPrefixComb` or `shortSuffixComb`.
 */

export const SHORT_COMB_INTERVAL_MS = 60_000;

/** Counters on the ring. */
export const COMB_RING = 65_536;

/** The counter at an instant: 0 to 65535. */
export const intervalAt = (unixMs: number, intervalMs: number): number => {
  const intervals = Math.floor(unixMs / intervalMs);
  return ((intervals % COMB_RING) + COMB_RING) % COMB_RING;
};

/** How far from now an ID may be minted, both ends inclusive. Their sum is less than the ring. */
export interface CombWindow {
  readonly intervalMs: number;
  readonly pastIntervals: number;
  readonly futureIntervals: number;
}

/**
 * klokwrk's default for client input: ten minutes either way. A random UUID version 4 passes with probability 21 /
 * 65,536.
 */
export const DEFAULT_COMB_WINDOW: CombWindow = {
  intervalMs: SHORT_COMB_INTERVAL_MS,
  pastIntervals: 10,
  futureIntervals: 10,
};

/** An ID's position on the ring: `delta` intervals after now, from -32768 to 32767. */
export interface CombPlace {
  readonly interval: number;
  readonly nowInterval: number;
  readonly delta: number;
}

export type CombCheckError =
  | ({ readonly reason: "outside-window" } & CombPlace)
  | { readonly reason: "window"; readonly window: CombWindow }
  | { readonly reason: "no-interval"; readonly layout: string };

/** Whether an ID of the layout was minted around `nowMs`: the gateway's clock, or the time that a batch declares. */
export const checkShortComb = (
  layout: Layout,
  words: Words,
  nowMs: number,
  window: CombWindow = DEFAULT_COMB_WINDOW,
): Result<CombPlace, CombCheckError> => {
  const field = layout.field("interval");
  if (field?.max !== COMB_RING - 1) return err({ reason: "no-interval", layout: layout.name });
  const { intervalMs, pastIntervals, futureIntervals } = window;
  if (!isWindow(window) || !Number.isSafeInteger(nowMs)) return err({ reason: "window", window });
  const interval = field.read(words);
  const nowInterval = intervalAt(nowMs, intervalMs);
  const ahead = (interval - nowInterval + COMB_RING) % COMB_RING;
  const delta = ahead < COMB_RING / 2 ? ahead : ahead - COMB_RING;
  const inside = ahead <= futureIntervals || COMB_RING - ahead <= pastIntervals;
  const place = { interval, nowInterval, delta };
  return inside ? ok(place) : err({ reason: "outside-window", ...place });
};

const isWindow = ({ intervalMs, pastIntervals, futureIntervals }: CombWindow): boolean =>
  Number.isSafeInteger(intervalMs) &&
  intervalMs > 0 &&
  [pastIntervals, futureIntervals].every((count) => Number.isSafeInteger(count) && count >= 0) &&
  pastIntervals + futureIntervals < COMB_RING;

/**
 * A new ID. Stateless; IDs are ordered only by interval. Error: `key-out-of-range` for an invalid clock or interval.
 */
export const mintShortComb = (
  layout: Layout,
  nowMs: number,
  entropy: RandomWords,
  intervalMs = layout.table.intervalMs ?? SHORT_COMB_INTERVAL_MS,
): Result<Words, MintError> => {
  if (!Number.isSafeInteger(intervalMs) || intervalMs < 1) return err(outOfRange("intervalMs", intervalMs));
  if (!Number.isSafeInteger(nowMs)) return err(outOfRange("nowMs", nowMs));
  const words = layout.fixed.value.slice();
  fieldOf(layout, "interval").write(words, intervalAt(nowMs, intervalMs));
  const random = fieldOf(layout, "random");
  random.write(words, randomValue(random, entropy));
  return ok(words);
};

const outOfRange = (field: string, value: number): MintError => ({
  reason: "key-out-of-range",
  field,
  value: String(value),
  max: String(Number.MAX_SAFE_INTEGER),
});
