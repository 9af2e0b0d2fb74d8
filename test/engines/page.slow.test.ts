import { describe, expect, it } from "vitest";
import { enginePackages, type Packages } from "./packages.ts";
import { statementsOf } from "./page.ts";
import { openDuckdb } from "./servers/duckdb.ts";
import type { Engine } from "./servers/engine.ts";
import { startMariadb } from "./servers/mariadb.ts";
import { startPostgres } from "./servers/postgres.ts";

/** The statements of `docs/guides/databases.md` on engines that need a download. PGlite and node:sqlite run theirs in `npm test`. */

const packages = (await enginePackages()) as Packages;

/** The first column of each SELECT, in the order of the page. */
const runAll = async (engine: Engine, name: string): Promise<readonly (readonly string[])[]> => {
  const selected: (readonly string[])[] = [];
  for (const sql of statementsOf(name)) {
    if (sql.startsWith("SELECT")) selected.push(await engine.list(sql));
    else await engine.run(sql);
  }
  return selected;
};

describe.skipIf(packages === undefined)("statements of the page", () => {
  it("run on MariaDB, and a period reads one partition", async ({ skip }) => {
    const engine = await startMariadb(packages);
    if (engine === undefined) return skip("MariaDB is not installed");
    try {
      expect(await runAll(engine, "MariaDB")).toEqual([["019b76daa8008005804000000000001f"]]);
      const explain = statementsOf("MariaDB").find((sql) => sql.startsWith("EXPLAIN")) ?? "";
      expect(explain).toContain("BETWEEN");
      expect(JSON.stringify(await engine.run(explain))).toContain('"partitions":"orders_2026_01"');
    } finally {
      await engine.close();
    }
  });

  it("run on DuckDB", async () => {
    const engine = await openDuckdb(packages);
    expect(await runAll(engine, "DuckDB")).toEqual([["1088824355131185736905670087"], ["1"]]);
    await engine.close();
  });

  it("run on PostgreSQL with ICU", async () => {
    const engine = await startPostgres(packages);
    try {
      expect(await runAll(engine, "PostgreSQL")).toEqual([["orders_2026_01"]]);
    } finally {
      await engine.close();
    }
  });
});
