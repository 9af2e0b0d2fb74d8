import { waitUntil } from "cloudflare:workers";
import { err, ok } from "../../../ids/result.ts";
import type { Interleaved } from "../../../ids/tools/key-range.ts";
import type { SequenceBounds, Sequences } from "../port.ts";
import type { SequenceError } from "../problems.ts";
import { type Block, ReservedNumbers } from "./reserved-numbers.ts";

declare module "../../../edge/env.ts" {
  interface Env {
    readonly SEQUENCES: DurableObjectNamespace<SequenceRpc>;
  }
}

/** The Durable Object of one sequence, as those who call it know it. */
export interface SequenceRpc extends Rpc.DurableObjectBranded {
  reserve(
    count: number,
    max: number,
    least?: number,
    interleaved?: Interleaved,
    use?: SequenceWords,
  ): Promise<Reservation>;
  /** Only the object that lists all sequences is called. */
  list(id: string, name: string | undefined): Promise<void>;
  /** In the order of their IDs; empty behind the last. */
  listed(after: string): Promise<readonly ListedSequence[]>;
}

/** For the list of all sequences, and for exports. `isTimed`: its numbers are never below that of the time. */
export type SequenceWords = Readonly<{ name?: string; isTimed?: boolean }>;

/** A sequence that was used before names were listed may have none. */
export type ListedSequence = Readonly<{ id: string; name: string | undefined }>;

/** The object that lists all sequences. Names of sequences have another beginning. */
export const LIST_NAME = "sequences";

/** Plain data crosses without the types of RPC. */
export const listOf = (namespace: DurableObjectNamespace<SequenceRpc>) =>
  namespace.get(namespace.idFromName(LIST_NAME)) as unknown as Pick<SequenceRpc, "list" | "listed">;

export interface Reservation {
  readonly first: number;
  readonly isReserved: boolean;
  /** Whether the sequence was counted in another way. Then `first` is the least number of which it is certain that none has it. */
  readonly isOther?: boolean;
  /** Absent in what a former version says: 1. */
  readonly step?: number;
}

/** Numbers reserved by one call: a Durable Object takes about 1,000 calls a second, an isolate mints far more. */
const BLOCK_NUMBERS = 64;

/** A block under load. Numbers of an isolate that ends are lost, so it stays small beside the range. */
export const BLOCK_NUMBERS_MAX = 4096;

/** How often a late block is given up for a newer one, before the caller is told to try again. */
const TRIES_MAX = 4;

/** The platform stops background work 30 s after a request: a later answer never comes. */
const AHEAD_LOST_MS = 30_000;

interface SequenceOptions {
  readonly nowMs?: () => number;
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** Called with each reserved block of a range that is counted through. */
  readonly onUse?: (use: SequenceUse) => void;
}

/**
 * Sequences out of Durable Objects, block by block, so that most numbers cost no call. Under load the next block is fetched
 * before the last one is used up, and blocks grow with the rate.
 */
export function durableSequences(
  namespace: DurableObjectNamespace<SequenceRpc>,
  { nowMs = Date.now, waitUntil: inBackground = waitUntil, onUse }: SequenceOptions = {},
): Sequences {
  const stock = new Map<string, ReservedNumbers>();
  /** The next numbers of sequences that refused a block: a sequence only rises. */
  const refused = new Map<string, number>();

  const refusal = (name: string, count: number, bounds: SequenceBounds) => {
    const { max, first = 1, until, interleaved } = bounds;
    const last = Math.max(refused.get(name) ?? 0, first) + (count - 1) * (interleaved?.parts ?? 1);
    if (last <= limitOf(bounds)) return undefined;
    if (until === undefined || last > max) return { reason: "sequence-exhausted", name, max } as const;
    return { reason: "sequence-ahead", name, retryAfterSeconds: until.secondsTo(last) } as const;
  };

  /** A block of the first of some sizes that fits. */
  const reserve = async (name: string, sizes: readonly number[], bounds: SequenceBounds) => {
    const { max, first = 1, least, interleaved } = bounds;
    const step = interleaved?.parts ?? 1;
    const use = { name, isTimed: least !== undefined };
    try {
      let error: SequenceError | undefined;
      for (const size of sizes) {
        error = refusal(name, size, bounds);
        if (error !== undefined) continue;
        // A stub is broken after a failure, so each call makes its own.
        const stub = namespace.get(namespace.idFromName(name));
        const given = await stub.reserve(size, limitOf(bounds), least ?? first, interleaved, use);
        if (given.isOther === true) return err({ reason: "sequence-range-refused", name, least: given.first } as const);
        // An object of a former version would count through what other gateways give.
        if ((given.step ?? 1) !== step) break;
        const end = given.first + size * step;
        if (given.isReserved) {
          if (size > 0 && least === undefined) onUse?.(useOf({ name, first: given.first, end }, { first, max }));
          return ok({ next: given.first, end, step });
        }
        refused.set(name, Math.max(refused.get(name) ?? 0, given.first));
        error = refusal(name, size, bounds);
      }
      if (error !== undefined) return err(error);
    } catch {
      // The object could not be reached.
    }
    return err({ reason: "sequence-unavailable", name } as const);
  };

  /** Fetches the next block beside the request, which cannot be waited for by another one. */
  const readAhead = (name: string, reserved: ReservedNumbers, bounds: SequenceBounds): void => {
    reserved.aheadUntilMs = nowMs() + AHEAD_LOST_MS;
    const size = reserved.nextSize(nowMs());
    const fetching = reserve(name, [size], bounds).then((block) => {
      reserved.aheadUntilMs = 0;
      if (block.ok) reserved.add(block.value);
    });
    inBackground(fetching);
  };

  return {
    refusal,
    async peek(name, bounds) {
      const next = stock.get(name)?.peek();
      if (next !== undefined) return ok(next);
      const block = await reserve(name, [0], bounds);
      return block.ok ? ok(block.value.next) : block;
    },
    async take(name, count, bounds) {
      // A block from a moment ago would be below what is asked for now.
      if (bounds.least !== undefined) {
        const fresh = await reserve(name, [count], bounds);
        return fresh.ok ? ok(numbersIn(fresh.value)) : fresh;
      }
      const reserved = stock.get(name) ?? new ReservedNumbers(BLOCK_NUMBERS, BLOCK_NUMBERS_MAX);
      stock.set(name, reserved);
      for (let tries = 0; tries <= TRIES_MAX; tries++) {
        const numbers = reserved.take(count);
        if (numbers !== undefined) {
          if (reserved.isLow(nowMs())) readAhead(name, reserved, bounds);
          return ok(numbers);
        }
        if (tries === TRIES_MAX) break;
        const size = reserved.nextSize(nowMs());
        // Near the end of the numbers a whole block may not fit where the wanted few still do.
        const block = await reserve(name, count < size ? [size, count] : [count], bounds);
        if (!block.ok) return block;
        // Another request may have taken from a later block meanwhile: going back behind it would break the order.
        reserved.add(block.value);
      }
      return err({ reason: "sequence-unavailable", name });
    },
  };
}

/** The last number that may be given now. */
const limitOf = ({ max, until }: SequenceBounds): number => Math.min(max, until?.number ?? max);

const numbersIn = ({ next, end }: Block): readonly number[] =>
  Array.from({ length: end - next }, (_, index) => next + index);

/** How much of a sequence's range is used up, in steps of which operators are told. */
export interface SequenceUse {
  readonly name: string;
  /** The last number of the block. */
  readonly last: number;
  readonly max: number;
  readonly percent: (typeof STEPS)[number];
  /** Whether this block is the one that reached the step: one of all isolates has it. */
  readonly isFirst: boolean;
}

const STEPS = [99, 90, 0] as const;

export function useOf(
  block: { readonly name: string; readonly first: number; readonly end: number },
  { first, max }: { readonly first: number; readonly max: number },
): SequenceUse {
  const stepAt = (count: number) => STEPS.find((step) => (count / (max - first + 1)) * 100 >= step) ?? 0;
  const percent = stepAt(block.end - first);
  return { name: block.name, last: block.end - 1, max, percent, isFirst: stepAt(block.first - first) < percent };
}
