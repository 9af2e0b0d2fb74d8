import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Engine } from "./databases.bench.ts";

const PAGE_BYTES = 4096;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** SQLite in a file of its own. A table without row numbers is one B-tree: its pages are those of the index. */
export function startSqlite(): Engine {
  const folder = mkdtempSync(join(tmpdir(), "waybill-sqlite-"));
  const path = join(folder, "ids.db");
  const database = new DatabaseSync(path);
  // The log then has each page that a transaction changed, once: no page is written before the commit.
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`);
  database.exec("PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF");
  const figure = (sql: string): unknown => database.prepare(sql).get()?.["figure"];
  const emptyLog = (): void => database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return {
    name: "SQLite",
    version: String(figure("SELECT sqlite_version() AS figure")),
    async fill(batches) {
      database.exec("DROP TABLE IF EXISTS ids; CREATE TABLE ids (id BLOB PRIMARY KEY) WITHOUT ROWID");
      const insert = database.prepare("INSERT INTO ids VALUES (?)");
      const touched: number[] = [];
      for (const { ids, isMeasured } of batches) {
        if (isMeasured) emptyLog();
        database.exec("BEGIN");
        for (const id of ids) insert.run(Buffer.from(id, "hex"));
        database.exec("COMMIT");
        if (isMeasured) touched.push(pagesIn(readFileSync(`${path}-wal`)));
      }
      const pages = Number(figure("SELECT count(*) AS figure FROM dbstat WHERE name = 'ids'"));
      emptyLog();
      return { bytes: pages * PAGE_BYTES, pages, touched };
    },
    async stop() {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The number of pages in a log. The first page is about the file. */
function pagesIn(log: Buffer): number {
  const pages = new Set<number>();
  for (let at = LOG_HEADER_BYTES; at < log.length; at += FRAME_HEADER_BYTES + PAGE_BYTES)
    pages.add(log.readUInt32BE(at));
  pages.delete(1);
  return pages.size;
}
