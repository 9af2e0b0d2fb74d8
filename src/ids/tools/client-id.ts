import type { Layout, Words } from "../layout/layout.ts";
import { timeRowOf, timeToldBy } from "../layout/time.ts";
import { fieldOf } from "../layout/words.ts";
import { COMB_RING, intervalAt } from "../mint/short-comb.ts";
import { err, ok, type Result } from "../result.ts";

/** Freshness of IDs that clients make themselves: by the ID's time, or by its place on the ring of short COMBs. */

/** How far from the clock an ID may be minted: both ends are inclusive, in whole milliseconds. */
export interface ClientIdTolerance {
  readonly beforeMs: number;
  readonly afterMs: number;
}

export interface ClientIdClock extends ClientIdTolerance {
  /** Our own clock. */
  readonly nowMs: number;
  /** The client's own clock, for batches and late retries. If present, it replaces ours. */
  readonly clientNowMs?: number | undefined;
  /** How far the client's clock may differ from ours, inclusive. Absent: 0. */
  readonly clockSkewMaxMs?: number | undefined;
}

/**
 * Times of a fresh ID, both ends inclusive: the times that the layout gives to IDs minted at the ends of the
 * tolerance. A layout of whole seconds rounds both down.
 */
export interface ClientIdWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** Short COMBs: the counters at both ends. `from` is the greater one in a window across the rollover. */
  readonly ring?: { readonly from: number; readonly to: number };
}

export interface FreshClientId {
  /** For a short COMB: the start of its interval, which is unique within the window. */
  readonly mintedAtMs: number;
  /** The counter of a short COMB. */
  readonly interval?: number;
  /** Before the clock that counts; negative: after it. */
  readonly ageMs: number;
  readonly window: ClientIdWindow;
}

/**
 * Why an ID is not fresh. On the ring, `too-old` and `too-new` name the nearer end of the window. `clientNowMs`: set if
 * it was the clock that counts.
 */
export interface OutsideClientIdWindow {
  readonly reason: "too-old" | "too-new";
  readonly layout: string;
  /** The counter of a short COMB, because a time is known only within the window. A time beyond 2^53 - 1 is `undefined`. */
  readonly said: { readonly mintedAtMs: number | undefined } | { readonly interval: number };
  readonly window: ClientIdWindow;
  readonly nowMs: number;
  readonly clientNowMs?: number;
}

/** The client's clock differs from ours by more than its limit. */
export interface ClientClockTooFar {
  readonly reason: "clock-too-far";
  readonly nowMs: number;
  readonly clientNowMs: number;
  readonly clockSkewMaxMs: number;
}

export type StaleClientId = OutsideClientIdWindow | ClientClockTooFar;

/** `no-time`: IDs of the layout contain neither a time nor a counter of intervals. */
export type ClientIdError = StaleClientId | { readonly reason: "no-time"; readonly layout: string };

/** Why a tolerance cannot be declared for a layout. `too-wide`: the ring is too small, the sum may be `sumMaxMs`. */
export type ClientIdWindowFault =
  | { readonly reason: "no-time"; readonly layout: string }
  | { readonly reason: "duration"; readonly member: keyof ClientIdTolerance; readonly value: number }
  | { readonly reason: "too-wide"; readonly layout: string; readonly sumMs: number; readonly sumMaxMs: number };

/** At least one counter of the ring is refused, wherever in its interval the clock is. */
const ringSumMaxMs = (intervalMs: number): number => (COMB_RING - 2) * intervalMs;

/** The fault of a declared tolerance, or `undefined`. */
export const clientIdWindowFault = (
  layout: Layout,
  { beforeMs, afterMs }: ClientIdTolerance,
): ClientIdWindowFault | undefined => {
  if (!hasRing(layout) && layout.mintedAtMs === undefined) return { reason: "no-time", layout: layout.name };
  for (const [member, value] of Object.entries({ beforeMs, afterMs })) {
    if (!isDuration(value)) return { reason: "duration", member: member as keyof ClientIdTolerance, value };
  }
  const sumMs = beforeMs + afterMs;
  const { intervalMs } = layout.table;
  if (intervalMs === undefined || sumMs <= ringSumMaxMs(intervalMs)) return undefined;
  return { reason: "too-wide", layout: layout.name, sumMs, sumMaxMs: ringSumMaxMs(intervalMs) };
};

/**
 * Whether an ID of the layout is fresh. Throws a `RangeError` for a tolerance with a `clientIdWindowFault`, and for
 * clocks that are not whole milliseconds.
 */
export const judgeClientId = (
  layout: Layout,
  words: Words,
  clock: ClientIdClock,
): Result<FreshClientId, ClientIdError> => {
  const { nowMs, clientNowMs, clockSkewMaxMs = 0 } = clock;
  const fault = clientIdWindowFault(layout, clock);
  if (fault?.reason === "no-time") return err(fault);
  if (fault !== undefined) throw new RangeError(`the tolerance of client IDs: ${JSON.stringify(fault)}`);
  if (!Number.isSafeInteger(nowMs) || !Number.isSafeInteger(clientNowMs ?? nowMs) || !isDuration(clockSkewMaxMs)) {
    throw new RangeError(`clocks must be whole milliseconds: ${nowMs}, ${clientNowMs}, ${clockSkewMaxMs}`);
  }
  if (clientNowMs !== undefined && Math.abs(clientNowMs - nowMs) > clockSkewMaxMs) {
    return err({ reason: "clock-too-far", nowMs, clientNowMs, clockSkewMaxMs });
  }
  const countsMs = clientNowMs ?? nowMs;
  const { reason, said, mintedAtMs, window } = hasRing(layout)
    ? placeOnRing(layout, words, countsMs, clock)
    : placeInTime(layout, words, countsMs, clock);
  if (reason !== undefined) {
    const clocks = clientNowMs === undefined ? { nowMs } : { nowMs, clientNowMs };
    return err({ reason, layout: layout.name, said, window, ...clocks });
  }
  return ok({ ...("interval" in said ? said : {}), mintedAtMs, ageMs: countsMs - mintedAtMs, window });
};

/** A declared layout may have a field of the same name, so the table decides. */
const hasRing = ({ table }: Layout): boolean => table.intervalMs !== undefined;

const isDuration = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= 0;

interface Placed extends Pick<OutsideClientIdWindow, "said" | "window"> {
  readonly reason: OutsideClientIdWindow["reason"] | undefined;
  readonly mintedAtMs: number;
}

const placeInTime = (
  layout: Layout,
  words: Words,
  countsMs: number,
  { beforeMs, afterMs }: ClientIdTolerance,
): Placed => {
  const row = timeRowOf(layout.table) as NonNullable<ReturnType<typeof timeRowOf>>;
  const mintedAtMs = (layout.mintedAtMs as NonNullable<Layout["mintedAtMs"]>)(words);
  const window = { fromMs: timeToldBy(row, countsMs - beforeMs), toMs: timeToldBy(row, countsMs + afterMs) };
  const said = { mintedAtMs };
  if (mintedAtMs === undefined) return { reason: "too-new", said, mintedAtMs: Number.POSITIVE_INFINITY, window };
  const late = mintedAtMs > window.toMs ? "too-new" : undefined;
  return { reason: mintedAtMs < window.fromMs ? "too-old" : late, said, mintedAtMs, window };
};

const placeOnRing = (
  layout: Layout,
  words: Words,
  countsMs: number,
  { beforeMs, afterMs }: ClientIdTolerance,
): Placed => {
  const interval = fieldOf(layout, "interval").read(words);
  const intervalMs = layout.table.intervalMs as number;
  const startOf = (unixMs: number): number => Math.floor(unixMs / intervalMs) * intervalMs;
  const fromMs = startOf(countsMs - beforeMs);
  const toMs = startOf(countsMs + afterMs);
  const [from, to] = [fromMs, toMs].map((unixMs) => intervalAt(unixMs, intervalMs)) as [number, number];
  const ahead = (interval - from + COMB_RING) % COMB_RING;
  const beyond = ahead - (toMs - fromMs) / intervalMs;
  const nearer = beyond < COMB_RING - ahead ? "too-new" : "too-old";
  return {
    reason: beyond <= 0 ? undefined : nearer,
    said: { interval },
    mintedAtMs: fromMs + ahead * intervalMs,
    window: { fromMs, toMs, ring: { from, to } },
  };
};
