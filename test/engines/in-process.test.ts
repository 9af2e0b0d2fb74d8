import { describeEngine } from "./describe-engine.ts";
import { postgresPartitions } from "./measure.ts";
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
