import { DurableObject } from "cloudflare:workers";
import { err, ok } from "../../ids/result.ts";
import type { Sequences } from "../../ports.ts";

/**
 * One sequence: the truth about which numbers were given away. One object per sequence name, one row of SQLite.
 * A block is written before it is returned (the output gate holds the answer until the write is durable), so a number
 * is never given twice; one that was given and not used is a gap.
 */
export class SequenceBlocks extends DurableObject {
  /** Reserves `count` numbers in a row from `least` on; the first of them, or `undefined` when they would go beyond `max`. */
  reserve(count: number, max: number, least = 1): number | undefined {
    const sql = this.ctx.storage.sql;
    sql.exec("CREATE TABLE IF NOT EXISTS sequence (id INTEGER PRIMARY KEY CHECK (id = 0), next INTEGER NOT NULL)");
    const row = sql.exec<{ next: number }>("SELECT next FROM sequence").toArray()[0];
    const first = Math.max(row?.next ?? 1, least);
    if (first + count - 1 > max) return undefined;
    sql.exec("INSERT OR REPLACE INTO sequence (id, next) VALUES (0, ?)", first + count);
    return first;
  }
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
  return {
    async take(name, count, max, least) {
      // A block from a moment ago would be below what is asked for now.
      if (least !== undefined) return takeFresh(namespace, name, count, max, least);
      const held = blocks.get(name);
      if (held !== undefined && held.end - held.next >= count) return ok(takeFrom(held, count));
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const size = Math.max(count, BLOCK_NUMBERS);
        const first = await reserve(namespace, name, size, count, max);
        if (!first.ok) return first;
        const block = { next: first.value.first, end: first.value.first + first.value.size };
        // Another request of this isolate may have got a later block meanwhile: going back behind it would break the order.
        const latest = blocks.get(name);
        if (latest !== undefined && latest.next > block.next) {
          if (latest.end - latest.next >= count) return ok(takeFrom(latest, count));
          continue;
        }
        blocks.set(name, block);
        return ok(takeFrom(block, count));
      }
      return err({ reason: "sequence-unavailable", name });
    },
  };
}

async function takeFresh(
  namespace: DurableObjectNamespace<SequenceBlocks>,
  name: string,
  count: number,
  max: number,
  least: number,
) {
  try {
    const first = await namespace.get(namespace.idFromName(name)).reserve(count, max, least);
    if (first === undefined) return err({ reason: "sequence-exhausted", name, max } as const);
    return ok(takeFrom({ next: first, end: first + count }, count));
  } catch {
    return err({ reason: "sequence-unavailable", name } as const);
  }
}

function takeFrom(block: Block, count: number): readonly number[] {
  const first = block.next;
  block.next += count;
  return Array.from({ length: count }, (_, index) => first + index);
}

async function reserve(
  namespace: DurableObjectNamespace<SequenceBlocks>,
  name: string,
  size: number,
  countMin: number,
  max: number,
) {
  try {
    // A stub is broken after a failure, so each call makes its own.
    const stub = namespace.get(namespace.idFromName(name));
    const first = await stub.reserve(size, max);
    if (first !== undefined) return ok({ first, size });
    // Near the end of the numbers a whole block may not fit where the wanted few still do.
    const few = size > countMin ? await stub.reserve(countMin, max) : undefined;
    return few === undefined
      ? err({ reason: "sequence-exhausted", name, max } as const)
      : ok({ first: few, size: countMin });
  } catch {
    return err({ reason: "sequence-unavailable", name } as const);
  }
}
