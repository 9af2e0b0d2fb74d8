import { describe, expect, it, test } from "vitest";
import { everyLayout } from "../../../src/ids/index.ts";
import { findAmbiguities, type LayoutAmbiguity, resolveAny } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { TICKET } from "../check/layout-cases.ts";
import { manyLayoutsTable } from "../many-layouts.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";

const pair = ({ entity, layouts }: LayoutAmbiguity): string => `${entity ?? "/any"} ${layouts.join(" ")}`;

/** A table with an entity for each layout. */
const tableOf = (names: readonly string[], layouts: DeclaredTable["layouts"] = {}): DeclaredTable => ({
  regions: { eu: { origins: [{ url: "https://eu.example.com" }] } },
  entities: Object.fromEntries(names.map((layout) => [layout, { path: `/${layout}/:id`, ids: [{ layout }] }])),
  layouts,
  routes: [],
  default: "eu",
});

test("a table whose IDs all say what they are leaves nothing open", () => {
  expect(findAmbiguities(load(sampleTable())).map(pair)).toEqual(["/any luuid hotguid"]);
});

test("what the sample of many layouts leaves open, and what would tell", () => {
  const table = load(manyLayoutsTable());
  const found = findAmbiguities(table);
  // A DistributedId as a UUID is an LUUID with a small primary key where its bits happen to be so.
  expect(found.map(pair)).toEqual(["/any distributed-id luuid", "/any snowflake discord"]);
  const first = found[1];
  expect(first).toMatchObject({
    entities: [["tweet"], ["message"]],
    isRefused: true,
    hints: [
      { by: "path", paths: ["/tweets/:id", "/messages/:id"] },
      { by: "header", header: "id-layout", values: ["snowflake", "discord"] },
    ],
  });
  const resolved = resolveAny(table, first?.example ?? "", Date.UTC(2099, 11, 31));
  expect(resolved).toMatchObject({ ok: false, error: { reason: "ambiguous-id" } });
});

test("several entities with IDs of one unmarked layout", () => {
  const entities = { ...tableOf(["ulid"]).entities, note: { path: "/notes/:id", ids: [{ layout: "ulid" }] } };
  expect(findAmbiguities(load({ ...tableOf([]), entities }))).toMatchObject([
    {
      layouts: ["ulid", "ulid"],
      entities: [["ulid"], ["note"]],
      hints: [{ by: "path", paths: ["/ulid/:id", "/notes/:id"] }],
    },
  ]);
});

test("two layouts of one entity that go to one region are named, and not refused", () => {
  const declared = tableOf(["box"]);
  const ids = [{ layout: "snowflake" }, { layout: "sonyflake" }];
  const [found, ...others] = findAmbiguities(load({ ...declared, entities: { box: { path: "/boxes/:id", ids } } }));
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    entity: "box",
    isRefused: false,
    hints: [{ by: "pattern", paths: [] }, { by: "header" }],
  });
});

test("a prefix separates layouts of one's own", () => {
  const { prefix: _, ...bare } = TICKET;
  const own = (ticket: object, coupon: object) =>
    findAmbiguities(load(tableOf(["ticket", "coupon"], { ticket, coupon } as DeclaredTable["layouts"])));
  expect(own(bare, bare)).toMatchObject([
    { hints: [{ by: "path" }, { by: "header" }, { by: "prefix", layouts: ["ticket", "coupon"] }] },
  ]);
  expect(own(TICKET, bare)).toEqual([]);
  expect(own(TICKET, { ...TICKET, prefix: "cpn_" })).toEqual([]);
  expect(own(TICKET, TICKET)).toMatchObject([{ hints: [{ by: "path" }, { by: "header" }] }]);
});

const everyTable = load(
  tableOf(everyLayout.map(({ name }) => name).filter((name) => name !== "luuid" && name !== "iuid")),
);
const everyPair = findAmbiguities(everyTable);

test("of all layouts, those are named that the tables of ambiguity name, and no others", () => {
  const found = everyPair.map(({ layouts }) => layouts.join(" "));
  const among = (...group: readonly string[]): readonly string[] =>
    found.filter((each) => each.split(" ").every((name) => group.includes(name)));
  const decimals = ["snowflake", "discord-snowflake", "sharding-id", "sonyflake", "sonyflake-v2", "flake-id"];
  // Each with each, until the year 2100.
  expect(among(...decimals)).toHaveLength(15);
  expect(among("xid", "push-id", "elasticflake", "object-id", "ksuid", "ulid", "cuid", "sid", "flake")).toEqual([]);
  expect(among("uuid-v1", "uuid-v2", "uuid-v3", "uuid-v4", "uuid-v5", "uuid-v6", "uuid-v7", "uuid-v8")).toEqual([]);
  expect(among("uuid-v4", "short-prefix-comb")).toHaveLength(1);
  expect(among("uuid-v4", "comb-suffix")).toHaveLength(1);
  expect(among("uuid-v7", "distributed-id-128")).toEqual([]);
  expect(among("uuid-v4", "hotguid")).toHaveLength(1);
});

test("an ID that is named ambiguous is refused, and every example is one", () => {
  const examples = everyPair.flatMap(({ example }) => example ?? []);
  expect(examples.length).toBeGreaterThan(50);
  for (const example of examples) {
    expect(resolveAny(everyTable, example, Date.UTC(2099, 11, 31))).toMatchObject({
      ok: false,
      error: { reason: "ambiguous-id" },
    });
  }
  expect(NOW_MS).toBeLessThan(Date.UTC(2099, 11, 31));
});

describe("texts of two forms", () => {
  const row = (bits: number, unit: "s" | "ms", epoch: string) =>
    ({ field: "mintedAt", bits, role: "time", unit, epoch }) as const;
  const own = (text: string, ...rows: readonly object[]): object => ({ rows, text });
  const shop = { field: "shop", bits: 16, role: "key" };
  const number = { field: "number", bits: 16, role: "counter" };
  const random = (bits: number) => ({ field: "random", bits, role: "random" });

  it.each([
    ["hex of digits alone, and a decimal", "snowflake", own("hex", row(32, "s", "2010-01-01T00:00:00Z"), shop, number)],
    ["base62 of few digits, and a decimal", "snowflake", own("base62", random(64))],
    ["base32 of digits alone, and a decimal", "snowflake", own("base32", random(60))],
    ["base32hex, and Crockford's", "ulid", own("base32hex", random(130))],
    ["base62 of few letters, and hex", "object-id", own("base62", random(142))],
    ["base64url with a hyphen in its midst, and an SID", "sid", own("base64url", random(138))],
    ["base62 in lower case, and an XID", "xid", own("base62", random(119))],
  ])("%s", (_, layout, declared) => {
    const table = load(tableOf([layout, "own"], { own: declared } as DeclaredTable["layouts"]));
    const [found] = findAmbiguities(table);
    expect(found?.layouts).toEqual([layout, "own"]);
    const resolved = resolveAny(table, found?.example ?? "", Date.UTC(2099, 11, 31));
    expect(resolved).toMatchObject({ ok: false, error: { reason: "ambiguous-id" } });
  });

  it.each([
    ["another length", "snowflake", own("hex", random(128))],
    ["digits enough for a decimal", "snowflake", own("base62", random(108))],
    ["an alphabet of its own at the first place", "push-id", own("base62", random(119))],
  ])("%s: apart", (_, layout, declared) => {
    expect(findAmbiguities(load(tableOf([layout, "own"], { own: declared } as DeclaredTable["layouts"])))).toEqual([]);
  });
});
