import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enginePackages, type Packages } from "./packages.ts";
import { openDuckdb } from "./servers/duckdb.ts";
import { startRedis } from "./servers/redis.ts";

/** Formats of files and messages, and Redis, with a Snowflake and a DistributedId: what `docs/guides/databases.md` says of each. */

const SNOWFLAKE = "1541815603606036481";
const ROUNDED = 1541815603606036500;
const DIGITS = "1119204855355262683623920809";
const ROUNDED_DIGITS = 1.1192048553552626e27;
/** An ObjectId of 2026 in hex: digits, one `e`, digits. */
const NUMBER_LIKE = "6920000012345678901234e5";

const packages = (await enginePackages()) as Packages;

describe.skipIf(packages === undefined)("text formats make numbers of IDs without quotes", () => {
  const yaml = `hex: ${NUMBER_LIKE}\nid: ${SNOWFLAKE}\ndigits: ${DIGITS}\n`;
  const rounded = { hex: 6.920000012345678e26, id: ROUNDED, digits: ROUNDED_DIGITS };
  const kept = { hex: NUMBER_LIKE, id: SNOWFLAKE, digits: DIGITS };
  const quoted = yaml.replace(/: (.+)/g, ': "$1"');

  it.each([
    ["js-yaml", () => packages.load("js-yaml").load],
    ["yaml", () => packages.load("yaml").parse],
  ] as const)("%s", (_, parser) => {
    const parse = parser();
    expect(parse(yaml)).toEqual(rounded);
    expect(parse(quoted)).toEqual(kept);
  });

  it("csv-parse with `cast`; papaparse with `dynamicTyping` keeps what is beyond 2^53", () => {
    const csv = `hex,id,digits\n${NUMBER_LIKE},${SNOWFLAKE},${DIGITS}\n`;
    const { parse } = packages.load("csv-parse/sync");
    expect(parse(csv, { columns: true, cast: true })).toEqual([rounded]);
    expect(parse(csv, { columns: true })).toEqual([kept]);
    const papa = packages.load("papaparse");
    expect(papa.parse(csv, { header: true, dynamicTyping: true }).data[0]).toEqual(kept);
  });
});

describe.skipIf(packages === undefined)("binary formats wrap what 64 bits do not hold, without an error", () => {
  const beyond = 2n ** 64n + 5n;
  const snowflake = BigInt(SNOWFLAKE);

  it("bson: as signed 64 bits", () => {
    const { deserialize, serialize } = packages.load("bson");
    const stored = serialize({ flake: 2n ** 64n - 1n, snowflake });
    expect(deserialize(stored, { useBigInt64: true })).toEqual({ flake: -1n, snowflake });
    expect(`${deserialize(stored).snowflake}`).toBe(SNOWFLAKE);
  });

  it("@msgpack/msgpack: modulo 2^64; a number without `useBigInt64`", () => {
    const { decode, encode } = packages.load("@msgpack/msgpack");
    const big = { useBigInt64: true };
    expect(decode(encode({ beyond, snowflake }, big), big)).toEqual({ beyond: 5n, snowflake });
    expect(decode(encode({ snowflake }, big))).toEqual({ snowflake: ROUNDED - 20 });
  });

  it("apache-arrow: as signed 64 bits by default", () => {
    const { Int64, tableFromArrays, vectorFromArray } = packages.load("apache-arrow");
    const rows = tableFromArrays({ id: [snowflake, 2n ** 64n - 1n] }).toArray();
    expect(rows.map(({ id }: { id: bigint }) => id)).toEqual([snowflake, -1n]);
    expect(vectorFromArray([beyond], new Int64()).get(0)).toBe(5n);
  });

  it("Parquet of DuckDB: HUGEINT is a double, DECIMAL(28,0) is exact, and hyparquet rounds it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-parquet-"));
    const file = join(folder, "ids.parquet");
    const engine = await openDuckdb(packages);
    await engine.run(
      `COPY (SELECT ${DIGITS}::HUGEINT AS h, ${DIGITS}::DECIMAL(28,0) AS d, ${SNOWFLAKE}::BIGINT AS id) TO '${file}'`,
    );
    expect(await engine.list(`SELECT typeof(h) || ' ' || typeof(d) || ' ' || d FROM '${file}'`)).toEqual([
      `DOUBLE DECIMAL(28,0) ${DIGITS}`,
    ]);
    await engine.close();
    const { buffer } = new Uint8Array(readFileSync(file));
    expect(await packages.load("hyparquet").parquetReadObjects({ file: buffer })).toEqual([
      { h: ROUNDED_DIGITS, d: ROUNDED_DIGITS, id: BigInt(SNOWFLAKE) },
    ]);
    rmSync(folder, { recursive: true });
  });
});

describe.skipIf(packages === undefined)("DuckDB reads files", () => {
  const UINT64 = "18446744073709551615";
  const csv = `digits,flake,hex\n"${DIGITS}",${UINT64},${NUMBER_LIKE}\n`;
  const json = `{"digits":${DIGITS},"flake":${UINT64}}\n`;
  const named = "types = {'digits': 'DECIMAL(28,0)', 'flake': 'UBIGINT', 'hex': 'VARCHAR'}";
  const columns = "columns = {'digits': 'DECIMAL(28,0)', 'flake': 'UBIGINT'}";

  it.each([
    ["CSV", csv, (file: string) => `read_csv('${file}')`, "DOUBLE DOUBLE DOUBLE"],
    ["CSV with types", csv, (file: string) => `read_csv('${file}', ${named})`, "DECIMAL(28,0) UBIGINT VARCHAR"],
    ["JSON", json, (file: string) => `read_json('${file}')`, "DOUBLE HUGEINT"],
    ["JSON with columns", json, (file: string) => `read_json('${file}', ${columns})`, "DECIMAL(28,0) UBIGINT"],
  ] as const)("%s", async (_, text, source, types) => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-files-"));
    const file = join(folder, "ids");
    writeFileSync(file, text);
    const engine = await openDuckdb(packages);
    const names = text === csv ? ["digits", "flake", "hex"] : ["digits", "flake"];
    const typeof_ = names.map((name) => `typeof(${name})`).join(" || ' ' || ");
    expect(await engine.list(`SELECT ${typeof_} FROM ${source(file)}`)).toEqual([types]);
    const [digits] = await engine.list(`SELECT digits::VARCHAR FROM ${source(file)}`);
    expect(digits).toBe(types.startsWith("DECIMAL") ? DIGITS : `${ROUNDED_DIGITS}`);
    await engine.close();
    rmSync(folder, { recursive: true });
  });
});

describe.skipIf(packages === undefined)("Redis", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  beforeAll(async () => {
    server = await startRedis(packages);
  }, 60_000);
  afterAll(() => server?.close());

  it("has doubles as scores: one Snowflake's score finds three", async ({ skip }) => {
    if (server === undefined) return skip("Redis is not installed");
    const { ioredis, redis } = server;
    await ioredis.zadd("scores", SNOWFLAKE, "a", "1541815603606036482", "b", "1541815603606036500", "c");
    expect(await ioredis.zrangebyscore("scores", SNOWFLAKE, SNOWFLAKE)).toEqual(["a", "b", "c"]);
    expect(await ioredis.zscore("scores", "a")).toBe("1.5418156036060365e+18");
    expect(await redis.zScore("scores", "a")).toBe(ROUNDED - 20);
  });

  it("counts exactly, and both clients round what INCR returns", async ({ skip }) => {
    if (server === undefined) return skip("Redis is not installed");
    const { ioredis, redis } = server;
    await ioredis.set("counter", SNOWFLAKE);
    expect([await ioredis.incr("counter"), await redis.incr("counter")]).toEqual([ROUNDED - 20, ROUNDED - 20]);
    expect(await ioredis.get("counter")).toBe("1541815603606036483");
  });

  it("takes a Snowflake in XADD, and stays at it", async ({ skip }) => {
    if (server === undefined) return skip("Redis is not installed");
    await server.ioredis.xadd("stream", `${SNOWFLAKE}-0`, "a", "1");
    expect(await server.ioredis.xadd("stream", "*", "a", "1")).toBe(`${SNOWFLAKE}-1`);
  });
});
