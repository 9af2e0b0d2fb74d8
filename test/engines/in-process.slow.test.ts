import { expect, it } from "vitest";
import { distributedId } from "../../src/ids/index.ts";
import { storeColumn } from "../../src/ids/stores/column.ts";
import { describeEngine } from "./describe-engine.ts";
import { equality, misplaced, postgresPartitions } from "./measure.ts";
import { MINTED, mintedIds } from "./minted.ts";
import { openPglite } from "./servers/postgres.ts";
import { openSqlite } from "./servers/sqlite.ts";

describeEngine("PostgreSQL of PGlite", {
  name: "postgresql",
  open: openPglite,
  partitions: postgresPartitions,
  types: {
    bytea: { iuid: "right", cuid: "right" },
    "numeric(39,0)": { flake: "right", "distributed-id-128": "right", iuid: "no-number" },
    "double precision": { snowflake: "rounds", "distributed-id": "rounds" },
    jsonb: { iuid: "opaque" },
  },
});

describeEngine("SQLite", {
  name: "sqlite",
  open: async () => openSqlite(),
  types: {
    TEXT: { iuid: "right" },
    BLOB: { ulid: "right", snowflake: "right" },
    INTEGER: { flake: "too-great", "flake-id": "right", iuid: "no-number" },
    UUID: { iuid: "guesses", "distributed-id": "guesses" },
    "DECIMAL(28,0)": { "distributed-id": "guesses" },
  },
});

it("the measurement sees a column that rounds, and one that sorts otherwise", async () => {
  const engine = openSqlite();
  const ids = mintedIds(distributedId);
  const column = storeColumn("sqlite", distributedId);
  if (!column.ok) throw new Error(column.error.reason);
  const rows = ids.map((words, place) => `(${distributedId.format(words)}, ${place})`);
  await engine.run(`CREATE TABLE ids (id REAL, place INTEGER); INSERT INTO ids VALUES ${rows}`);
  const bare = { ...column.value, literal: distributedId.format };
  expect(await equality(engine, bare, ids)).toEqual({ self: MINTED, apart: 0 });
  expect(await misplaced(engine)).toBe(0);
  await engine.run("UPDATE ids SET id = substr(id, -6, 1) || id");
  expect(await misplaced(engine)).toBeGreaterThan(0);
  expect((await equality(engine, bare, ids)).self).toBeLessThan(MINTED);
  await engine.close();
});
