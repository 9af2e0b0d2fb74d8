import { everyLayout, type Layout, type LayoutTable, type TimeUnit, type Words } from "../../../src/ids/index.ts";
import { slowDecode } from "../oracle.ts";

/**
 * A slow, obvious judge of client IDs, in exact integers and single steps; and the IDs around every edge. Together they
 * are test/vectors/client-id.json.
 */

export interface ClientIdWindowCase {
  readonly layout: string;
  readonly nowMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly clientNowMs?: number;
  readonly clockSkewMaxMs?: number;
  /** Each ID and its verdict. */
  readonly ids: readonly string[];
}

type Clock = Omit<ClientIdWindowCase, "layout" | "ids">;

export type Verdict = "fresh" | "too-old" | "too-new" | "clock-too-far";

const MS_NANOSECONDS = 1_000_000n;
const UNIT_NANOSECONDS: Readonly<Record<Exclude<TimeUnit, "sql-datetime">, bigint>> = {
  s: 1000n * MS_NANOSECONDS,
  "10ms": 10n * MS_NANOSECONDS,
  ms: MS_NANOSECONDS,
  "10us": 10_000n,
  us: 1000n,
  "100ns": 100n,
  ns: 1n,
};

/** The quotient rounded down, for a negative dividend too. */
const floorOf = (dividend: bigint, divisor: bigint): bigint => {
  let quotient = dividend / divisor;
  while (quotient * divisor > dividend) quotient -= 1n;
  return quotient;
};

/** How a layout counts time: its unit as a fraction of seconds, and what its epoch is. */
const unitOf = ({ rows }: LayoutTable) => {
  const row = rows.find(({ role }) => role === "time");
  if (row?.role !== "time") return undefined;
  const perSecond = row.unit === "sql-datetime" ? 300n : undefined;
  const nanoseconds = perSecond === undefined ? UNIT_NANOSECONDS[row.unit as "ms"] : 0n;
  return { field: row.field, unit: row.unit, epochMs: BigInt(row.epochMs), nanoseconds };
};

type Unit = NonNullable<ReturnType<typeof unitOf>>;

/** The last unit that starts at or before a millisecond. */
const unitAt = ({ unit, epochMs, nanoseconds }: Unit, unixMs: bigint): bigint => {
  const sinceMs = unixMs - epochMs;
  return unit === "sql-datetime" ? floorOf(sinceMs * 300n, 1000n) : floorOf(sinceMs * MS_NANOSECONDS, nanoseconds);
};

/** Units finer than a millisecond count as their millisecond, because clocks read no more. */
const comparable = (unit: Unit, units: bigint): bigint =>
  unit.unit !== "sql-datetime" && unit.nanoseconds < MS_NANOSECONDS
    ? floorOf(units * unit.nanoseconds, MS_NANOSECONDS)
    : units;

const SQL_DAY = 2n ** 32n;
const SQL_DAY_UNITS = 25_920_000n;

/** The units that an ID contains. */
const unitsOf = (unit: Unit, value: bigint): bigint =>
  unit.unit === "sql-datetime" ? (value / SQL_DAY) * SQL_DAY_UNITS + (value % SQL_DAY) : value;

const fieldValueOf = (unit: Unit, units: bigint): bigint =>
  unit.unit === "sql-datetime" ? (units / SQL_DAY_UNITS) * SQL_DAY + (units % SQL_DAY_UNITS) : units;

const RING = 65_536n;
const MINUTE_MS = 60_000n;

const onRing = (interval: bigint): number => Number(((interval % RING) + RING) % RING);

/** Every counter's verdict: first the window from end to end, then outwards on both sides, the older one first. */
const ringVerdicts = (fromMs: bigint, toMs: bigint): readonly Verdict[] => {
  const verdicts: Verdict[] = [];
  const first = floorOf(fromMs, MINUTE_MS);
  const last = floorOf(toMs, MINUTE_MS);
  for (let interval = first; interval <= last; interval++) verdicts[onRing(interval)] = "fresh";
  for (let steps = 1n; steps < RING; steps++) {
    verdicts[onRing(first - steps)] ??= "too-old";
    verdicts[onRing(last + steps)] ??= "too-new";
  }
  return verdicts;
};

/** The clock that counts, or `undefined` if the client's is too far from ours. */
const clockOf = ({ nowMs, clientNowMs, clockSkewMaxMs = 0 }: Clock): bigint | undefined => {
  if (clientNowMs === undefined) return BigInt(nowMs);
  const skew = BigInt(clientNowMs) - BigInt(nowMs);
  return (skew < 0n ? -skew : skew) > BigInt(clockSkewMaxMs) ? undefined : BigInt(clientNowMs);
};

type Judge = (words: Words) => Verdict;

const judgeOf = ({ table }: Layout, clock: Clock): Judge => {
  const counts = clockOf(clock);
  if (counts === undefined) return () => "clock-too-far";
  const fromMs = counts - BigInt(clock.beforeMs);
  const toMs = counts + BigInt(clock.afterMs);
  const unit = unitOf(table);
  if (unit === undefined) {
    const verdicts = ringVerdicts(fromMs, toMs);
    return (words) => verdicts[Number(slowDecode(table, words)["interval"])] as Verdict;
  }
  const [from, to] = [fromMs, toMs].map((unixMs) => comparable(unit, unitAt(unit, unixMs))) as [bigint, bigint];
  return (words) => {
    const said = comparable(unit, unitsOf(unit, slowDecode(table, words)[unit.field] as bigint));
    if (said < from) return "too-old";
    return said > to ? "too-new" : "fresh";
  };
};

/** The units around an instant: of coarse layouts a few, of fine ones those at both ends of three milliseconds. */
const around = (unit: Unit, unixMs: bigint): readonly bigint[] => {
  const units = unitAt(unit, unixMs);
  if (comparable(unit, units) === units) return [-2n, -1n, 0n, 1n, 2n].map((step) => units + step);
  const perMs = MS_NANOSECONDS / unit.nanoseconds;
  return [-perMs - 1n, -perMs, -1n, 0n, perMs - 1n, perMs, 2n * perMs].map((step) => units + step);
};

const STEPS = [-3n, -2n, -1n, 0n, 1n, 2n, 3n];

/** The time values to try: around both ends and the clock, and the farthest. */
const valuesOf = (layout: Layout, clock: Clock): readonly bigint[] => {
  const counts = BigInt(clock.clientNowMs ?? clock.nowMs);
  const fromMs = counts - BigInt(clock.beforeMs);
  const toMs = counts + BigInt(clock.afterMs);
  const unit = unitOf(layout.table);
  if (unit === undefined) {
    const first = floorOf(fromMs, MINUTE_MS);
    const last = floorOf(toMs, MINUTE_MS);
    const farthest = last + (RING - (last - first)) / 2n;
    const near = [first, last, farthest].flatMap((interval) => STEPS.map((step) => interval + step));
    return [...near, floorOf(counts, MINUTE_MS), 0n, 1n, RING - 2n, RING - 1n].map((each) => BigInt(onRing(each)));
  }
  const near = [fromMs, counts, toMs].flatMap((unixMs) => around(unit, unixMs));
  return [...near.filter((units) => units >= 0n).map((units) => fieldValueOf(unit, units)), 0n];
};

/** Other fields of the IDs: bits that differ from ID to ID. */
const mixed = (bits: number, max: bigint, turn: number): bigint => {
  const value = BigInt.asUintN(bits, 0x9e3779b97f4a7c15f39cc0605cedc835n * BigInt(turn + 1));
  return value > max ? max : value;
};

const idsOf = (layout: Layout, clock: Clock): readonly Words[] => {
  const field = unitOf(layout.table)?.field ?? "interval";
  return [...new Set(valuesOf(layout, clock))].flatMap((value, turn) => {
    const others = layout.fields
      .filter(({ role, name }) => role !== "fixed" && name !== field)
      .map(({ name, bits, max }) => [name, mixed(bits, BigInt(max), turn)]);
    const encoded = layout.encode(Object.fromEntries([...others, [field, value]]));
    return encoded.ok && layout.fits(encoded.value) ? [encoded.value] : [];
  });
};

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 22, 22, 43, 10, 270);
const SECOND = Date.UTC(2026, 10, 22, 22, 43, 10);

const TIME_CLOCKS: readonly Clock[] = [
  { nowMs: NOW, beforeMs: 5 * MINUTE, afterMs: MINUTE },
  { nowMs: NOW, beforeMs: 0, afterMs: 0 },
  { nowMs: SECOND, beforeMs: 1, afterMs: 999 },
  { nowMs: SECOND - 1, beforeMs: 999, afterMs: 1 },
  { nowMs: SECOND + 1, beforeMs: 1, afterMs: 5 },
  { nowMs: NOW, beforeMs: 30 * DAY, afterMs: 0 },
  { nowMs: NOW, beforeMs: 60 * 366 * DAY, afterMs: DAY },
  { nowMs: Date.UTC(2027, 0, 1), beforeMs: 7, afterMs: 3 },
  { nowMs: NOW, beforeMs: 5 * MINUTE, afterMs: MINUTE, clientNowMs: NOW - DAY, clockSkewMaxMs: DAY },
  { nowMs: NOW, beforeMs: 5 * MINUTE, afterMs: MINUTE, clientNowMs: NOW + DAY, clockSkewMaxMs: DAY },
  { nowMs: NOW, beforeMs: 5 * MINUTE, afterMs: MINUTE, clientNowMs: NOW - DAY - 1, clockSkewMaxMs: DAY },
  { nowMs: NOW, beforeMs: 5 * MINUTE, afterMs: MINUTE, clientNowMs: NOW + DAY + 1, clockSkewMaxMs: DAY },
  { nowMs: NOW, beforeMs: 5 * MINUTE, afterMs: MINUTE, clientNowMs: NOW },
];

const RING_MS = 65_536 * MINUTE;

/** The rollover between October and December 2026, its neighbour, and the first one. */
const ROLLOVERS = [Date.UTC(2026, 9, 27, 1, 36), Date.UTC(2026, 11, 11, 13, 52), RING_MS, 0];

const RING_TOLERANCES = [
  { beforeMs: 5 * MINUTE, afterMs: MINUTE },
  { beforeMs: 10 * MINUTE, afterMs: 10 * MINUTE },
  { beforeMs: 0, afterMs: 0 },
  { beforeMs: MINUTE - 1, afterMs: 1 },
  { beforeMs: 65_534 * MINUTE, afterMs: 0 },
  { beforeMs: 32_768 * MINUTE - 1, afterMs: 32_766 * MINUTE + 1 },
];

const ringClocks = (): readonly Clock[] =>
  ROLLOVERS.flatMap((rolloverMs) =>
    RING_TOLERANCES.flatMap(({ beforeMs, afterMs }) => {
      const ends = [rolloverMs, rolloverMs + beforeMs, rolloverMs - afterMs];
      const around = [...new Set(ends.flatMap((endMs) => [endMs - 1, endMs, endMs + MINUTE - 1]))];
      const own = around.map((nowMs) => ({ nowMs, beforeMs, afterMs }));
      const skewed = { nowMs: NOW, beforeMs, afterMs, clientNowMs: rolloverMs };
      const skew = Math.abs(NOW - rolloverMs);
      const tooFar = beforeMs === 0 ? [{ ...skewed, clockSkewMaxMs: skew - 1 }] : [];
      return [...own, { ...skewed, clockSkewMaxMs: skew }, ...tooFar];
    }),
  );

/** Every window with its IDs. */
export const clientIdCases = (): readonly ClientIdWindowCase[] =>
  everyLayout.flatMap((layout) => {
    const isRing = layout.name.startsWith("short-");
    if (!isRing && unitOf(layout.table) === undefined) return [];
    return (isRing ? ringClocks() : TIME_CLOCKS).map((clock) => {
      const judge = judgeOf(layout, clock);
      const ids = idsOf(layout, clock).map((words) => `${layout.format(words)} ${judge(words)}`);
      return { layout: layout.name, ...clock, ids };
    });
  });
