import { describe, expect, it } from "vitest";
import { everyLayout } from "../../../../src/ids/index.ts";
import { ENGINE_NAMES } from "../../../../src/ids/stores/engine.ts";
import { objectsOf, waybill } from "../../fake-runtime.ts";

const column = (...args: readonly string[]) => waybill(["id", "column", ...args]);
const jsonOf = async (...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> => {
  const { stdout, code } = await column(...args, "--json");
  return { ...(objectsOf(stdout)[0] as object), code };
};

describe.concurrent("waybill id column", () => {
  it("prints the definition first", async () => {
    const { stdout, stderr, code } = await column("iuid", "--for", "mariadb", "--column", "order_id");
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout.split("\n").slice(0, 7)).toEqual([
      "order_id BINARY(16) NOT NULL PRIMARY KEY",
      "",
      "  column  BINARY(16)",
      "  holds   the ID's bytes, most significant first",
      "  order   by time: waybill id range prints the condition of a period",
      "  write   x'019b76daa80080008000000000000000'",
      "  read    LOWER(HEX(order_id))",
    ]);
    expect(stdout).toContain("it refuses every iUID of services 0 to 3");
    expect(stdout).toContain("  source  measured on MariaDB 10.11.19\n");
  });

  it.each([
    ["iuid", ["BINARY(16)", "BINARY(16)", "uuid", "BLOB", "BINARY(16)", "RAW(16)", "UUID", "FixedString(16)", "text"]],
    [
      "comb-suffix",
      ["BINARY(16)", "BINARY(16)", "uuid", "BLOB", "uniqueidentifier", "RAW(16)", "UUID", "FixedString(16)", "text"],
    ],
    [
      "uuid-v4",
      ["BINARY(16)", "BINARY(16)", "uuid", "BLOB", "uniqueidentifier", "RAW(16)", "UUID", "FixedString(16)", "text"],
    ],
    [
      "flake",
      ["BINARY(16)", "BINARY(16)", "uuid", "BLOB", "BINARY(16)", "RAW(16)", "UUID", "FixedString(16)", "bytes"],
    ],
    [
      "distributed-id",
      [
        "DECIMAL(28,0)",
        "DECIMAL(28,0)",
        "numeric(28,0)",
        "TEXT",
        "DECIMAL(28,0)",
        "NUMBER(28,0)",
        "DECIMAL(28,0)",
        "Decimal(28,0)",
        "text",
      ],
    ],
    ["snowflake", ["BIGINT", "BIGINT", "bigint", "INTEGER", "BIGINT", "NUMBER(19,0)", "BIGINT", "Int64", "bytes"]],
    [
      "flake-id",
      [
        "BIGINT UNSIGNED",
        "BIGINT UNSIGNED",
        "numeric(20,0)",
        "BLOB",
        "DECIMAL(20,0)",
        "NUMBER(20,0)",
        "UBIGINT",
        "UInt64",
        "bytes",
      ],
    ],
    [
      "ulid",
      [
        "CHAR(26) CHARACTER SET ascii COLLATE ascii_bin",
        "CHAR(26) CHARACTER SET ascii COLLATE ascii_bin",
        'text COLLATE "C"',
        "TEXT",
        "CHAR(26) COLLATE Latin1_General_BIN2",
        "CHAR(26)",
        "VARCHAR",
        "String",
        "text",
      ],
    ],
    [
      "elasticflake",
      ["BINARY(15)", "BINARY(15)", "bytea", "BLOB", "BINARY(15)", "RAW(15)", "BLOB", "FixedString(15)", "bytes"],
    ],
  ])("%s has a column in each engine", async (layout, types) => {
    const found = await Promise.all(ENGINE_NAMES.map((engine) => jsonOf(layout, "--for", engine)));
    expect(found.map(({ type }) => type)).toEqual(types);
    expect(found.map(({ code }) => code)).toEqual(types.map(() => 0));
  });

  it.each(ENGINE_NAMES)("every layout keeps all its IDs in the recommended column of %s", async (engine) => {
    for (const { name } of everyLayout) {
      const { keepsAll, definition, source, code } = await jsonOf(name, "--for", engine);
      expect({ name, keepsAll, code }).toEqual({ name, keepsAll: true, code: 0 });
      expect(definition).toContain("id ");
      expect(String(source).startsWith("by the manual")).toBe(["mysql", "sqlserver", "oracle"].includes(engine));
    }
  });

  it.each([
    ["iuid", "mariadb", "UUID", "refuses every iuid of services 0 to 3"],
    ["hotguid", "mariadb", "UUID", "refuses some IDs of hotguid"],
    ["ksuid", "mysql", "VARCHAR(27)", "takes capitals and small letters as equal"],
    ["ksuid", "sqlserver", "CHAR(27) COLLATE Latin1_General_CI_AS", "takes capitals and small letters as equal"],
    ["object-id", "sqlite", "UUID", "an ID that reads as a number is stored as one"],
    ["snowflake", "postgresql", "double precision", "rounds to 53 bits"],
    ["distributed-id", "sqlserver", "BIGINT", "IDs of distributed-id exceed BIGINT"],
    ["iuid", "oracle", "VARCHAR2(32)", "is too short"],
  ])("%s in %s: %s loses IDs", async (layout, engine, type, reason) => {
    const { stdout, stderr, code } = await column(layout, "--for", engine, "--type", type);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain(reason);
    const { keepsAll, detail, use } = await jsonOf(layout, "--for", engine, "--type", type);
    expect({ keepsAll, has: String(detail).includes(reason) }).toEqual({ keepsAll: false, has: true });
    expect(stderr).toContain(`Use ${use}.`);
  });

  it.each([
    ["flake-id", "mysql", "BIGINT", "2039-09-07T15:47:35.552Z"],
    ["distributed-id-128", "sqlserver", "DECIMAL(38,0)", "4321-03-26"],
  ])("%s in %s exceeds %s from a day on", async (layout, engine, type, day) => {
    const { stdout, code } = await column(layout, "--for", engine, "--type", type);
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`trap +IDs of ${layout} exceed .* from ${day}`));
  });

  it.each([
    ["clickhouse", "uuid-v7", "UUID", "UUID sorts by its second half"],
    ["duckdb", "distributed-id", "HUGEINT", "the export writes a DOUBLE"],
    ["mariadb", "distributed-id", "DECIMAL(28,0)", "drops IDs of the list as equal"],
    ["mysql", "distributed-id", "DECIMAL(28,0)", "A quoted literal compares as a double"],
    ["mariadb", "distributed-id", "VARCHAR(28)", "removed three rows"],
    ["postgresql", "ksuid", "text", "215 to 256 of 300 IDs were misplaced"],
    ["sqlserver", "iuid", "uniqueidentifier", "not in the order of minting"],
    ["redis", "snowflake", "bytes", "that of one Snowflake found three"],
    ["duckdb", "distributed-id-128", "UUID", "2296"],
    ["postgresql", "hotguid", "uuid", "npm uuid's validate()"],
    ["duckdb", "object-id", "VARCHAR", "YAML and CSV"],
    ["postgresql", "distributed-id", "uuid", "npm uuid's validate()"],
    ["clickhouse", "object-id", "FixedString(24)", "YAML and CSV"],
  ])("%s says of %s in %s: %s", async (engine, layout, type, text) => {
    const { traps } = await jsonOf(layout, "--for", engine, "--type", type);
    expect((traps as string[]).filter((trap) => trap.includes(text))).toHaveLength(1);
  });

  it("says only what applies", async () => {
    const { traps } = await jsonOf("iuid", "--for", "postgresql");
    expect(traps).toEqual(["min(id) and max(id) do not exist in 15 to 18.4: ORDER BY id LIMIT 1."]);
    expect((await jsonOf("uuid-v7", "--for", "mariadb"))["traps"]).toEqual([
      "A bound as text, such as '019b76da-…', selects all rows or none, without an error: write x'…'.",
      "mariadb 3.5.4 sends a Uint8Array as a JSON text: pass Buffer.from(bytes.buffer). mysql2 takes both.",
    ]);
  });
});
