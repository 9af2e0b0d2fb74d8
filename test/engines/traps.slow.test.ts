import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { distributedId, formatAs, iuid, ksuid, type Layout, pushId, type Words } from "../../src/ids/index.ts";
import { columnAdvice } from "../../src/ids/stores/advice.ts";
import { storeColumn } from "../../src/ids/stores/column.ts";
import { printedCondition } from "./measure.ts";
import { MINTED, mintable, mintedIds, PLACES_OF_PERIOD } from "./minted.ts";
import { enginePackages, type Packages } from "./packages.ts";
import { openDuckdb } from "./servers/duckdb.ts";
import { startMariadb } from "./servers/mariadb.ts";
import { startPostgres } from "./servers/postgres.ts";
import { startRedis } from "./servers/redis.ts";
import { openSqlite } from "./servers/sqlite.ts";

/** Columns that are not recommended: a refusal of `waybill id column` is not caution alone. */

const packages = (await enginePackages()) as Packages;
const quoted = (texts: readonly string[]): string => texts.map((text, place) => `('${text}', ${place})`).join();
const textsOf = (layout: Layout): readonly string[] => mintedIds(layout).map(layout.format);
const hexOf = (words: Words): string => iuid.format(words).replaceAll("-", "");
const [FIRST = 0] = PLACES_OF_PERIOD;
const LAST = PLACES_OF_PERIOD.at(-1) ?? 0;
/** A BETWEEN of the period's first and last text, without a collation. */
const between = (texts: readonly string[]): string => `id BETWEEN '${texts[FIRST]}' AND '${texts[LAST]}'`;

describe.skipIf(packages === undefined)("PostgreSQL with ICU: text without COLLATE", () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    server = await startPostgres(packages);
  }, 60_000);
  afterAll(() => server?.close());

  it.for([
    ["ksuid", ksuid, undefined],
    ["push-id", pushId, undefined],
    ["distributed-id in base62", distributedId, "base62"],
  ] as const)("%s", async ([, layout, form]) => {
    const texts = mintedIds(layout).map((words) => {
      const text = form === undefined ? undefined : formatAs(layout, form, words);
      return text?.ok ? text.value : layout.format(words);
    });
    await server.run("DROP TABLE IF EXISTS ids; CREATE TABLE ids (id text PRIMARY KEY, place int)");
    await server.run(`INSERT INTO ids VALUES ${quoted(texts)}`);
    const sorted = async (by: string) => (await server.list(`SELECT place FROM ids ORDER BY ${by}`)).map(Number);
    expect((await sorted('id COLLATE "C"')).every((place, at) => place === at)).toBe(true);
    expect((await sorted("id")).filter((place, at) => place !== at).length).toBeGreaterThan(MINTED / 2);
    const plain = await server.list(`SELECT place FROM ids WHERE ${between(texts)}`);
    expect(plain.map(Number).toSorted((a, b) => a - b)).not.toEqual(PLACES_OF_PERIOD);
  });
});

describe.skipIf(packages === undefined)("MariaDB", () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  beforeAll(async () => {
    server = await startMariadb(packages);
  }, 60_000);
  afterAll(() => server?.close());

  it("UUID refuses every iUID of service 1, and takes its 16 bytes as another ID", async ({ skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    await server.run("CREATE TABLE uuids (id UUID PRIMARY KEY)");
    let refused = 0;
    for (const text of textsOf(iuid)) {
      await server.run(`INSERT INTO uuids VALUES ('${text}')`).catch(() => refused++);
    }
    expect(refused).toBe(MINTED);
    await server.run(`INSERT INTO uuids VALUES ${mintedIds(iuid).map((words) => `(x'${hexOf(words)}')`)}`);
    const minted = new Set(textsOf(iuid));
    expect((await server.list("SELECT id FROM uuids")).filter((text) => minted.has(text))).toEqual([]);
    expect(await server.list(`SELECT id FROM uuids WHERE ${between(textsOf(iuid))}`)).toEqual([]);
    expect(await server.list("SHOW WARNINGS")).toContain("Warning");
  });

  it("digits in a text column, without quotes: neighbours", async ({ skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    const digits = BigInt(textsOf(distributedId)[0] ?? 0);
    const near = [digits, digits + 1n, digits + 2n];
    await server.run("CREATE TABLE texts (id VARCHAR(28) PRIMARY KEY)");
    await server.run(`INSERT INTO texts VALUES ${near.map((each) => `('${each}')`)}`);
    expect(await server.list(`SELECT id FROM texts WHERE id = ${digits}`)).toHaveLength(3);
    expect(await server.list(`SELECT id FROM texts WHERE id = '${digits}'`)).toEqual([`${digits}`]);
  });

  it("bounds as text in BINARY(16): other rows, without an error", async ({ skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    await server.run("CREATE TABLE bytes (id BINARY(16) PRIMARY KEY)");
    await server.run(`INSERT INTO bytes VALUES ${mintedIds(iuid).map((words) => `(x'${hexOf(words)}')`)}`);
    expect([0, MINTED]).toContain((await server.list(`SELECT id FROM bytes WHERE ${between(textsOf(iuid))}`)).length);
  });

  it("has no partitions by ranges of a DECIMAL, and no capitals apart by default", async ({ skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    const partition = "PARTITION p VALUES LESS THAN (1119204855636575020646400000)";
    const create = (by: string) => server?.run(`CREATE TABLE no (id DECIMAL(28,0)) PARTITION BY ${by} (${partition})`);
    await expect(create("RANGE COLUMNS (id)")).rejects.toMatchObject({ errno: 1659 });
    await expect(create("RANGE (id)")).rejects.toMatchObject({ errno: 1697 });
    await server.run("CREATE TABLE caseless (id CHAR(2) PRIMARY KEY); INSERT INTO caseless VALUES ('aB')");
    await expect(server.run("INSERT INTO caseless VALUES ('Ab')")).rejects.toThrow("Duplicate");
  });
});

describe.skipIf(packages === undefined)("DuckDB", () => {
  it("VARCHAR and digits without quotes: other texts of the number, and no BETWEEN", async () => {
    const engine = await openDuckdb(packages);
    const [digits = ""] = textsOf(distributedId);
    await engine.run(`CREATE TABLE ids (id VARCHAR); INSERT INTO ids VALUES ('${digits}'), ('0${digits}')`);
    expect(await engine.list(`SELECT id FROM ids WHERE id = ${digits}`)).toEqual([digits, `0${digits}`]);
    expect(await engine.list(`SELECT id FROM ids WHERE id = '${digits}'`)).toEqual([digits]);
    await expect(engine.list(`SELECT id FROM ids WHERE id BETWEEN ${digits} AND ${digits}`)).rejects.toThrow(
      "Cannot mix",
    );
    await engine.close();
  });
});

describe("SQLite", () => {
  it("a column declared UUID, and digits without quotes, are numbers", async () => {
    const engine = openSqlite();
    await engine.run("CREATE TABLE ids (id UUID, digits TEXT)");
    const hex = "019e5678901234567890123456789012";
    const digits = "1119204855355262683623920809";
    await engine.run(`INSERT INTO ids VALUES ('${hex}', ${digits})`);
    expect(await engine.list("SELECT id FROM ids")).toEqual(["Infinity"]);
    expect(await engine.list("SELECT digits FROM ids")).toEqual(["1.1192048553552626e+27"]);
    await engine.close();
  });

  it("every BLOB is greater than every TEXT", async () => {
    const engine = openSqlite();
    await engine.run(`CREATE TABLE ids (id BLOB); INSERT INTO ids VALUES (x'${hexOf(mintedIds(iuid)[0] as Words)}')`);
    expect(await engine.list("SELECT count(*) FROM ids WHERE id > 'ffffffff-ffff-ffff-ffff-ffffffffffff'")).toEqual([
      "1",
    ]);
    await engine.close();
  });
});

describe.skipIf(packages === undefined)("Redis: members with score 0", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  beforeAll(async () => {
    server = await startRedis(packages);
  }, 60_000);
  afterAll(() => server?.close());

  /** Commands as a user pastes them into redis-cli. */
  const cli = (commands: readonly string[]): string =>
    execFileSync("redis-cli", ["-s", server?.socket ?? "", "--no-raw"], {
      input: `${commands.join("\n")}\n`,
      encoding: "utf8",
    });

  it.for(mintable)("$name: 300 members in order, and 73 of 73 by the printed command", async (layout, { skip }) => {
    if (server === undefined) return skip("Redis is not installed");
    const column = storeColumn("redis", layout);
    const advice = columnAdvice("redis", layout, "id");
    if (!column.ok || !advice.ok) throw new Error("no column");
    expect(advice.value.definition).toMatch(/^ZADD id 0 "/);
    const members = mintedIds(layout).map(column.value.write);
    cli(["DEL id", ...members.map((member) => `ZADD id 0 ${member}`)]);
    const listed = (command: string): readonly string[] =>
      [...cli([command]).matchAll(/^\s*\d+\) (".*")$/gm)].map(([, member = ""]) => member);
    const shown = listed("ZRANGE id 0 -1");
    expect(shown).toHaveLength(MINTED);
    const places = new Map(members.map((member, place) => [bytesOf(member), place]));
    const order = shown.map((member) => places.get(bytesOf(member)));
    expect(order.every((place, at) => place === at)).toBe(advice.value.rises);
    const command = await printedCondition("redis", layout);
    expect(command !== undefined).toBe(advice.value.sortsByTime);
    if (command === undefined) return;
    expect(listed(command).map((member) => places.get(bytesOf(member)))).toEqual(PLACES_OF_PERIOD);
  });
});

/** The bytes of a text in the quotes of redis-cli, in hex: it prints as characters what the model writes as escapes. */
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };
const bytesOf = (text: string): string => {
  const plain = text
    .slice(1, -1)
    .replace(/\\(?:x([\da-f]{2})|(.))/g, (_, hex, char) =>
      hex === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(plain, "latin1").toString("hex");
};
