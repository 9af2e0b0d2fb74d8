import { DurableObject } from "cloudflare:workers";
import { addColumn } from "../../../edge/columns.ts";
import type { Env } from "../../../edge/env.ts";
import type { Interleaved } from "../../../ids/tools/key-range.ts";
import { type ListedSequence, listOf, type Reservation, type SequenceRpc, type SequenceWords } from "./sequences.ts";

/** `listed`: whether the list has this sequence. `names`: the list itself, in an object of its own. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS sequence (id INTEGER PRIMARY KEY CHECK (id = 0), next INTEGER NOT NULL, is_timed INTEGER);
  CREATE TABLE IF NOT EXISTS interleaved (
    id INTEGER PRIMARY KEY CHECK (id = 0), first INTEGER NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS listed (id INTEGER PRIMARY KEY CHECK (id = 0));
  CREATE TABLE IF NOT EXISTS names (id TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID;
`;

const LISTED_MAX = 1_000;

/**
 * One sequence: the truth about which numbers were given away. One object per sequence name, one row of SQLite.
 * A block is written before it is returned (the output gate holds the answer until the write is durable), so a number
 * is never given twice; one that was given and not used is a gap.
 */
export class SequenceBlocks extends DurableObject<Env> implements SequenceRpc {
  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const { sql } = context.storage;
    sql.exec(SCHEMA);
    addColumn(sql, "sequence", "is_timed", "INTEGER");
  }

  /**
   * Reserves `count` numbers in a row from `least` on. `first`: the first of them. Where they would go beyond `max`, nothing is
   * written: a refused request uses nothing up. `interleaved`: others give the numbers between.
   */
  async reserve(
    count: number,
    max: number,
    least = 1,
    interleaved?: Interleaved,
    use: SequenceWords = {},
  ): Promise<Reservation> {
    const sql = this.ctx.storage.sql;
    if (count > 0) await this.#beListed(use.name);
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
    sql.exec(
      "INSERT OR REPLACE INTO sequence (id, next, is_timed) VALUES (0, ?, ?)",
      first + count * step,
      Number(use.isTimed ?? false),
    );
    if (!isSame && interleaved !== undefined) {
      const { from, part, parts } = interleaved;
      sql.exec("INSERT OR REPLACE INTO interleaved (id, first, part, parts) VALUES (0, ?, ?, ?)", from, part, parts);
    }
    return { first, isReserved: true, step };
  }

  /** No one can ask for the names of objects: an export of a running gateway would lack a sequence that is not listed. */
  async #beListed(name = this.ctx.id.name): Promise<void> {
    const { sql } = this.ctx.storage;
    if (sql.exec("SELECT 1 FROM listed").toArray().length > 0) return;
    await listOf(this.env.SEQUENCES).list(this.ctx.id.toString(), name);
    sql.exec("INSERT OR IGNORE INTO listed (id) VALUES (0)");
  }

  async list(id: string, name: string | undefined): Promise<void> {
    this.ctx.storage.sql.exec(
      "INSERT INTO names (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = coalesce(excluded.name, name)",
      id,
      name ?? null,
    );
  }

  async listed(after: string): Promise<readonly ListedSequence[]> {
    return this.ctx.storage.sql
      .exec<{ id: string; name: string | null }>(
        "SELECT id, name FROM names WHERE id > ? ORDER BY id LIMIT ?",
        after,
        LISTED_MAX,
      )
      .toArray()
      .map(({ id, name }) => ({ id, name: name ?? undefined }));
  }
}

type InterleavedRow = { readonly first: number; readonly part: number; readonly parts: number };
