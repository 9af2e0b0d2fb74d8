import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { declareLayout, everyLayout, type Layout, type Words } from "../../../src/ids/index.ts";
import { engineOf, recommendedType, storeColumn } from "../../../src/ids/stores/column.ts";
import { ENGINE_NAMES } from "../../../src/ids/stores/engine.ts";
import {
  type ColumnOrder,
  compareIn,
  isRefusedByMariadb,
  mariadbUuid,
  rises,
  sortsByTime,
} from "../../../src/ids/stores/order.ts";
import { storePeriod } from "../../../src/ids/stores/period.ts";
import { byteCount } from "../../../src/ids/stores/value.ts";
import { anyFitting } from "../arbitraries.ts";

const of16Bytes = everyLayout.filter((layout) => byteCount(layout) === 16);
const named = (name: string): Layout => everyLayout.find((layout) => layout.name === name) as Layout;
const namesOf = (layouts: readonly Layout[]): readonly string[] => layouts.map(({ name }) => name);
const byte = (words: Words, at: number): number => ((words[at >>> 2] as number) >>> (24 - 8 * (at & 3))) & 0xff;

describe("MariaDB's UUID", () => {
  it.each(of16Bytes)("refuses of $name what it says", (layout) => {
    const { refuses } = mariadbUuid(layout);
    fc.assert(
      fc.property(anyFitting(layout), (words) => {
        const isRefused = isRefusedByMariadb(byte(words, 6), byte(words, 8));
        if (refuses === "none") expect(isRefused).toBe(false);
        if (refuses === "all") expect(isRefused).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it("keeps these layouts whole, in the order of their bits, of their groups in reverse, or of both", () => {
    const kept = of16Bytes.filter((layout) => mariadbUuid(layout).refuses === "none");
    const inOrder = (order: ColumnOrder) => namesOf(kept.filter((layout) => mariadbUuid(layout).order === order));
    expect(inOrder("bits")).toEqual(["luuid", "distributed-id-128", "uuid-v6", "uuid-v7", "uuid-nil", "uuid-max"]);
    const version4 = [
      "short-prefix-comb",
      "short-suffix-comb",
      "comb-prefix",
      "comb-suffix",
      "comb-sql-legacy",
      "ordered-uuid",
    ];
    expect(inOrder("groups")).toEqual([...version4, "uuid-v1", "uuid-v2", "uuid-v3", "uuid-v4", "uuid-v5"]);
    expect(inOrder("mixed")).toEqual([]);
  });
});

const ORDERS = ["bits", "sqlserver", "halves", "groups"] as const;

describe("orders", () => {
  it("sort these layouts of 16 bytes by time", () => {
    const sorted = Object.fromEntries(
      ORDERS.map((order) => [order, namesOf(of16Bytes.filter((layout) => sortsByTime(layout, order)))]),
    );
    const suffixed = ["comb-suffix", "comb-sql-legacy"];
    expect(sorted["sqlserver"]).toEqual(["hotguid-sql", ...suffixed]);
    // MariaDB refuses some of hotguid-sql.
    expect(sorted["groups"]).toEqual(["hotguid-sql", ...suffixed]);
    expect(sorted["halves"]).toEqual([]);
    expect(sorted["bits"]).toEqual(
      expect.arrayContaining([
        "iuid",
        "hotguid",
        "distributed-id",
        "comb-prefix",
        "uuid-v6",
        "uuid-v7",
        "flake",
        "ulid",
      ]),
    );
  });

  it("let these layouts rise by one minter", () => {
    const rising = (order: ColumnOrder) => namesOf(of16Bytes.filter((layout) => rises(layout, order)));
    expect(rising("groups")).toEqual(["hotguid-sql", "short-suffix-comb", "comb-suffix", "comb-sql-legacy", "uuid-v1"]);
    expect(rising("halves")).toEqual(expect.arrayContaining(["hotguid-sql", "uuid-v6", "lexical-uuid"]));
    expect(rising("bits")).toEqual(expect.arrayContaining(["luuid", "short-prefix-comb"]));
    expect(rising("mixed")).toEqual([]);
  });

  const FROM_MS = Date.UTC(2026, 0, 1);
  const TO_MS = Date.UTC(2027, 0, 1);
  const timed = everyLayout.flatMap((layout) =>
    ORDERS.filter(
      (order) =>
        sortsByTime(layout, order) &&
        (order === "bits" || byteCount(layout) === 16) &&
        (order !== "groups" || layout.name !== "hotguid-sql"),
    ).map((order) => ({
      layout,
      order,
      name: `${layout.name} by ${order}`,
    })),
  );

  it.each(timed)("$name: the bounds hold what was minted in the period, and no more", ({ layout, order }) => {
    const engine = order === "sqlserver" ? "sqlserver" : order === "groups" ? "mariadb" : "sqlite";
    const type = order === "sqlserver" ? "uniqueidentifier" : order === "groups" ? "UUID" : undefined;
    const period = storePeriod(engine, layout, { fromMs: FROM_MS, toMs: TO_MS, name: "id" }, { type });
    if (!period.ok) throw new Error(period.error.reason);
    const { least, greatest } = period.value;
    const compare = compareIn(order);
    const time = layout.fields.find(({ role }) => role === "time");
    const near = fc.integer({ min: -3, max: 3 });
    const edges = fc.constantFrom(least, greatest);
    fc.assert(
      fc.property(anyFitting(layout), near, edges, fc.boolean(), (any, distance, edge, isNear) => {
        const words = any.slice();
        const value = (time?.readBig(edge) ?? 0n) + BigInt(distance);
        if (isNear && value >= 0n && value <= BigInt(time?.max ?? 0)) time?.write(words, value);
        if (!layout.fits(words)) return;
        const mintedAtMs = layout.mintedAtMs?.(words) ?? Number.POSITIVE_INFINITY;
        const isWithin = compare(least, words) <= 0 && compare(words, greatest) <= 0;
        expect(isWithin).toBe(mintedAtMs >= FROM_MS && mintedAtMs < TO_MS);
      }),
      { numRuns: 60 },
    );
  });
});

const declared = (text: "uuid" | "hex" | "base62" | "base64url" | "decimal", bits: number, prefix?: string): Layout => {
  const rows = [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: 0 },
    { field: "random", bits: bits - 48, role: "random" },
  ] as const;
  const layout = declareLayout({ name: "own", rows, text, ...(prefix === undefined ? {} : { prefix }) });
  if (!layout.ok) throw new Error(layout.error.reason);
  return layout.value;
};

describe("layouts of a table", () => {
  const MYSQL_TEXT = "CHARACTER SET ascii COLLATE ascii_bin";
  it.each([
    ["uuid", 128, undefined, ["BINARY(16)", `uuid`, "BLOB"]],
    ["hex", 128, undefined, ["BINARY(16)", `uuid`, "BLOB"]],
    ["hex", 96, undefined, [`CHAR(24) ${MYSQL_TEXT}`, 'text COLLATE "C"', "TEXT"]],
    ["uuid", 128, "ord_", ["BINARY(16)", `uuid`, "BLOB"]],
    ["base62", 96, "ord_", [`CHAR(21) ${MYSQL_TEXT}`, 'text COLLATE "C"', "TEXT"]],
    ["base64url", 96, undefined, ["BINARY(12)", "bytea", "BLOB"]],
    ["decimal", 60, undefined, ["BIGINT", "bigint", "INTEGER"]],
    ["decimal", 64, undefined, ["BIGINT UNSIGNED", "numeric(20,0)", "BLOB"]],
    ["decimal", 93, undefined, ["DECIMAL(28,0)", "numeric(28,0)", "BLOB"]],
    ["decimal", 160, undefined, ["BINARY(20)", "bytea", "BLOB"]],
  ] as const)("%s of %i bits with prefix %s", (text, bits, prefix, types) => {
    const layout = declared(text, bits, prefix);
    expect(
      (["mariadb", "postgresql", "sqlite"] as const).map((name) => recommendedType(engineOf(name), layout)),
    ).toEqual(types);
    for (const name of ENGINE_NAMES) {
      expect(storeColumn(name, layout).ok).toBe(true);
      expect(storePeriod(name, layout, { fromMs: 0, toMs: 1, name: "id" }).ok).toBe(true);
    }
  });

  it("have literals without their prefix, but as text", () => {
    const period = { fromMs: 1, toMs: 2, name: "id" };
    const condition = (layout: Layout) => {
      const found = storePeriod("postgresql", layout, period);
      return found.ok ? found.value.condition : found.error;
    };
    expect(condition(declared("decimal", 60, "n_"))).toBe("id BETWEEN 4096 AND 8191");
    expect(condition(declared("base62", 54, "o_"))).toMatch(/^id COLLATE "C" BETWEEN 'o_\w{10}' AND 'o_\w{10}'$/);
  });
});

describe("spellings of types", () => {
  const holdsIn = (engine: (typeof ENGINE_NAMES)[number], layout: string, type: string): string => {
    const column = storeColumn(engine, named(layout), { type });
    return column.ok ? column.value.type.holds : column.error.reason;
  };

  it.each([
    ["mysql", "flake-id", "bigint unsigned", "number"],
    ["mysql", "flake-id", " BigInt(20)  Unsigned NOT NULL ", "number"],
    ["mysql", "iuid", "BINARY (16) NOT NULL PRIMARY KEY", "bytes"],
    ["mysql", "iuid", "VARBINARY(16)", "bytes"],
    ["mysql", "iuid", "BINARY(20)", "byte-count"],
    ["mysql", "ksuid", "CHAR(27) CHARACTER SET latin1 COLLATE latin1_bin", "text"],
    ["mysql", "ksuid", "CHAR(27) CHARACTER SET ascii", "caseless"],
    ["mysql", "distributed-id", "decimal( 28 , 0 )", "number"],
    ["mysql", "snowflake", "INT UNSIGNED", "number"],
    ["mysql", "snowflake", "DOUBLE PRECISION", "rounds"],
    ["mysql", "iuid", "GEOMETRY", "unknown-type"],
    ["mysql", "iuid", "", "unknown-type"],
    ["postgresql", "snowflake", "int8", "number"],
    ["postgresql", "distributed-id", "numeric", "number"],
    ["postgresql", "ksuid", 'varchar(27) COLLATE "en-x-icu"', "text"],
    ["postgresql", "ksuid", "varchar(20)", "too-long"],
    ["postgresql", "ksuid", "citext", "caseless"],
    ["postgresql", "snowflake", "jsonb", "opaque"],
    // Its affinity decides, whatever the name.
    ["sqlite", "snowflake", "UNSIGNED BIG INT", "number"],
    ["sqlite", "snowflake", "FLOATING POINT", "number"],
    ["sqlite", "ksuid", "VARYING CHARACTER(255)", "text"],
    ["sqlite", "ksuid", "TEXT COLLATE PRINTABLE", "text"],
    ["sqlite", "ksuid", "varchar(27) collate nocase", "caseless"],
    ["sqlite", "iuid", "DOUBLE PRECISION", "rounds"],
    ["sqlite", "iuid", "DECIMAL(10, 5)", "guesses"],
    ["sqlserver", "ksuid", "nvarchar(27) COLLATE Latin1_General_100_BIN2_UTF8", "text"],
    ["sqlserver", "ksuid", "varchar(max) COLLATE Latin1_General_CI_AI", "caseless"],
    ["oracle", "iuid", "VARCHAR2(36 CHAR)", "text"],
    ["oracle", "iuid", "BLOB", "opaque"],
    ["oracle", "distributed-id", "NUMBER", "number"],
    ["duckdb", "distributed-id", "DECIMAL(27,0)", "too-great"],
    ["duckdb", "distributed-id", "DECIMAL", "rounds"],
    ["duckdb", "uuid-v7", "UHUGEINT", "no-number"],
    ["clickhouse", "iuid", "Nullable(UUID)", "uuid"],
    ["clickhouse", "ulid", "LowCardinality(Nullable(String))", "text"],
    ["clickhouse", "ulid", "FixedString(26)", "text"],
    ["clickhouse", "ulid", "FixedString(16)", "bytes"],
    ["clickhouse", "distributed-id", "Decimal(28, 0)", "number"],
    ["redis", "snowflake", "Score", "rounds"],
  ] as const)("%s: %s in %j is %s", (engine, layout, type, expected) => {
    expect(holdsIn(engine, layout, type)).toBe(expected);
  });
});
