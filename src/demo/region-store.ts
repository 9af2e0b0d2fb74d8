import { DatabaseSync } from "node:sqlite";
import type { JsonValue } from "./json.ts";

/** One region's own documents, in memory: what another region stored is not here. */
export interface RegionStore {
  /** `undefined`: there is no such document. */
  read(path: string): JsonValue | undefined;
  /** Whether the document is new. */
  write(path: string, document: JsonValue): boolean;
  /** Whether there was such a document. */
  remove(path: string): boolean;
  close(): void;
}

/** `path` names a document: `/orders/<id>`, or anything below it. */
export function openRegionStore(): RegionStore {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE document (path TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID, STRICT");
  const select = database.prepare("SELECT body FROM document WHERE path = ?");
  const upsert = database.prepare("INSERT OR REPLACE INTO document (path, body) VALUES (?, ?)");
  const erase = database.prepare("DELETE FROM document WHERE path = ?");
  const read = (path: string): JsonValue | undefined => {
    const body = select.get(path)?.["body"];
    return typeof body === "string" ? JSON.parse(body) : undefined;
  };
  return {
    read,
    write(path, document) {
      const isNew = read(path) === undefined;
      upsert.run(path, JSON.stringify(document));
      return isNew;
    },
    remove: (path) => erase.run(path).changes > 0,
    close: () => database.close(),
  };
}
