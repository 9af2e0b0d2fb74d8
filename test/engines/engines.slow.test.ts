import { describeEngine } from "./describe-engine.ts";
import { mariadbPartitions, postgresPartitions } from "./measure.ts";
import { enginePackages, type Packages } from "./packages.ts";
import { openDuckdb } from "./servers/duckdb.ts";
import type { Engine } from "./servers/engine.ts";
import { startMariadb } from "./servers/mariadb.ts";
import { startPostgres } from "./servers/postgres.ts";

/** Engines that need a download, or a package of Debian. */
const openBy = (open: (packages: Packages) => Promise<Engine | undefined>) => async (): Promise<Engine | undefined> => {
  const packages = await enginePackages();
  return packages && open(packages);
};

describeEngine("PostgreSQL with ICU", {
  name: "postgresql",
  open: openBy(startPostgres),
  partitions: postgresPartitions,
  types: {
    // The condition says COLLATE "C" itself.
    text: { ksuid: "right", "push-id": "right", ulid: "right", iuid: "right" },
    'text COLLATE "C"': { ksuid: "right", iuid: "right" },
    bytea: { iuid: "right" },
    uuid: { iuid: "right", ksuid: "not-16-bytes" },
  },
});

describeEngine("DuckDB", {
  name: "duckdb",
  open: openBy(openDuckdb),
  types: {
    HUGEINT: { "distributed-id": "right", iuid: "no-number" },
    VARCHAR: { iuid: "right", "distributed-id": "right" },
    BLOB: { iuid: "right" },
    DOUBLE: { snowflake: "rounds" },
  },
});

describeEngine("MariaDB", {
  name: "mariadb",
  open: openBy(startMariadb),
  partitions: mariadbPartitions,
  types: {
    UUID: { iuid: "refused-uuids", hotguid: "refused-uuids", "uuid-v7": "right", "comb-prefix": "no-column-order" },
    "VARCHAR(40)": { ksuid: "caseless", "distributed-id": "right" },
    "VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin": { ksuid: "right", iuid: "right" },
    "DECIMAL(38,0)": { "distributed-id": "right" },
    DOUBLE: { snowflake: "rounds" },
  },
});
