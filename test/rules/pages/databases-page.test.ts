import { DatabaseSync } from "node:sqlite";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { KINDS } from "../../../bench/databases/kinds.ts";
import { idsPerCollision } from "../../../bench/distributed-id/collisions.ts";
import {
  capacityOf,
  compareSqlServer,
  compareWords,
  distributedId128,
  isoTime,
  iuid,
  type Layout,
  layoutNamed,
  luuid,
  periodRange,
  splitLongs,
  type Words,
} from "../../../src/ids/index.ts";
import { SQL_ORDER } from "../../../src/ids/layout/words.ts";
import { storeColumn } from "../../../src/ids/stores/column.ts";
import { rises } from "../../../src/ids/stores/order.ts";
import { mintable, mintedIds } from "../../engines/minted.ts";
import { blocks, namesIn, page, rowsOf, section, statementsOf } from "../../engines/page.ts";

/** Statements of `docs/guides/databases.md`, on PostgreSQL (PGlite) and SQLite. Other engines: `test/engines`. */

let postgres: PGlite;
beforeAll(async () => {
  postgres = await PGlite.create();
});
afterAll(() => postgres.close());

describe("statements", () => {
  const of = (engine: string): string =>
    statementsOf(engine)
      .map((sql) => `${sql};\n`)
      .join("");

  it("are all for an engine that runs them", () => {
    expect(page.match(/^```sql$/gm)).toHaveLength(blocks.length);
    expect([...new Set(blocks.map(({ engine }) => engine))]).toEqual(["PostgreSQL", "SQLite", "MariaDB", "DuckDB"]);
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
    const from = iuid.format(january.least);
    const to = iuid.format(february.least);
    expect(page).toContain(`FROM ('${from}') TO ('${to}')`);
    expect(page).toContain(`BETWEEN x'${plain(from)}' AND x'${plain(iuid.format(january.greatest))}'`);
    const bounds = rowsOf("Periods and partitions")
      .filter((cells) => cells.length === 3)
      .map(([, , bound = ""]) => /\b0?x'?([\da-f]{32})|\('([\dA-F]{32})'\)/.exec(bound));
    expect(bounds.map((bound) => (bound?.[1] ?? bound?.[2])?.toLowerCase())).toEqual(Array(3).fill(plain(to)));
  });
});

const range = (layout: Layout, fromMs: number, toMs: number) => {
  const found = periodRange(layout, fromMs, toMs);
  if (!found.ok) throw new Error(found.error.reason);
  return found.value;
};

describe("column types", () => {
  it.each(mintable)("$name rises in SQL Server where the table says so", (layout) => {
    const column = storeColumn("sqlserver", layout);
    if (!column.ok) throw new Error(column.error.reason);
    const ids = mintedIds(layout);
    const compare = column.value.order === "sqlserver" ? compareSqlServer : compareWords;
    const falls = ids.slice(1).filter((words, at) => compare(ids[at] as Words, words) !== -1);
    expect(falls.length === 0).toBe(rises(layout, column.value.order ?? "bits"));
  });

  it("a DistributedId128 fits two BIGINTs and 38 digits until the dates that it says", () => {
    const [digits = "", longs = ""] = rowsOf("Column types")
      .filter(([column = ""]) => column.includes("DECIMAL(38,0)") || column.startsWith("two "))
      .map((cells) => cells[1]);
    const timeOf = (words: Words): string => isoTime(distributedId128.mintedAtMs?.(words) ?? Number.NaN) ?? "";
    const at = (bits: bigint): Words => [96n, 64n, 32n, 0n].map((shift) => Number((bits >> shift) & 0xffff_ffffn));
    expect(timeOf(at(10n ** 38n)).slice(0, 10)).toBe(digits);
    const greatest = at((1n << 127n) - 1n);
    expect(timeOf(greatest).slice(0, 10)).toBe(longs);
    expect(splitLongs(mintedIds(distributedId128)[0] as Words).ok).toBe(true);
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
