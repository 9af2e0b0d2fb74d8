import { DurableObject } from "cloudflare:workers";
import { err, ok } from "../../ids/result.ts";
import type { SequenceBounds, Sequences } from "../../ports.ts";

/**
 * One sequence: the truth about which numbers were given away. One object per sequence name, one row of SQLite.
 * A block is written before it is returned (the output gate holds the answer until the write is durable), so a number
 * is never given twice; one that was given and not used is a gap.
 */
export class SequenceBlocks extends DurableObject {
  /**
   * Reserves `count` numbers in a row from `least` on. `first`: the first of them. Where they would go beyond `max`, nothing is
   * written: a refused request uses nothing up.
   */
  reserve(count: number, max: number, least = 1): Reservation {
    const sql = this.ctx.storage.sql;
    sql.exec("CREATE TABLE IF NOT EXISTS sequence (id INTEGER PRIMARY KEY CHECK (id = 0), next INTEGER NOT NULL)");
    const row = sql.exec<{ next: number }>("SELECT next FROM sequence").toArray()[0];
    const first = Math.max(row?.next ?? 1, least);
    if (first + count - 1 > max) return { first, isReserved: false };
    sql.exec("INSERT OR REPLACE INTO sequence (id, next) VALUES (0, ?)", first + count);
    return { first, isReserved: true };
  }
}

export interface Reservation {
  readonly first: number;
  readonly isReserved: boolean;
}

/** Numbers reserved by one call: a Durable Object takes about 1,000 calls a second, an isolate mints far more. */
const BLOCK_NUMBERS = 64;

/** How often a block that came too late is given up for a newer one before the caller is told to try again. */
const TRIES_MAX = 4;

interface Block {
  next: number;
  end: number;
}

/** Sequences out of Durable Objects, block by block, so that most numbers cost no call. */
export function durableSequences(namespace: DurableObjectNamespace<SequenceBlocks>): Sequences {
  const blocks = new Map<string, Block>();

  /** A block of the first of some sizes that fits. */
  const reserve = async (name: string, sizes: readonly number[], { max, least, until }: SequenceBounds) => {
    const limit = Math.min(max, until?.number ?? max);
    try {
      let last = 0;
      for (const size of sizes) {
        const held = blocks.get(name);
        // A sequence only rises: what is known to go beyond the limit is refused without a call.
        if (held !== undefined && held.end + size - 1 > limit) {
          last = held.end + size - 1;
          continue;
        }
        // A stub is broken after a failure, so each call makes its own.
        const stub = namespace.get(namespace.idFromName(name));
        const { first, isReserved } = await stub.reserve(size, limit, least);
        if (isReserved) return ok({ next: first, end: first + size });
        if (held === undefined || held.next === held.end) blocks.set(name, { next: first, end: first });
        last = first + size - 1;
      }
      if (until === undefined || last > max) return err({ reason: "sequence-exhausted", name, max } as const);
      return err({ reason: "sequence-ahead", name, retryAfterSeconds: until.secondsTo(last) } as const);
    } catch {
      return err({ reason: "sequence-unavailable", name } as const);
    }
  };

  return {
    async peek(name, max) {
      const held = blocks.get(name);
      if (held !== undefined && held.end > held.next) return ok(held.next);
      const block = await reserve(name, [0], { max });
      return block.ok ? ok(block.value.next) : block;
    },
    async take(name, count, bounds) {
      // A block from a moment ago would be below what is asked for now.
      if (bounds.least !== undefined) {
        const fresh = await reserve(name, [count], bounds);
        return fresh.ok ? ok(takeFrom(fresh.value, count)) : fresh;
      }
      const held = blocks.get(name);
      if (held !== undefined && held.end - held.next >= count) return ok(takeFrom(held, count));
      // Near the end of the numbers a whole block may not fit where the wanted few still do.
      const sizes = count < BLOCK_NUMBERS ? [BLOCK_NUMBERS, count] : [count];
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const block = await reserve(name, sizes, bounds);
        if (!block.ok) return block;
        // Another request of this isolate may have got a later block meanwhile: going back behind it would break the order.
        const latest = blocks.get(name);
        if (latest === undefined || latest.next <= block.value.next) {
          blocks.set(name, block.value);
          return ok(takeFrom(block.value, count));
        }
        if (latest.end - latest.next >= count) return ok(takeFrom(latest, count));
      }
      return err({ reason: "sequence-unavailable", name });
    },
  };
}

function takeFrom(block: Block, count: number): readonly number[] {
  const first = block.next;
  block.next += count;
  return Array.from({ length: count }, (_, index) => first + index);
}
