import {
  err,
  type Field,
  type Layout,
  type MintError,
  ok,
  type RandomWords,
  type Row,
  type Words,
} from "../../../ids/index.ts";
import { SQL_TICKS_A_DAY, ticksIn, timeValue } from "../../../ids/layout/time.ts";
import { checkKey, randomValue, rowsOf } from "../../../ids/mint/mint.ts";
import type { KeyRange } from "../../../ids/tools/key-range.ts";
import type { Clock } from "../../../ports/gateway.ts";
import type { Sequences } from "../port.ts";
import type { MintOrder } from "../table/plan.ts";

/**
 * Minting for layouts in which chance cannot keep isolates apart, such as Snowflake: two isolates may be given the same
 * machine and read the same millisecond. So each ID takes a number from a sequence that all isolates share. The number
 * is the place of the ID in time: its first bits are the tick, its last ones the counter. A number is asked for from
 * now on and never handed out twice. So no ID is, whatever the clocks read. When a tick is used up, the next IDs stand
 * in the ticks after it.
 */

type TimeRow = Extract<Row, { readonly role: "time" }>;

/** How numbers become IDs of a layout. */
interface Numbering {
  /** `undefined`: the layout has no time, and its counter is the number. */
  readonly time: { readonly field: Field; readonly row: TimeRow; readonly startTicks: bigint } | undefined;
  readonly counter: Field | undefined;
  /** The count of a number's last bits that are the counter. Below 0: a number is that many bits of ticks. */
  readonly counterBits: number;
  readonly max: number;
}

/** Numbers are counted from here, 2020-01-01T00:00:00Z, so that they stay exact for 50 years. */
const START_MS = 1_577_836_800_000;
const SPAN_MS = 50 * 366 * 86_400_000;
const NUMBER_BITS = 53;

export interface MinterPorts {
  readonly clock: Clock;
  readonly entropy: RandomWords;
  readonly sequences: Sequences;
  /** Primary keys of LUUIDs that this deployment may give; absent: all. `faulty`: the setting is invalid, and none is given. */
  readonly primaryKeys?: KeyRange | "faulty" | undefined;
  /** Default: the platform's timer. */
  readonly pause?: (ms: number) => Promise<void>;
}

export async function mintNumbered(ports: MinterPorts, order: MintOrder, count: number) {
  const call = callFor(ports, order, count);
  if (!call.ok) return call;
  const { name, bounds, wordsOf } = call.value;
  const numbers = await ports.sequences.take(name, count, bounds);
  return numbers.ok ? ok(rowsOf(numbers.value.map(wordsOf))) : numbers;
}

/** An ID of the current tick, by a number that is not taken; or why `count` IDs are known to be refused. */
export function sampleNumbered(ports: MinterPorts, order: MintOrder, count: number) {
  const call = callFor(ports, order, count);
  if (!call.ok) return call;
  const { name, bounds, wordsOf } = call.value;
  const refusal = ports.sequences.refusal(name, count, bounds);
  return refusal === undefined ? ok(wordsOf(bounds.least)) : err(refusal);
}

/** The call to a sequence, and how its numbers become IDs. */
function callFor({ clock, entropy }: MinterPorts, { layout, keys }: MintOrder, count: number) {
  const numbering = numberingOf(layout);
  const nowMs = clock.nowMs();
  const fault = clockFault(numbering, nowMs);
  if (fault !== undefined) return err(fault);
  const { max, least, until } = boundsAt(numbering, nowMs);
  const fitting = until === undefined ? count : until - least + 1;
  if (count > fitting) {
    return err({ reason: "key-out-of-range", field: "count", value: `${count}`, max: `${fitting}` } as const);
  }
  const wordsOf = wordMaker(layout, numbering, keys, entropy);
  const secondsTo = (number: number) =>
    Math.max(1, Math.ceil(((layout.mintedAtMs?.(wordsOf(number)) ?? 0) - MINT_AHEAD_MS_MAX - nowMs) / 1000));
  const ahead = until === undefined ? {} : { until: { number: until, secondsTo } };
  return ok({ name: sequenceName(layout, keys), bounds: { max, least, ...ahead }, wordsOf });
}

/** How far ahead of the clock the time in an ID may be. */
const MINT_AHEAD_MS_MAX = 60_000;

const numberingOf = (layout: Layout): Numbering => {
  const row = layout.table.rows.find((candidate): candidate is TimeRow => candidate.role === "time");
  const field = row && layout.field(row.field);
  const counter = widest(layout, "counter") ?? widest(layout, "random");
  const held = counter === undefined ? 0 : BigInt(counter.max).toString(2).length - (isFull(counter) ? 0 : 1);
  if (row === undefined || field === undefined) {
    return { time: undefined, counter, counterBits: held, max: 2 ** Math.min(held, NUMBER_BITS) - 1 };
  }
  const startTicks = ticksIn(row.unit, Math.max(START_MS - row.epochMs, 0));
  const spareBits = NUMBER_BITS - ticksIn(row.unit, SPAN_MS).toString(2).length;
  const counterBits = Math.min(spareBits, held);
  const last = lastNumber(lastTick(row, field) - startTicks, counterBits);
  return { time: { field, row, startTicks }, counter, counterBits, max: last };
};

/** The greatest number whose tick a time field holds: beyond it the field would start over, and IDs come twice. */
const lastNumber = (ticks: bigint, counterBits: number): number => {
  const last = counterBits < 0 ? ticks >> BigInt(-counterBits) : ((ticks + 1n) << BigInt(counterBits)) - 1n;
  return last < MAX_NUMBER ? Number(last) : Number.MAX_SAFE_INTEGER;
};

/** Why the time that it is now cannot be written: the field is too narrow for it, or its epoch is still to come. */
const clockFault = ({ time }: Numbering, nowMs: number): MintError | undefined =>
  time && checkKey(time.field, timeValue(time.row.unit, ticksIn(time.row.unit, nowMs - time.row.epochMs)));

const MAX_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

/** The last tick that a time field holds: one of SQL Server's has days in the bits above the last 32. */
const lastTick = ({ unit }: TimeRow, field: Field): bigint => {
  const max = BigInt(field.max);
  if (unit !== "sql-datetime") return max;
  const days = max >> 32n;
  const ofDay = BigInt.asUintN(32, max);
  const ticksADay = BigInt(SQL_TICKS_A_DAY);
  return days * ticksADay + (ofDay < ticksADay ? ofDay : ticksADay - 1n);
};

const isFull = ({ max, bits }: Field): boolean => BigInt(max) === (1n << BigInt(bits)) - 1n;

const widest = (layout: Layout, role: "counter" | "random"): Field | undefined =>
  layout.fields.filter((field) => field.role === role).toSorted((a, b) => Number(b.max) - Number(a.max))[0];

interface Bounds {
  readonly max: number;
  readonly least: number;
  readonly until?: number;
}

/** From the first number of the tick that it is now to the last one that may be given now. Sequences begin at 1. */
const boundsAt = ({ time, counterBits, max }: Numbering, nowMs: number): Bounds => {
  if (time === undefined) return { max, least: 1 };
  const { row, startTicks } = time;
  const ticksAt = (ms: number) => ticksIn(row.unit, ms - row.epochMs) - startTicks;
  const now = ticksAt(nowMs);
  const least = Math.max(1, Number(counterBits < 0 ? (now >> BigInt(-counterBits)) + 1n : now << BigInt(counterBits)));
  return { max, least, until: lastNumber(ticksAt(nowMs + MINT_AHEAD_MS_MAX), counterBits) };
};

/** Makes an ID of a number. */
const wordMaker = (
  layout: Layout,
  { time, counter, counterBits }: Numbering,
  keys: MintOrder["keys"],
  entropy: RandomWords,
) => {
  const base = layout.fixed.value.slice();
  for (const [key, value] of Object.entries(keys)) layout.field(key)?.write(base, value);
  return (number: number): Words => {
    const words = base.slice();
    for (const field of layout.fields) if (field.role === "random") field.write(words, randomValue(field, entropy));
    const ticks = counterBits < 0 ? BigInt(number) << BigInt(-counterBits) : BigInt(number) >> BigInt(counterBits);
    if (counterBits > 0) counter?.write(words, BigInt.asUintN(counterBits, BigInt(number)));
    time?.field.write(words, timeValue(time.row.unit, time.startTicks + ticks));
    return words;
  };
};

/** Keys with no more bits than this have a sequence, and so a counter, for each set of values. */
const OWN_SEQUENCE_BITS_MAX = 16;

const sequenceName = (layout: Layout, keys: MintOrder["keys"]): string => {
  const names = Object.keys(keys);
  const bits = names.reduce((sum, name) => sum + (layout.field(name)?.bits ?? 0), 0);
  const own = bits <= OWN_SEQUENCE_BITS_MAX ? names.map((name) => `/${keys[name]}`).join("") : "";
  return `mint-${layout.name}${own}`;
};
