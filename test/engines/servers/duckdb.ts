import type { Packages } from "../packages.ts";
import type { Engine } from "./engine.ts";

export const openDuckdb = async ({ load }: Packages): Promise<Engine> => {
  const { DuckDBInstance } = load("@duckdb/node-api");
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const list: Engine["list"] = async (sql) => {
    const rows: readonly (readonly unknown[])[] = (await connection.runAndReadAll(sql)).getRows();
    return rows.map(([first]) => String(first));
  };
  const [version = ""] = await list("SELECT version()");
  const close = async () => {
    connection.closeSync();
    instance.closeSync();
  };
  return { title: `DuckDB ${version.replace(/^v/, "")}`, run: (sql) => connection.run(sql), list, close };
};
