import { DatabaseSync } from "node:sqlite";
import type { Engine } from "./engine.ts";

export const openSqlite = (): Engine => {
  const database = new DatabaseSync(":memory:");
  const list: Engine["list"] = async (sql) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement.all().map((row) => String(Object.values(row)[0]));
  };
  const version = database.prepare("SELECT sqlite_version() AS version").get()?.["version"];
  return {
    title: `SQLite ${version}`,
    run: async (sql) => database.exec(sql),
    list,
    close: () => void database.close(),
  };
};
