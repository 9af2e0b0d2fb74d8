import type { Field, Layout, TimeUnit } from "../layout/layout.ts";
import { EVEN_UNITS, exactMs, SQL_DAY, SQL_TICKS_A_DAY, sqlMs, timeRowOf } from "../layout/time.ts";
import { kindOf, ofRole } from "../layout/words.ts";
import { iuid } from "../layouts/builtin.ts";
import { sequenceOf, stepBits } from "../mint/by-layout.ts";
import { distributedId128Kind, distributedIdKind } from "../mint/distributed-id.ts";
import { err, ok, type Result } from "../result.ts";

/** A layout's capacity: its time range, rate and collision probability. Counts are exact to 16 digits. */

/** The expected load. All members are positive and at most 2^53 - 1; `minters` is an integer. */
export interface Load {
  /** Average rate of all minters together. */
  readonly idsPerSecond: number;
  readonly minters: number;
  /** Duration in years of 365.25 days. */
  readonly years: number;
}

export interface Capacity {
  readonly layout: string;
  /**
   * `undefined` without a time field. `firstMs`: Unix time of value 0. `endMs`: the first instant that overflows; `undefined`
   * beyond 2^53 - 1.
   */
  readonly time: { readonly field: string; readonly firstMs: number; readonly endMs: number | undefined } | undefined;
  /** A field that numbers IDs and never restarts. Its `ids` values last `seconds`. */
  readonly supply: { readonly field: string; readonly ids: number; readonly seconds: number } | undefined;
  /** The maximum rate of one minter; `undefined` if unlimited. */
  readonly rate: Rate | undefined;
  /** The fields that distinguish minters, and how many minters they allow. `undefined` if random bits do that. */
  readonly minters: { readonly fields: readonly string[]; readonly max: number } | undefined;
  /** Whether the layout allows this many minters and this rate, and no two equal random parts are too likely. */
  readonly isEnough: boolean;
  /** Expected collisions. `undefined` without random bits: distinct minters then never collide. */
  readonly collisions: Collisions | undefined;
  /** Probability that two minters pick equal random nodes; `undefined` if nodes are assigned or random bits suffice. */
  readonly sameNode: number | undefined;
  /** Probability that such minters make an equal ID, if their counters are equal too: at most `sameNode`. */
  readonly equalByNode: number | undefined;
}

/** From this probability of equal IDs over the whole period on, a layout is not enough: 1 in 1,000. */
export const COLLISION_ODDS_MAX = 1e-3;

export interface Rate {
  /** The field that distinguishes IDs within a tick; `undefined`: one ID per tick. */
  readonly field: string | undefined;
  readonly idsPerTick: number;
  readonly ticksPerSecond: number;
  readonly minterIdsPerSecond: number;
  /** Rate of all minters in the load. */
  readonly allIdsPerSecond: number;
}

export interface Collisions {
  /** Number of values of the random bits. */
  readonly values: number;
  /** Number of ticks. Only IDs of the same tick can collide. */
  readonly groups: number;
  /** Expected number of equal pairs over the whole period. */
  readonly expectedPairs: number;
  /** Probability of at least one equal pair. */
  readonly probability: number;
  /** Whether at least one equal pair is expected, and no single monotonic minter prevents it. */
  readonly areExpected: boolean;
  /** Whether the probability reaches `COLLISION_ODDS_MAX`, and no single monotonic minter prevents it. */
  readonly areTooLikely: boolean;
}

export type CapacityError =
  /** The IDs are not generated from a clock and random bits. */
  | { readonly reason: "not-mintable"; readonly layout: string }
  | { readonly reason: "load"; readonly name: keyof Load; readonly value: number };

const YEAR_SECONDS = 31_557_600;

/** The capacity of a layout for a load that starts now. */
export const capacityOf = (layout: Layout, load: Load): Result<Capacity, CapacityError> => {
  if (layout.table.minter === "none") return err({ reason: "not-mintable", layout: layout.name });
  for (const name of ["idsPerSecond", "minters", "years"] as const) {
    const value = load[name];
    const possible = value > 0 && value <= Number.MAX_SAFE_INTEGER && (name !== "minters" || Number.isInteger(value));
    if (!possible) return err({ reason: "load", name, value });
  }
  const rate = rateOf(layout, load.minters);
  const minters = mintersOf(layout);
  const supply = supplyOf(layout, load);
  const collisions = supply === undefined ? collisionsOf(layout, load) : undefined;
  return ok({
    layout: layout.name,
    time: timeOf(layout),
    supply,
    rate,
    minters,
    isEnough:
      load.minters <= (minters?.max ?? Number.POSITIVE_INFINITY) &&
      load.idsPerSecond <= (rate?.allIdsPerSecond ?? Number.POSITIVE_INFINITY) &&
      collisions?.areTooLikely !== true,
    collisions,
    ...nodeOdds(layout, load, minters),
  });
};

const timeOf = (layout: Layout): Capacity["time"] => {
  const row = timeRowOf(layout.table);
  if (row === undefined) return undefined;
  const { name, max } = layout.field(row.field) as Field;
  return { field: name, firstMs: row.epochMs, endMs: exactMs(row.epochMs + durationMs(row.unit, BigInt(max))) };
};

/** Milliseconds until the time field overflows, rounded up. */
const durationMs = (unit: TimeUnit, max: bigint): number => {
  if (unit === "sql-datetime") {
    const low = Math.min(Number(BigInt.asUintN(32, max)) + 1, SQL_TICKS_A_DAY);
    return sqlMs(Number(max >> 32n) * SQL_DAY + low);
  }
  const { ms, ticks } = EVEN_UNITS[unit];
  return Number(((max + 1n) * BigInt(ms) + BigInt(ticks) - 1n) / BigInt(ticks));
};

const ticksPerSecondOf = (unit: TimeUnit): number => {
  if (unit === "sql-datetime") return 300;
  const { ms, ticks } = EVEN_UNITS[unit];
  return (1000 / ms) * ticks;
};

/** LUUID primary keys come from one sequence per group. */
const supplyOf = (layout: Layout, { idsPerSecond }: Load): Capacity["supply"] => {
  if (layout.name !== "luuid") return undefined;
  const field = layout.field("primaryKey") as Field;
  return { field: field.name, ids: valuesOf([field]), seconds: valuesOf([field]) / idsPerSecond };
};

const rateOf = (layout: Layout, minters: number): Rate | undefined => {
  const row = timeRowOf(layout.table);
  if (row === undefined) return undefined;
  const sequence = sequenceOf(layout);
  const ticksPerSecond = ticksPerSecondOf(row.unit);
  const idsPerTick = sequence === undefined ? 1 : idsOf(layout, sequence);
  const minterIdsPerSecond = idsPerTick * ticksPerSecond;
  const allIdsPerSecond = minters * minterIdsPerSecond;
  return { field: sequence?.name, idsPerTick, ticksPerSecond, minterIdsPerSecond, allIdsPerSecond };
};

/**
 * A counter gives each value once. A random field of v values starts in its lower half and grows by steps below 2^s.
 * It has room for (v/2) / 2^(s-1) IDs: 128 per millisecond for DistributedId (v = 2^48, s = 41), as its library
 * states.
 */
const idsOf = (layout: Layout, sequence: Field): number =>
  sequence.role === "counter"
    ? valuesOf([sequence])
    : Math.max(1, valuesOf([sequence]) / 2 ** stepBitsOf(kindOf(layout), sequence.bits));

/** `mintIuid` steps by up to 2^32. */
const IUID_STEP_BITS = 32;

const stepBitsOf = (name: string, bits: number): number => {
  const kind = [distributedIdKind, distributedId128Kind].find(({ layout }) => layout.name === name);
  if (kind !== undefined) return kind.incrementBits;
  return name === iuid.name ? IUID_STEP_BITS : stepBits(bits);
};

/** Random bits distinguish minters if there are any, else node fields, else the keys. */
const mintersOf = (layout: Layout): Capacity["minters"] => {
  if (isRandom(layout)) return undefined;
  const fields = hasNodes(layout) ? ofRole(layout.fields, "node") : ofRole(layout.fields, "key");
  return fields.length === 0 ? undefined : { fields: fields.map(({ name }) => name), max: valuesOf(fields) };
};

const hasNodes = (layout: Layout): boolean => ofRole(layout.fields, "node").length > 0;

/**
 * The birthday problem. For n random IDs in m groups of d values, n^2 / (2 m d) pairs are equal on average. Where IDs
 * arrive at random, each value of a group is picked by a Poisson process of mean x = n / (m d), and none twice with the
 * probability ((1 + x) e^-x)^(m d) (W. Feller, An Introduction to Probability Theory and Its Applications, volume 1,
 * chapters II.3 and VI.6; for UUIDs RFC 9562, section 6.7). This is an upper bound: it assumes equal keys, nodes and
 * counters, and no monotonic minter.
 */
const collisionsOf = (layout: Layout, { idsPerSecond, minters, years }: Load): Collisions | undefined => {
  if (!isRandom(layout)) return undefined;
  const seconds = years * YEAR_SECONDS;
  const ids = idsPerSecond * seconds;
  const values = valuesOf(ofRole(layout.fields, "random")) * counterValues(layout);
  const groups = groupsIn(layout, seconds);
  const expectedPairs = ids ** 2 / (2 * groups * values);
  const probability = equalOdds(ids, groups * values);
  // A counter or a node that is no key keeps apart the IDs of one minter, and not two minters.
  const isMonotonic = timeRowOf(layout.table) !== undefined && minters === 1;
  const areExpected = expectedPairs >= 1 && !isMonotonic;
  const areTooLikely = probability >= COLLISION_ODDS_MAX && !isMonotonic;
  return { values, groups, expectedPairs, probability, areExpected, areTooLikely };
};

/** Below it the difference of ln(1 + x) and x loses its digits; the series is exact to 16. */
const SERIES_MAX = 1e-4;

/** The probability that two of `picks` random picks are of one cell. */
const equalOdds = (picks: number, cells: number): number => {
  const x = picks / cells;
  const none = x < SERIES_MAX ? -(x ** 2) * (1 / 2 - x / 3 + x ** 2 / 4 - x ** 3 / 5) : Math.log1p(x) - x;
  return -Math.expm1(cells * none);
};

const nodeOdds = (
  layout: Layout,
  { idsPerSecond, minters: count, years }: Load,
  minters: Capacity["minters"],
): Pick<Capacity, "sameNode" | "equalByNode"> => {
  if (minters === undefined || !hasNodes(layout)) return { sameNode: undefined, equalByNode: undefined };
  const sameNode = birthday(count, minters.max);
  const seconds = years * YEAR_SECONDS;
  const equal = equalOdds(idsPerSecond * seconds, groupsIn(layout, seconds) * minters.max);
  return { sameNode, equalByNode: Math.min(sameNode, equal) };
};

/** `startMinter` also randomizes the counter if no time field separates the IDs. */
const counterValues = (layout: Layout): number =>
  timeRowOf(layout.table) === undefined && !isRing(layout) ? valuesOf(ofRole(layout.fields, "counter")) : 1;

/** Number of ticks in the period. A short COMB counts intervals modulo its ring. */
const groupsIn = (layout: Layout, seconds: number): number => {
  const row = timeRowOf(layout.table);
  if (row !== undefined) return Math.max(1, seconds * ticksPerSecondOf(row.unit));
  if (!isRing(layout)) return 1;
  const intervals = (seconds * 1000) / (layout.table.intervalMs as number);
  return Math.max(1, Math.min(intervals, valuesOf(ofRole(layout.fields, "counter"))));
};

const isRing = ({ table }: Layout): boolean => table.intervalMs !== undefined;

/** Probability that two of `count` random picks from `values` are equal. */
const birthday = (count: number, values: number): number => -Math.expm1((-count * (count - 1)) / (2 * values));

const isRandom = (layout: Layout): boolean => ofRole(layout.fields, "random").length > 0;
const valuesOf = (fields: readonly Field[]): number =>
  fields.reduce((product, { max }) => product * Number(BigInt(max) + 1n), 1);
