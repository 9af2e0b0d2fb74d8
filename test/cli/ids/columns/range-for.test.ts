import { describe, expect, it } from "vitest";
import { objectsOf, waybill } from "../../fake-runtime.ts";

const JANUARY = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00Z"];
const range = (...args: readonly string[]) =>
  waybill(["id", "range", ...args, ...(args.includes("--from") ? [] : JANUARY)]);

describe.concurrent("waybill id range --for", () => {
  it.each([
    ["iuid", "mariadb", "id BETWEEN x'019b76daa80080008000000000000000' AND x'019c167fcbff80ffbfffffffffffffff'"],
    ["iuid", "mysql", "id BETWEEN x'019b76daa80080008000000000000000' AND x'019c167fcbff80ffbfffffffffffffff'"],
    [
      "iuid",
      "postgresql",
      "id BETWEEN '019b76da-a800-8000-8000-000000000000'::uuid AND '019c167f-cbff-80ff-bfff-ffffffffffff'::uuid",
    ],
    ["iuid", "sqlite", "id BETWEEN x'019b76daa80080008000000000000000' AND x'019c167fcbff80ffbfffffffffffffff'"],
    ["iuid", "sqlserver", "id BETWEEN 0x019b76daa80080008000000000000000 AND 0x019c167fcbff80ffbfffffffffffffff"],
    [
      "comb-suffix",
      "sqlserver",
      "id BETWEEN CAST('00000000-0000-4000-8000-019b76daa800' AS uniqueidentifier) AND CAST('ffffffff-ffff-4fff-bfff-019c167fcbff' AS uniqueidentifier)",
    ],
    [
      "iuid",
      "oracle",
      "id BETWEEN HEXTORAW('019B76DAA80080008000000000000000') AND HEXTORAW('019C167FCBFF80FFBFFFFFFFFFFFFFFF')",
    ],
    [
      "iuid",
      "duckdb",
      "id BETWEEN '019b76da-a800-8000-8000-000000000000'::UUID AND '019c167f-cbff-80ff-bfff-ffffffffffff'::UUID",
    ],
    [
      "iuid",
      "clickhouse",
      "id BETWEEN unhex('019b76daa80080008000000000000000') AND unhex('019c167fcbff80ffbfffffffffffffff')",
    ],
    ["iuid", "redis", 'ZRANGEBYLEX id "[019b76da-a800-8000-8000-000000000000" "[019c167f-cbff-80ff-bfff-ffffffffffff"'],
    ["distributed-id", "mariadb", "id BETWEEN '1119204855636575020646400000' AND '1119958758214196841676799999'"],
    ["distributed-id", "mysql", "id BETWEEN 1119204855636575020646400000 AND 1119958758214196841676799999"],
    ["distributed-id", "postgresql", "id BETWEEN 1119204855636575020646400000 AND 1119958758214196841676799999"],
    ["distributed-id", "sqlite", "id BETWEEN '1119204855636575020646400000' AND '1119958758214196841676799999'"],
    ["distributed-id", "sqlserver", "id BETWEEN 1119204855636575020646400000 AND 1119958758214196841676799999"],
    ["distributed-id", "oracle", "id BETWEEN 1119204855636575020646400000 AND 1119958758214196841676799999"],
    [
      "distributed-id",
      "duckdb",
      "id BETWEEN '1119204855636575020646400000'::DECIMAL(28,0) AND '1119958758214196841676799999'::DECIMAL(28,0)",
    ],
    [
      "distributed-id",
      "clickhouse",
      "id BETWEEN toDecimal128('1119204855636575020646400000', 0) AND toDecimal128('1119958758214196841676799999', 0)",
    ],
    ["distributed-id", "redis", 'ZRANGEBYLEX id "[1119204855636575020646400000" "[1119958758214196841676799999"'],
    ["snowflake", "mariadb", "id BETWEEN 2006515713438646272 AND 2017749737272246271"],
    [
      "snowflake",
      "sqlserver",
      "id BETWEEN CAST(2006515713438646272 AS bigint) AND CAST(2017749737272246271 AS bigint)",
    ],
    [
      "snowflake",
      "redis",
      'ZRANGEBYLEX id "[\\x1b\\xd8\\x93\\x69\\x0f\\xc0\\x00\\x00" "[\\x1c\\x00\\x7c\\xb2\\x0f\\xbf\\xff\\xff"',
    ],
    ["flake-id", "sqlite", "id BETWEEN x'66ddb6aa00000000' AND x'67059ff2ffffffff'"],
    ["ksuid", "postgresql", "id COLLATE \"C\" BETWEEN '37dGalnvVFpJFsmiFDGIwmudA4O' AND '392pQ3mXNsQf8BuNTust2ggQUGN'"],
    [
      "ksuid",
      "sqlserver",
      "id COLLATE Latin1_General_BIN2 BETWEEN '37dGalnvVFpJFsmiFDGIwmudA4O' AND '392pQ3mXNsQf8BuNTust2ggQUGN'",
    ],
    [
      "elasticflake",
      "duckdb",
      "id BETWEEN from_hex('019b76daa800000000000000000000') AND from_hex('019c167fcbffffffffffffffffffff')",
    ],
    ["sid", "mariadb", "id BETWEEN '18867251edfa0000-0000000000000000' AND '188ff64f868affff-7fffffffffffffff'"],
  ])("%s on %s", async (layout, engine, condition) => {
    const { stdout, code } = await range(layout, "--for", engine);
    expect({ stdout, code }).toEqual({ stdout: `${condition}\n`, code: 0 });
  });

  it.each([
    [
      "clickhouse",
      ["iuid", "--type", "UUID"],
      "UUIDToNum(id) BETWEEN UUIDStringToNum('019b76da-a800-8000-8000-000000000000') AND UUIDStringToNum('019c167f-cbff-80ff-bfff-ffffffffffff')",
    ],
    [
      "mariadb",
      ["uuid-v7", "--type", "UUID"],
      "id BETWEEN '019b76da-a800-7000-8000-000000000000' AND '019c167f-cbff-7fff-bfff-ffffffffffff'",
    ],
    [
      "mariadb",
      ["comb-suffix", "--type", "uuid"],
      "id BETWEEN '00000000-0000-4000-8000-019b76daa800' AND 'ffffffff-ffff-4fff-bfff-019c167fcbff'",
    ],
    [
      "mysql",
      ["iuid", "--type", "char(36)"],
      "id BETWEEN '019b76da-a800-8000-8000-000000000000' AND '019c167f-cbff-80ff-bfff-ffffffffffff'",
    ],
    [
      "mysql",
      ["iuid", "--text", "hex"],
      "id BETWEEN '019b76daa80080008000000000000000' AND '019c167fcbff80ffbfffffffffffffff'",
    ],
    [
      "postgresql",
      ["distributed-id", "--text", "uuid"],
      "id BETWEEN '00000000-039d-c8d8-cc00-000000000000'::uuid AND '00000000-039e-687d-efff-ffffffffffff'::uuid",
    ],
    [
      "postgresql",
      ["ksuid", "--type", "varchar(27)", "--column", "o.id"],
      "o.id COLLATE \"C\" BETWEEN '37dGalnvVFpJFsmiFDGIwmudA4O' AND '392pQ3mXNsQf8BuNTust2ggQUGN'",
    ],
    [
      "duckdb",
      ["distributed-id", "--type", "HUGEINT"],
      "id BETWEEN '1119204855636575020646400000'::HUGEINT AND '1119958758214196841676799999'::HUGEINT",
    ],
    [
      "clickhouse",
      ["distributed-id", "--type", "UInt128"],
      "id BETWEEN toUInt128('1119204855636575020646400000') AND toUInt128('1119958758214196841676799999')",
    ],
    [
      "clickhouse",
      ["ulid", "--type", "FixedString(26)"],
      "id BETWEEN '01KDVDNA000000000000000000' AND '01KGB7ZJZZZZZZZZZZZZZZZZZZ'",
    ],
    [
      "redis",
      ["iuid", "--type", "bytes", "--column", "orders:{eu}"],
      'ZRANGEBYLEX orders:{eu} "[\\x01\\x9b\\x76\\xda\\xa8\\x00\\x80\\x00\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00" "[\\x01\\x9c\\x16\\x7f\\xcb\\xff\\x80\\xff\\xbf\\xff\\xff\\xff\\xff\\xff\\xff\\xff"',
    ],
  ])("another column of %s: %j", async (engine, args, condition) => {
    const { stdout, code } = await range(...args, "--for", engine);
    expect({ stdout, code }).toEqual({ stdout: `${condition}\n`, code: 0 });
  });

  it.each([
    ["mariadb", ["iuid", "--type", "UUID"], "refuses every iuid of services 0 to 3"],
    ["mariadb", ["iuid", "--type", "UUID"], "Use BINARY(16).\n"],
    ["mariadb", ["hotguid", "--type", "UUID"], "refuses some IDs of hotguid"],
    ["mariadb", ["comb-prefix", "--type", "UUID"], "do not sort by time in UUID of MariaDB. Use BINARY(16).\n"],
    ["mariadb", ["comb-suffix"], "do not sort by time in BINARY(16) of MariaDB. Use UUID.\n"],
    ["mysql", ["comb-suffix"], "Store comb-prefix instead: `waybill id convert --to comb-prefix ID`.\n"],
    ["mysql", ["ksuid", "--type", "VARCHAR(27)"], "takes capitals and small letters as equal"],
    ["mysql", ["ksuid", "--type", "VARCHAR(27) COLLATE utf8mb4_0900_as_cs"], "does not sort texts of ksuid by time"],
    ["mysql", ["iuid", "--type", "UUID"], 'MySQL has no column type "UUID"'],
    ["postgresql", ["ksuid", "--type", "citext"], 'Use text COLLATE "C".\n'],
    ["sqlite", ["object-id", "--type", "UUID"], "SQLite takes UUID as numeric"],
    ["sqlite", ["distributed-id", "--type", "INTEGER"], "exceed INTEGER"],
    ["sqlite", ["ksuid", "--type", "TEXT COLLATE NOCASE"], "Use TEXT.\n"],
    [
      "sqlserver",
      ["iuid", "--type", "uniqueidentifier"],
      "do not sort by time in uniqueidentifier of SQL Server. Use BINARY(16).\n",
    ],
    [
      "mysql",
      ["flake-id", "--type", "BIGINT", "--from", "2040-01-01T00:00:00Z", "--to", "2040-02-01T00:00:00Z"],
      "exceed BIGINT from 2039-09-07",
    ],
    ["redis", ["snowflake", "--type", "score"], "score rounds to 53 bits"],
    ["clickhouse", ["distributed-id", "--type", "Float64"], "rounds to 53 bits"],
    [
      "duckdb",
      ["elasticflake", "--text", "base64url"],
      "does not sort texts of elasticflake by time. Use BLOB, without --text.\n",
    ],
    ["oracle", ["iuid", "--type", "RAW(20)"], "does not hold the 16 bytes"],
    ["oracle", ["iuid", "--type", "CHAR(32)"], "is too short: uuid of iuid has 36 characters"],
    ["postgresql", ["uuid-v7", "--type", "bigint"], "An ID of uuid-v7 has no decimal text"],
    ["mariadb", ["luuid"], "contains no time"],
    ["mariadb", ["iuid", "--partition", "--type", "BLOB"], "MariaDB has no partitions by ranges of BLOB.\n"],
    ["mariadb", ["distributed-id", "--partition"], "MariaDB has no partitions by ranges of DECIMAL(28,0).\n"],
    ["sqlite", ["iuid", "--partition"], "SQLite has no partitions"],
    ["postgresql", ["ksuid", "--partition", "--type", "text"], "PostgreSQL has no partitions by ranges of text.\n"],
    ["h2", ["iuid"], "It must be one of mariadb, mysql,", 64],
    ["mariadb", ["iuid", "--column", "id; --"], "Write the column as a statement has it", 64],
  ])("%s refuses %j", async (engine, args, error, wanted = 1) => {
    const { stdout, stderr, code } = await range(...args, "--for", engine);
    expect({ stdout, code }).toEqual({ stdout: "", code: wanted });
    expect(stderr).toContain(error);
  });

  it.each([
    ["mariadb", "iuid", "VALUES LESS THAN (x'019c167fcc0080008000000000000000')"],
    ["mariadb", "snowflake", "VALUES LESS THAN (2017749737272246272)"],
    [
      "postgresql",
      "iuid",
      "FOR VALUES FROM ('019b76da-a800-8000-8000-000000000000') TO ('019c167f-cc00-8000-8000-000000000000')",
    ],
    [
      "sqlserver",
      "iuid",
      "AS RANGE RIGHT FOR VALUES (0x019b76daa80080008000000000000000, 0x019c167fcc0080008000000000000000)",
    ],
    ["oracle", "iuid", "VALUES LESS THAN ('019C167FCC0080008000000000000000')"],
  ])("--partition of %s for %s", async (engine, layout, bound) => {
    const { stdout, code } = await range(layout, "--for", engine, "--partition");
    expect({ stdout, code }).toEqual({ stdout: `${bound}\n`, code: 0 });
  });

  it("has no upper bound where the time ends", async () => {
    const period = ["--from", "2106-01-01T00:00:00Z", "--to", "2107-01-01T00:00:00Z"];
    const { stdout } = await waybill(["id", "range", "object-id", "--for", "postgresql", "--partition", ...period]);
    expect(stdout).toBe("FOR VALUES FROM ('ffcedd800000000000000000') TO (MAXVALUE)\n");
  });

  it("gives one JSON object", async () => {
    const { stdout, stderr } = await range("iuid", "--for", "mysql", "--json");
    expect(stderr).toBe("");
    expect(objectsOf(stdout)).toEqual([
      {
        layout: "iuid",
        text: "uuid",
        order: "bits",
        from: "2026-01-01T00:00:00.000Z",
        to: "2026-02-01T00:00:00.000Z",
        least: "019b76da-a800-8000-8000-000000000000",
        greatest: "019c167f-cbff-80ff-bfff-ffffffffffff",
        engine: "mysql",
        column: "id",
        type: "BINARY(16)",
        isRecommended: true,
        condition: "id BETWEEN x'019b76daa80080008000000000000000' AND x'019c167fcbff80ffbfffffffffffffff'",
        partition: "VALUES LESS THAN (x'019c167fcc0080008000000000000000')",
        source: "by the manual of MySQL 8.4, not run here",
      },
    ]);
  });

  it.each(["--column=id", "--type=UUID", "--partition"])("%s needs an engine", async (flag) => {
    const { stderr, code } = await range("iuid", flag);
    expect(code).toBe(64);
    expect(stderr).toContain("needs --for");
  });
});
