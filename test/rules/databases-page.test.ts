import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { KINDS } from "../../bench/databases/kinds.ts";
import { idsPerCollision } from "../../bench/distributed-id/collisions.ts";
import {
  capacityOf,
  compareSqlServer,
  compareWords,
  distributedId128,
  everyLayout,
  type FieldValue,
  formatUuid,
  isoTime,
  iuid,
  type Layout,
  layoutNamed,
  luuid,
  periodRange,
  sid,
  splitLongs,
  type Words,
} from "../../src/ids/index.ts";
import { SQL_ORDER, wordsToBig } from "../../src/ids/layout/words.ts";
import { wordMinter } from "../../src/ids/mint/create-minter.ts";

/** What `docs/guides/databases.md` says, on PostgreSQL (PGlite) and SQLite. */

const page = readFileSync(new URL("../../docs/guides/databases.md", import.meta.url), "utf8");
const section = (title: string): string => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
/** The rows of a section's tables as trimmed cells, without heads and rules. */
const rowsOf = (title: string): readonly (readonly string[])[] =>
  section(title)
    .split(/\n(?!\|)/)
    .flatMap((block) =>
      block
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .slice(2),
    )
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const namesIn = (cell = ""): string[] => [...cell.matchAll(/`([a-z\d-]+)`/g)].map(([, name = ""]) => name);
const code = (cell = ""): string => cell.replaceAll("`", "");

let postgres: PGlite;
beforeAll(async () => {
  postgres = await PGlite.create();
});
afterAll(() => postgres.close());

describe("statements", () => {
  const blocks = [...page.matchAll(/^```sql\n-- ([^\n]*)\n(.*?)^```$/gms)].map(([, engine = "", sql = ""]) => ({
    engine,
    sql,
  }));
  const of = (engine: string): string =>
    blocks
      .filter((block) => block.engine === engine)
      .map(({ sql }) => sql)
      .join("");

  it("are all for an engine that runs them here", () => {
    expect(page.match(/^```sql$/gm)).toHaveLength(blocks.length);
    expect([...new Set(blocks.map(({ engine }) => engine))]).toEqual(["PostgreSQL", "SQLite"]);
  });

  it("run on PostgreSQL, and a partition takes its period", async () => {
    const results = await postgres.exec(of("PostgreSQL"));
    expect(results.at(-1)?.rows).toEqual([{ partition: "orders_2026_01" }]);
    await expect(
      postgres.exec("INSERT INTO orders VALUES ('019c167f-cc00-8000-8000-000000000000', 1)"),
    ).rejects.toThrow("no partition");
    expect((await postgres.query("SELECT customer, id::text FROM invoices")).rows).toEqual([
      { customer: "019b76da-a800-8005-8040-000000000001", id: "1088824355131185736905670087" },
    ]);
  });

  it("run on SQLite, and the bounds hold the period's IDs", () => {
    const database = new DatabaseSync(":memory:");
    const sql = of("SQLite");
    const at = sql.indexOf("SELECT");
    database.exec(sql.slice(0, at));
    expect(database.prepare(sql.slice(at)).get()).toEqual({ "count(*)": 1 });
    expect(() => database.exec("INSERT INTO customers VALUES (x'00', 'Bob')")).toThrow("CHECK");
    database.close();
  });

  it("have the bounds that the library computes", () => {
    const january = range(iuid, Date.UTC(2026, 0), Date.UTC(2026, 1));
    const february = range(iuid, Date.UTC(2026, 1), Date.UTC(2026, 2));
    const plain = (text: string): string => text.replaceAll("-", "");
    const [from, to] = [iuid.format(january.least), iuid.format(february.least)];
    expect(page).toContain(`FROM ('${from}') TO ('${to}')`);
    expect(page).toContain(`BETWEEN x'${plain(from)}' AND x'${plain(iuid.format(january.greatest))}'`);
    const bounds = rowsOf("Partitions").map(([, , bound = ""]) =>
      /\b0?x'?([\da-f]{32})|\('([\dA-F]{32})'\)/.exec(bound),
    );
    expect(bounds.map((bound) => (bound?.[1] ?? bound?.[2])?.toLowerCase())).toEqual(Array(3).fill(plain(to)));
  });
});

const range = (layout: Layout, fromMs: number, toMs: number) => {
  const found = periodRange(layout, fromMs, toMs);
  if (!found.ok) throw new Error(found.error.reason);
  return found.value;
};

interface TypeRow {
  readonly layout: Layout;
  readonly rise: string;
  readonly postgres: string;
  readonly sqlServer: string;
  readonly sqlite: string;
}

const types: readonly TypeRow[] = rowsOf("Column types")
  .filter((cells) => cells.length === 7)
  .flatMap(([names, rise = "", inPostgres, , sqlServer, sqlite]) =>
    namesIn(names).map((name) => ({
      layout: layoutNamed(name) as Layout,
      rise,
      postgres: code(inPostgres),
      sqlServer: code(sqlServer),
      sqlite: code(sqlite),
    })),
  );

/** IDs of one minter, one every 61 s: a short COMB then has another interval each time. */
const FROM_MS = Date.UTC(2026, 10, 21);
const mintedOf = (layout: Layout): readonly Words[] => {
  const given = layout.fields.filter(({ role }) => role === "key" || role === "node");
  const keys: Record<string, FieldValue> = Object.fromEntries(
    given.map(({ name, bits }) => [name, bits > 53 ? 1n : 1]),
  );
  let word = 1;
  const entropy = { word: () => (word = (Math.imul(word, 1_664_525) + 1_013_904_223) >>> 0) };
  const minter = wordMinter(layout, keys, entropy);
  if (!minter.ok) throw new Error(minter.error.reason);
  return Array.from({ length: 200 }, (_, at) => {
    const words = minter.value(FROM_MS + at * 61_000);
    if (!words.ok) throw new Error(words.error.reason);
    return words.value;
  });
};

const bytesOf = (layout: Layout, words: Words): Buffer => {
  const hex = wordsToBig(words)
    .toString(16)
    .padStart(layout.table.rows.reduce((sum, { bits }) => sum + bits, 0) / 4, "0");
  return Buffer.from(hex, "hex");
};
const textForm = (layout: Layout) =>
  (layout === sid ? layout.texts.find(({ name }) => name === "hex") : undefined) ?? layout.table.text;

/** An ID as a column of this type takes it. */
const stored = (layout: Layout, type: string, words: Words): string | bigint | Uint8Array => {
  if (type === "uuid") return formatUuid(words);
  if (type === "bytea" || type === "BLOB") return new Uint8Array(bytesOf(layout, words));
  if (type === "INTEGER") return wordsToBig(words);
  if (type.startsWith("numeric") || type === "bigint") return wordsToBig(words).toString();
  return textForm(layout).format(words);
};
const shown = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
const isRising = (texts: readonly string[], sorted: readonly string[]): boolean =>
  texts.every((text, at) => text === sorted[at]);

describe("column types", () => {
  it("has each layout that can be minted, once", () => {
    const mintable = everyLayout.filter(({ table }) => table.minter !== "none").map(({ name }) => name);
    expect(types.map(({ layout }) => layout.name).toSorted()).toEqual(mintable.toSorted());
  });

  it.each(types)("$layout.name in $postgres of PostgreSQL keeps its IDs, and their order if they rise", async (row) => {
    const values = mintedOf(row.layout).map((words) => stored(row.layout, row.postgres, words));
    await postgres.exec(`DROP TABLE IF EXISTS ids; CREATE TABLE ids (id ${row.postgres} PRIMARY KEY)`);
    for (const value of values) await postgres.query("INSERT INTO ids VALUES ($1)", [value]);
    const isBytes = row.postgres === "bytea";
    const { rows } = await postgres.query<{ id: unknown }>(
      `SELECT ${isBytes ? "id" : "id::text"} AS id FROM ids ORDER BY ids.id`,
    );
    const sorted = rows.map(({ id }) => shown(id));
    expect(sorted.toSorted()).toEqual(values.map(shown).toSorted());
    expect(isRising(values.map(shown), sorted)).toBe(row.rise === "yes");
  });

  it.each(types)("$layout.name in $sqlite of SQLite keeps its IDs, and their order if they rise", (row) => {
    const values = mintedOf(row.layout).map((words) => stored(row.layout, row.sqlite, words));
    const database = new DatabaseSync(":memory:");
    database.exec(`CREATE TABLE ids (id ${row.sqlite} PRIMARY KEY) STRICT`);
    const insert = database.prepare("INSERT INTO ids VALUES (?)");
    for (const value of values) insert.run(value);
    const all = database.prepare("SELECT id FROM ids ORDER BY id");
    all.setReadBigInts(true);
    const sorted = all.all().map(({ id }) => shown(id));
    expect(sorted.toSorted()).toEqual(values.map(shown).toSorted());
    expect(isRising(values.map(shown), sorted)).toBe(row.rise === "yes");
    database.close();
  });

  it.each(types)(
    "$layout.name rises in $sqlServer of SQL Server unless it is random",
    ({ layout, rise, sqlServer }) => {
      const ids = mintedOf(layout);
      const compare = sqlServer === "uniqueidentifier" ? compareSqlServer : compareWords;
      const falls = ids.slice(1).filter((words, at) => compare(ids[at] as Words, words) !== -1);
      expect(falls.length === 0).toBe(rise !== "no");
      expect(rise === "SQL Server").toBe(sqlServer === "uniqueidentifier" && rise !== "no");
    },
  );

  it("a DistributedId128 fits two BIGINTs and 38 digits until the dates that it says", () => {
    const [digits = "", longs = ""] = rowsOf("Column types")
      .filter((cells) => cells.length === 3)
      .map((cells) => cells[1]);
    const timeOf = (words: Words): string => isoTime(distributedId128.mintedAtMs?.(words) ?? Number.NaN) ?? "";
    const at = (bits: bigint): Words => [96n, 64n, 32n, 0n].map((shift) => Number((bits >> shift) & 0xffff_ffffn));
    expect(timeOf(at(10n ** 38n)).slice(0, 10)).toBe(digits);
    const greatest = at((1n << 127n) - 1n);
    expect(timeOf(greatest).slice(0, 10)).toBe(longs);
    expect(splitLongs(mintedOf(distributedId128)[0] as Words).ok).toBe(true);
    expect(splitLongs(at(1n << 127n)).ok).toBe(false);
  });

  it("flake-ids exceed a signed BIGINT from the day that it says", () => {
    const layout = layoutNamed("flake-id") as Layout;
    const first = layout.mintedAtMs?.([0x8000_0000, 0]) ?? Number.NaN;
    expect(section("Column types")).toContain(`signed \`BIGINT\` from ${isoTime(first)?.slice(0, 10)}`);
  });
});

it("the order and the stored bytes of a uniqueidentifier", () => {
  const text = section("uniqueidentifier");
  expect(text).toContain(`compares bytes ${SQL_ORDER.join(" ")} of the text`);
  expect(text).toContain(`stores them as ${[3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].join(" ")}.`);
});

describe("equal IDs", () => {
  const rows = rowsOf("Equal IDs");

  test("our figures are the calculation's", () => {
    const billions = rows.slice(0, 3).map(([, , ours = ""]) => Number(ours.replace(/,| billion/g, "")));
    const calculated = [2, 10, 100].map((replicas) => Number((idsPerCollision({ replicas }) / 1e9).toPrecision(3)));
    expect(billions).toEqual(calculated);
    expect(rows[3]?.[2]).toBe(`2^${Math.round(Math.log2(1e28 / 2 ** 128))}`);
    expect(Number(rows[4]?.[2]).toPrecision(3)).toBe(Math.sqrt(2 * Math.LN2 * 2 ** 122).toPrecision(3));
    expect(rows[5]?.[2]).toBe((2 ** 16).toLocaleString("en"));
  });

  test("half of all sets of so many classes share a group of LUUIDs", () => {
    const groups = Number(layoutNamed(luuid.name)?.field("group")?.max) + 1;
    const apart = (classes: number): number =>
      Array.from({ length: classes }, (_, at) => 1 - at / groups).reduce((product, part) => product * part, 1);
    const classes = Number(rows[6]?.[2]);
    expect([apart(classes - 1) > 0.5, apart(classes) > 0.5]).toEqual([true, false]);
  });

  test("the chances are those of `waybill id capacity`", () => {
    const heads = namesIn(
      section("Equal IDs")
        .split("\n")
        .findLast((line) => line.startsWith("| `uuid-v4` | `")) ?? "",
    );
    const chances = rows.at(-1)?.map(Number);
    const calculated = heads.map((name) => {
      const capacity = capacityOf(layoutNamed(name) as Layout, { idsPerSecond: 1000, minters: 4, years: 10 });
      return capacity.ok ? Number(capacity.value.collisions?.probability.toPrecision(2)) : capacity;
    });
    expect(heads).toHaveLength(7);
    expect(chances).toEqual(calculated);
  });
});

it("the measured layouts are those of the benchmark", () => {
  const measured = rowsOf("Index pages").flatMap(([names]) => namesIn(names));
  const inBytes = KINDS.filter(({ order }) => order === "bytes").map(({ layout }) => layout.name);
  expect(measured.toSorted()).toEqual(inBytes.toSorted());
});
