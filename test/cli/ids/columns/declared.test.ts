import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../../fake-runtime.ts";
import { tableFiles } from "../../memory-files.ts";

const V7 = [
  { field: "mintedAt", bits: 48, role: "time", unit: "ms", epoch: "1970-01-01T00:00:00Z" },
  { field: "version", bits: 4, role: "fixed", value: 7 },
  { field: "random", bits: 12, role: "random" },
  { field: "variant", bits: 2, role: "fixed", value: 2 },
  { field: "random", bits: 62, role: "random" },
];
const TID = [
  { field: "sign", bits: 1, role: "fixed", value: 0 },
  { field: "mintedAt", bits: 53, role: "time", unit: "us", epoch: "1970-01-01T00:00:00Z" },
  { field: "clock", bits: 10, role: "node" },
];

const NAMES = ["typeid", "short-uuid", "lower-first", "both", "tid"];

const files = tableFiles({
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    ...Object.fromEntries(NAMES.map((layout) => [layout, { path: `/of-${layout}/:id`, ids: [{ layout }] }])),
  },
  routes: [...DECLARED_TABLE.routes, { when: { entity: NAMES }, region: "eu" }],
  layouts: {
    ...DECLARED_TABLE.layouts,
    typeid: { rows: V7, text: { alphabet: "crockford-lower" }, prefix: "user_" },
    "short-uuid": { rows: V7, text: { alphabet: "base58-flickr" } },
    "lower-first": { rows: V7, text: { alphabet: "base62-lower-first" } },
    both: { rows: V7, text: ["uuid", { alphabet: "crockford-lower" }] },
    tid: { rows: TID, text: { alphabet: "base32-sortable", width: 13 } },
  },
});

const PERIOD = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00Z"];
const TABLE = ["--table", "routing-table.json"];
const range = (...args: readonly string[]) => waybill(["id", "range", ...args, ...PERIOD, ...TABLE], { files });

/** Texts of declared alphabets: they sort by value, or the column has the bytes. */
describe.concurrent("columns of layouts with an alphabet", () => {
  it.each([
    [
      "typeid",
      "postgresql",
      "id COLLATE \"C\" BETWEEN 'user_01kdvdna00e008000000000000' AND 'user_01kgb7zjzzfzzvzzzzzzzzzzzz'",
    ],
    ["typeid", "mariadb", "id BETWEEN 'user_01kdvdna00e008000000000000' AND 'user_01kgb7zjzzfzzvzzzzzzzzzzzz'"],
    ["typeid", "redis", 'ZRANGEBYLEX id "[user_01kdvdna00e008000000000000" "[user_01kgb7zjzzfzzvzzzzzzzzzzzz"'],
    ["short-uuid", "mariadb", "id BETWEEN x'019b76daa80070008000000000000000' AND x'019c167fcbff7fffbfffffffffffffff'"],
    ["lower-first", "sqlite", "id BETWEEN x'019b76daa80070008000000000000000' AND x'019c167fcbff7fffbfffffffffffffff'"],
    [
      "both",
      "duckdb",
      "id BETWEEN '019b76da-a800-7000-8000-000000000000'::UUID AND '019c167f-cbff-7fff-bfff-ffffffffffff'::UUID",
    ],
  ])("%s on %s", async (layout, engine, condition) => {
    const { stdout, stderr, code } = await range(layout, "--for", engine);
    expect({ stdout, code }, stderr).toEqual({ stdout: `${condition}\n`, code: 0 });
  });

  it("a sortable alphabet has texts, and one of another order refuses them", async () => {
    const sortable = await range("tid", "--for", "sqlite");
    expect(sortable.stdout).toMatch(/^id BETWEEN '3m[2-7a-z]{11}' AND '3m[2-7a-z]{11}'\n$/);
    const { stdout, stderr, code } = await range("lower-first", "--for", "sqlite", "--type", "TEXT");
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toBe("error: TEXT of SQLite does not sort texts of lower-first by time. Use BLOB.\n");
  });

  it("the column holds no prefix, but where it holds the text", async () => {
    const column = (...args: readonly string[]) =>
      waybill(["id", "column", "typeid", "--for", "postgresql", ...args, "--json", ...TABLE], { files });
    expect(objectsOf((await column()).stdout)).toMatchObject([
      { type: 'text COLLATE "C"', written: "'user_01kdvdna00e008000000000000'" },
    ]);
    const [native] = objectsOf((await column("--type", "uuid")).stdout) as [{ traps: readonly string[] }];
    expect(native).toMatchObject({ written: "'019b76da-a800-7000-8000-000000000000'::uuid" });
    expect(native.traps).toContain('It holds no prefix: write and read without "user_".');
  });
});
