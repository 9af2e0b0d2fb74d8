import { iuid } from "./builtin.ts";
import { distributedId128Kind, distributedIdKind } from "./distributed-id-generator.ts";
import type { Field, Layout, Row, TimeUnit } from "./layout.ts";
import { err, ok, type Result } from "./result.ts";
import { SHORT_COMB_INTERVAL_MS } from "./short-comb.ts";
import { EVEN_UNITS } from "./time-units.ts";

/**
 * What a layout can bear: until when, how many IDs a second, and how likely two equal ones are. All counts are `number`s, exact
 * to 16 digits.
 */

/** What is asked of a layout. All are positive; `minters` is a whole number. */
export interface Load {
  /** Of all minters together, on average. */
  readonly idsPerSecond: number;
  readonly minters: number;
  /** How long it goes on, in years of 365.25 days. */
  readonly years: number;
}

export interface Capacity {
  readonly layout: string;
  /** `undefined` for a layout without a time. `firstMs`: Unix time of value 0; `endMs`: of the first instant that is too late. */
  readonly time: { readonly field: string; readonly firstMs: number; readonly endMs: number } | undefined;
  /** A field that counts IDs and never starts over, and how many it holds: they last `seconds`. */
  readonly supply: { readonly field: string; readonly ids: number; readonly seconds: number } | undefined;
  /** How many IDs one minter can make; `undefined` where nothing limits it. */
  readonly rate: Rate | undefined;
  /** What tells minters apart, and how many there can be; `undefined` where chance does. */
  readonly minters: { readonly fields: readonly string[]; readonly max: number } | undefined;
  /** Whether there can be so many minters, and each can make its share. */
  readonly isEnough: boolean;
  /** Equal IDs; `undefined` for a layout without random bits, whose minters make none while they are apart. */
  readonly collisions: Collisions | undefined;
  /** That two minters draw the same node fields, where these are random; `undefined` where an issuer numbers them, or chance tells IDs apart. */
  readonly sameNode: number | undefined;
}

export interface Rate {
  /** The field that tells the IDs of a tick apart; `undefined`: one ID a tick. */
  readonly field: string | undefined;
  readonly idsPerTick: number;
  readonly ticksPerSecond: number;
  readonly minterIdsPerSecond: number;
  /** Of all minters that were asked about. */
  readonly allIdsPerSecond: number;
}

export interface Collisions {
  /** How many values the random bits have. */
  readonly values: number;
  /** Only IDs of one group can be equal: how many ticks there are. */
  readonly groups: number;
  /** How many pairs of equal IDs there are on average over all the time. */
  readonly expectedPairs: number;
  /** That there is a pair at all. */
  readonly probability: number;
  /** Whether a pair or more is to be expected, and nothing that the bound leaves out prevents it: no node, no counter, no one minter that counts up. */
  readonly areExpected: boolean;
}

export type CapacityError =
  /** Its IDs do not come of a clock and chance. */
  | { readonly reason: "not-mintable"; readonly layout: string }
  | { readonly reason: "load"; readonly name: keyof Load; readonly value: number };

const YEAR_SECONDS = 31_557_600;

/** What a layout can bear of a load that begins now. */
export const capacityOf = (layout: Layout, load: Load): Result<Capacity, CapacityError> => {
  if (layout.table.minter === "none") return err({ reason: "not-mintable", layout: layout.name });
  for (const name of ["idsPerSecond", "minters", "years"] as const) {
    const value = load[name];
    const possible = value > 0 && Number.isFinite(value) && (name !== "minters" || Number.isSafeInteger(value));
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
      load.idsPerSecond <= (rate?.allIdsPerSecond ?? Number.POSITIVE_INFINITY),
    collisions,
    sameNode: minters === undefined || !hasNodes(layout) ? undefined : birthday(load.minters, minters.max),
  });
};

type TimeRow = Extract<Row, { readonly role: "time" }>;

const timeRowOf = ({ table }: Layout): TimeRow | undefined =>
  table.rows.find((row): row is TimeRow => row.role === "time");

const timeOf = (layout: Layout): Capacity["time"] => {
  const row = timeRowOf(layout);
  if (row === undefined) return undefined;
  const { name, max } = layout.field(row.field) as Field;
  return { field: name, firstMs: row.epochMs, endMs: row.epochMs + durationMs(row.unit, BigInt(max)) };
};

/** How long it is until a time is too great, in milliseconds rounded up. */
const durationMs = (unit: TimeUnit, max: bigint): number => {
  if (unit === "sql-datetime") return (Number(max >> 32n) + 1) * DAY_MS;
  const { ms, ticks } = EVEN_UNITS[unit];
  return Number(((max + 1n) * BigInt(ms) + BigInt(ticks) - 1n) / BigInt(ticks));
};

const DAY_MS = 86_400_000;

const ticksPerSecondOf = (unit: TimeUnit): number => {
  if (unit === "sql-datetime") return 300;
  const { ms, ticks } = EVEN_UNITS[unit];
  return (1000 / ms) * ticks;
};

/** An LUUID's primary keys come from a sequence, for each group one. */
const supplyOf = (layout: Layout, { idsPerSecond }: Load): Capacity["supply"] => {
  if (layout.name !== "luuid") return undefined;
  const field = layout.field("primaryKey") as Field;
  return { field: field.name, ids: valuesOf([field]), seconds: valuesOf([field]) / idsPerSecond };
};

const rateOf = (layout: Layout, minters: number): Rate | undefined => {
  const row = timeRowOf(layout);
  if (row === undefined) return undefined;
  const sequence = widest(ofRole(layout, "counter")) ?? widest(ofRole(layout, "random"));
  const ticksPerSecond = ticksPerSecondOf(row.unit);
  const idsPerTick = sequence === undefined ? 1 : idsOf(layout, sequence);
  const minterIdsPerSecond = idsPerTick * ticksPerSecond;
  return {
    field: sequence?.name,
    idsPerTick,
    ticksPerSecond,
    minterIdsPerSecond,
    allIdsPerSecond: minters * minterIdsPerSecond,
  };
};

/**
 * A counter gives each of its values once. A random field of v values that begins in its lower half and grows by steps below 2^s has
 * room for (v/2) / 2^(s-1) of them: with the v = 2^48 and s = 41 of a DistributedId for the 128 a millisecond that its library names.
 */
const idsOf = ({ name }: Layout, sequence: Field): number =>
  sequence.role === "counter"
    ? valuesOf([sequence])
    : Math.max(1, valuesOf([sequence]) / 2 ** stepBitsOf(name, sequence.bits));

/** The widest steps, of iUIDs and of `startMinter`, which takes half of a narrow field's bits at most. */
const STEP_BITS_MAX = 32;

const stepBitsOf = (name: string, bits: number): number => {
  const kind = [distributedIdKind, distributedId128Kind].find(({ layout }) => layout.name === name);
  if (kind !== undefined) return kind.incrementBits;
  return name === iuid.name ? STEP_BITS_MAX : Math.min(STEP_BITS_MAX, bits >>> 1);
};

/** Chance tells minters apart where there is any, else their node fields do; where there are none, the keys must. */
const mintersOf = (layout: Layout): Capacity["minters"] => {
  if (isRandom(layout)) return undefined;
  const fields = hasNodes(layout) ? ofRole(layout, "node") : ofRole(layout, "key");
  return fields.length === 0 ? undefined : { fields: fields.map(({ name }) => name), max: valuesOf(fields) };
};

const hasNodes = (layout: Layout): boolean => ofRole(layout, "node").length > 0;

/**
 * The birthday problem: of n IDs that fall at random into m groups of d values each, n^2 / (2 m d) pairs are equal on average, and
 * with P = 1 - e^(-that) there is one (W. Feller, An Introduction to Probability Theory and Its Applications, volume 1, chapter II.3;
 * on UUIDs RFC 9562, section 6.7). A bound: as if all IDs had the same keys, nodes and counters, and no minter counted up.
 */
const collisionsOf = (layout: Layout, { idsPerSecond, minters, years }: Load): Collisions | undefined => {
  if (!isRandom(layout)) return undefined;
  const seconds = years * YEAR_SECONDS;
  const ids = idsPerSecond * seconds;
  const values = valuesOf(ofRole(layout, "random")) * counterValues(layout);
  const groups = groupsIn(layout, seconds);
  const expectedPairs = ids ** 2 / (2 * groups * values);
  const isCounted = timeRowOf(layout) !== undefined && (minters === 1 || ofRole(layout, "counter").length > 0);
  const areExpected = expectedPairs >= 1 && !isCounted && !hasNodes(layout);
  return { values, groups, expectedPairs, probability: -Math.expm1(-expectedPairs), areExpected };
};

/** Where no time divides the IDs, `startMinter` draws the counter too. */
const counterValues = (layout: Layout): number =>
  timeRowOf(layout) === undefined && !isRing(layout) ? valuesOf(ofRole(layout, "counter")) : 1;

/** How many ticks a time has; a short COMB counts intervals on a ring. */
const groupsIn = (layout: Layout, seconds: number): number => {
  const row = timeRowOf(layout);
  if (row !== undefined) return Math.max(1, seconds * ticksPerSecondOf(row.unit));
  if (!isRing(layout)) return 1;
  const intervals = (seconds * 1000) / SHORT_COMB_INTERVAL_MS;
  return Math.max(1, Math.min(intervals, valuesOf(ofRole(layout, "counter"))));
};

const isRing = ({ name }: Layout): boolean => name === "short-prefix-comb" || name === "short-suffix-comb";

/** That two of `count` draws from `values` are equal. */
const birthday = (count: number, values: number): number => -Math.expm1((-count * (count - 1)) / (2 * values));

const isRandom = (layout: Layout): boolean => ofRole(layout, "random").length > 0;

const ofRole = ({ fields }: Layout, role: Field["role"]): readonly Field[] =>
  fields.filter((field) => field.role === role);

const valuesOf = (fields: readonly Field[]): number =>
  fields.reduce((product, { max }) => product * Number(BigInt(max) + 1n), 1);

const widest = (fields: readonly Field[]): Field | undefined => fields.toSorted((a, b) => b.bits - a.bits)[0];
