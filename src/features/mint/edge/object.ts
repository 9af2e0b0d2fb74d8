import { DurableObject } from "cloudflare:workers";
import type { Interleaved } from "../../../ids/tools/key-range.ts";
import type { Reservation, SequenceRpc } from "./sequences.ts";

/**
 * One sequence: the truth about which numbers were given away. One object per sequence name, one row of SQLite.
 * A block is written before it is returned (the output gate holds the answer until the write is durable), so a number
 * is never given twice; one that was given and not used is a gap.
 */
export class SequenceBlocks extends DurableObject implements SequenceRpc {
  /**
   * Reserves `count` numbers in a row from `least` on. `first`: the first of them. Where they would go beyond `max`, nothing is
   * written: a refused request uses nothing up. `interleaved`: others give the numbers between.
   */
  reserve(count: number, max: number, least = 1, interleaved?: Interleaved): Reservation {
    const sql = this.ctx.storage.sql;
    sql.exec("CREATE TABLE IF NOT EXISTS sequence (id INTEGER PRIMARY KEY CHECK (id = 0), next INTEGER NOT NULL)");
    sql.exec(
      "CREATE TABLE IF NOT EXISTS interleaved (id INTEGER PRIMARY KEY CHECK (id = 0), first INTEGER NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL)",
    );
    const row = sql.exec<{ next: number }>("SELECT next FROM sequence").toArray()[0];
    const before = sql.exec<InterleavedRow>("SELECT first, part, parts FROM interleaved").toArray()[0];
    const step = interleaved?.parts ?? 1;
    const isSame =
      before?.first === interleaved?.from && before?.part === interleaved?.part && before?.parts === interleaved?.parts;
    const unused = row === undefined ? 1 : row.next - (before?.parts ?? 1) + 1;
    // Other gateways may have given what lies between; only keys above all that were given are certainly free.
    if (!isSame && (interleaved === undefined || interleaved.from < unused)) {
      return { first: unused, isReserved: false, isOther: true, step };
    }
    const first = isSame ? Math.max(row?.next ?? 1, least) : least;
    if (first + (count - 1) * step > max) return { first, isReserved: false, step };
    sql.exec("INSERT OR REPLACE INTO sequence (id, next) VALUES (0, ?)", first + count * step);
    if (!isSame && interleaved !== undefined) {
      const { from, part, parts } = interleaved;
      sql.exec("INSERT OR REPLACE INTO interleaved (id, first, part, parts) VALUES (0, ?, ?, ?)", from, part, parts);
    }
    return { first, isReserved: true, step };
  }
}

type InterleavedRow = { readonly first: number; readonly part: number; readonly parts: number };
