import { DurableObject } from "cloudflare:workers";

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
