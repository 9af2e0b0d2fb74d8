import type { Field, Layout, Words } from "../layout/layout.ts";
import { type TimeRow, timeRowOf } from "../layout/time.ts";
import { fieldOf } from "../layout/words.ts";
import { distributedId, distributedId128 } from "../layouts/distributed-id.ts";
import { err, ok, type Result } from "../result.ts";
import { checkKey, type MintError, type RandomWords, randomBits } from "./mint.ts";

/**
 * The generators of Architect.Identities 2.1.1 (commit 5a55744) as pure steps. Within a millisecond the random part
 * grows by a random increment. DistributedId backdates its IDs by one second, which allows bursts of about 128,000 IDs
 * and 128 per millisecond sustained. IDs stay ordered if the clock is set back by at most one second. After a larger
 * step they restart from the clock.
 */

/** The parameters of one generator. */
export interface DistributedIdKind {
  readonly layout: Layout;
  readonly time: Field;
  readonly random: Field;
  readonly epochMs: number;
  /** How far IDs are backdated. */
  readonly leewayMs: number;
  /** Increments are below 2^incrementBits. */
  readonly incrementBits: number;
  /** The smallest random part of a fresh ID. */
  readonly randomMin: bigint;
}

const kind = (layout: Layout, rules: Pick<DistributedIdKind, "leewayMs" | "incrementBits" | "randomMin">) => ({
  layout,
  time: fieldOf(layout, "mintedAt"),
  random: fieldOf(layout, "random"),
  epochMs: (timeRowOf(layout.table) as TimeRow).epochMs,
  ...rules,
});

export const distributedIdKind: DistributedIdKind = /* @__PURE__ */ kind(distributedId, {
  leewayMs: 1000,
  incrementBits: 41,
  randomMin: 1n,
});

export const distributedId128Kind: DistributedIdKind = /* @__PURE__ */ kind(distributedId128, {
  leewayMs: 0,
  incrementBits: 58,
  randomMin: 0n,
});

/** The last ID, which the next one must exceed. */
export interface DistributedIdState {
  /** Unix time in the last ID; the smallest safe integer before the first. */
  readonly lastMs: number;
  readonly lastRandom: bigint;
}

export const startDistributedId: DistributedIdState = { lastMs: -9_007_199_254_740_991, lastRandom: 0n };

/** An ID, or how long to wait before repeating the step with the same random bits. */
export type DistributedIdStep =
  | { readonly kind: "id"; readonly state: DistributedIdState; readonly words: Words }
  | { readonly kind: "wait"; readonly sleepMs: number };

const WAIT_MS_MAX = 1000;

/**
 * One step. `random` has as many bits as the random field and is generated once per ID. Error: `key-out-of-range` if
 * the clock does not fit the time field: before the epoch, from 3014-12-13T12:41:28.832Z (DistributedId, after
 * the leeway), or from year 10619.
 */
export const stepDistributedId = (
  rules: DistributedIdKind,
  { lastMs, lastRandom }: DistributedIdState,
  nowMs: number,
  random: bigint,
): Result<DistributedIdStep, MintError> => {
  const fresh = random > rules.randomMin ? random : rules.randomMin;
  const datedMs = nowMs - rules.leewayMs;
  // Negated so that a NaN clock also reaches the check of the time field.
  if (!(datedMs <= lastMs)) return idOf(rules, datedMs, fresh);

  const increment = BigInt.asUintN(rules.incrementBits, random);
  const grown = lastRandom + (increment > 0n ? increment : 1n);
  if (grown <= rules.random.max) return idOf(rules, lastMs, grown);
  if (rules.leewayMs > 0 && lastMs < nowMs - 1) return idOf(rules, lastMs + 1, fresh);
  return mayWait(rules, lastMs, nowMs) ? ok({ kind: "wait", sleepMs: 1 }) : idOf(rules, datedMs, fresh);
};

/** The two library generators differ here by one millisecond. */
const mayWait = ({ leewayMs }: DistributedIdKind, lastMs: number, nowMs: number): boolean =>
  leewayMs > 0 ? lastMs - (nowMs - 1) <= WAIT_MS_MAX : nowMs + WAIT_MS_MAX > lastMs;

const idOf = (rules: DistributedIdKind, timeMs: number, random: bigint): Result<DistributedIdStep, MintError> => {
  const { layout, time, random: randomField, epochMs } = rules;
  const fault = checkKey(time, timeMs - epochMs);
  if (fault !== undefined) return err(fault);
  const words = layout.fixed.value.slice();
  time.write(words, timeMs - epochMs);
  randomField.write(words, random);
  const below = layout.misfit(words);
  if (below !== undefined)
    return err({ reason: "key-out-of-range", field: time.name, value: `${timeMs - epochMs}`, max: `${time.max}` });
  return ok({ kind: "id", state: { lastMs: timeMs, lastRandom: random }, words });
};

/** Generates IDs one at a time. */
export interface DistributedIdGenerator {
  next(): Promise<Result<Words, MintError>>;
}

/** The dependencies of a generator. */
export interface GeneratorPorts {
  readonly nowMs: () => number;
  readonly entropy: RandomWords;
  /** Waits without blocking. */
  readonly sleep: (durationMs: number) => Promise<unknown>;
}

/** A stateful generator. Calls are answered in order. */
export const distributedIdGenerator = (rules: DistributedIdKind, ports: GeneratorPorts): DistributedIdGenerator => {
  let state = startDistributedId;
  let last: Promise<unknown> = Promise.resolve();
  const generate = async (): Promise<Result<Words, MintError>> => {
    const random = randomBits(rules.random.bits, ports.entropy);
    for (;;) {
      const step = stepDistributedId(rules, state, ports.nowMs(), random);
      if (!step.ok) return step;
      if (step.value.kind === "id") {
        state = step.value.state;
        return ok(step.value.words);
      }
      await ports.sleep(step.value.sleepMs);
    }
  };
  return {
    next: () => {
      const mine = last.then(generate, generate);
      last = mine;
      return mine;
    },
  };
};

/** A generator for tests: its IDs come from a function. */
export const customGenerator = (make: () => Words): DistributedIdGenerator => ({
  next: () => Promise.resolve(ok(make())),
});

/** The time of incremental IDs: 2020-01-01T00:00:00Z. */
const INCREMENTAL_MS = 1_577_836_800_000;

/** A generator for tests: each ID is the last one plus 1. */
export const incrementalGenerator = (
  { time, random, layout, epochMs }: DistributedIdKind,
  from = 0n,
): DistributedIdGenerator => {
  let count = from;
  return customGenerator(() => {
    const words = layout.fixed.value.slice();
    time.write(words, INCREMENTAL_MS - epochMs);
    random.write(words, count);
    count += 1n;
    return words;
  });
};
