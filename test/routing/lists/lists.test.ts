import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { List } from "../../../src/features/lists/table/types.ts";
import { iuid } from "../../../src/ids/index.ts";
import { resolvePath } from "../../../src/routing/index.ts";
import type { CompiledTable } from "../../../src/routing/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { faultsOf, load, NOW_MS, sampleTable } from "../tables.ts";

const LIST = { items: "/items", order: "none" } as const;
const FILTERS = { country: "country", mintedAfter: "since", mintedBefore: "until" } as const;

const withList = (list: object, more: object = {}) => {
  const table = sampleTable();
  const { order } = table.entities;
  return { ...table, entities: { ...table.entities, order: { ...order, list: { ...LIST, ...list } } }, ...more };
};

const listOf = (table: CompiledTable): List => table.lists?.get("/orders") as List;

function idOf(country: number, ms: number, random: number): string {
  const fields = iuid.fields.filter(({ role }) => role !== "fixed");
  const values = fields.map(({ name, role, bits }) => {
    if (role === "time") return [name, ms];
    if (name === "country") return [name, country];
    if (name === "service") return [name, 1];
    const value = BigInt(random) % (1n << BigInt(bits));
    return [name, bits > 53 ? value : Number(value)];
  });
  const words = iuid.encode(Object.fromEntries(values));
  if (!words.ok) throw new Error(words.error.reason);
  return iuid.format(words.value);
}

const DAY_MS = 86_400_000;
const dayMs = (day: number) => Date.UTC(2026, 0, 1) + day * DAY_MS;
const COUNTRIES = { KZ: 5, UZ: 6, BR: 7 } as const;
const NAMES = ["KZ", "UZ", "BR"] as const;
const REGIONS = ["eu", "us", "ap"] as const;

const region = fc.constantFrom(...REGIONS);
const route = fc.record(
  {
    country: fc.option(fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 }), { nil: undefined }),
    from: fc.option(fc.nat(8), { nil: undefined }),
    days: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
    service: fc.option(fc.constantFrom(1, 2), { nil: undefined }),
    region,
    other: fc.option(region, { nil: undefined }),
  },
  { noNullPrototype: true },
);

describe("the regions that a filter leaves", () => {
  it("are never one too few", () => {
    const random = fc.record({
      routes: fc.array(route, { maxLength: 6 }),
      fallback: fc.option(region, { nil: undefined }),
      moved: fc.array(fc.record({ country: fc.constantFrom(...NAMES), day: fc.nat(9), to: region }), { maxLength: 3 }),
      countries: fc.option(fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 }), { nil: undefined }),
      from: fc.nat(9),
      days: fc.nat(5),
    });
    fc.assert(
      fc.property(random, ({ routes, fallback, moved, countries, from, days }) => {
        const ids = moved.map(({ country, day, to }, at) => [idOf(COUNTRIES[country], dayMs(day), at), to] as const);
        const declared = withList(
          { filters: FILTERS },
          {
            routes: routes.map(({ country, from: first, days: length, service, region: to, other }) => ({
              when: {
                layout: "iuid",
                ...(country && { country }),
                ...(service && { service }),
                ...(first === undefined ? {} : { mintedFrom: new Date(dayMs(first)).toISOString() }),
                ...(length === undefined ? {} : { mintedBefore: new Date(dayMs((first ?? 0) + length)).toISOString() }),
              },
              ...(other !== undefined && other !== to ? { split: { by: "hash", parts: [to, other] } } : { region: to }),
            })),
            moved: Object.fromEntries(ids),
            ...(fallback && { default: fallback }),
          },
        );
        const faults = faultsOf(declared);
        // Routes that earlier ones cover are faults of their own.
        fc.pre(faults.length === 0);
        const table = load(declared);
        const toMs = dayMs(from + days);
        const numbers: readonly number[] | undefined = countries?.map((name) => COUNTRIES[name]);
        const left = listOf(table).regionsOf?.({ countries: numbers, fromMs: dayMs(from), toMs }) ?? new Set();
        const wanted = Array.from({ length: 60 }, (_, at) => {
          const country = (countries ?? NAMES)[at % (countries ?? NAMES).length] as (typeof NAMES)[number];
          return idOf(COUNTRIES[country], dayMs(from) + Math.floor((at / 60) * (toMs - dayMs(from))), at * 7919);
        });
        for (const id of [...wanted, ...ids.map(([text]) => text)]) {
          const words = iuid.parse(id);
          if (!words.ok) throw new Error(id);
          const ms = iuid.mintedAtMs?.(words.value) ?? 0;
          const isWanted = (numbers ?? [5, 6, 7]).includes(Number(iuid.decode(words.value)["country"]));
          if (!isWanted || ms < dayMs(from) || ms > toMs) continue;
          const path = `/orders/${id}`;
          const match = table.paths.match(path);
          const decided = match && resolvePath(table, match, path, NOW_MS);
          if (decided?.ok) expect([...left]).toContain(decided.value.target.region.name);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("are those of the routes that are left, and no more", () => {
    const list = listOf(load(withList({ filters: FILTERS }, { moved: {} })));
    const left = (countries: readonly number[] | undefined, from: string, to: string) => [
      ...(list.regionsOf?.({ countries, fromMs: Date.parse(from), toMs: Date.parse(to) }) ?? []),
    ];
    expect(left([5], "2026-01-01", "2026-02-01")).toEqual(["eu"]);
    expect(left([5], "2026-06-01", "2026-07-01")).toEqual(["ap"]);
    expect(left([5], "2026-05-01", "2026-07-01")).toEqual(["eu", "ap"]);
    expect(left([6], "2026-01-01", "2026-02-01")).toEqual(["ap"]);
    expect(left([7], "2026-01-01", "2026-02-01")).toEqual([]);
    expect(left(undefined, "2026-01-01", "2026-02-01").sort()).toEqual(["ap", "eu"]);
  });

  it("are all where the table declares no filter", () => {
    expect(listOf(load(withList({}))).regionsOf).toBe(undefined);
  });
});

describe("a declared list", () => {
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`r${at}`, { origins: [{ url: `https://r${at}.example.com` }] }]),
  );
  const long = Object.fromEntries(Object.entries(many).map(([name, region]) => [`${name}${"x".repeat(50)}`, region]));
  const order = sampleTable().entities["order"];

  it.each<[string, object, string, string, RegExp]>([
    ["more items than memory", withList({ pageSize: 5000 }), "/pageSize", "size", /lower pageSize or raise itemsMax/],
    [
      "more bytes than memory",
      withList({}, { regions: { ...sampleTable().regions, ...many } }),
      "/pageBytesMax",
      "size",
      /lower pageBytesMax/,
    ],
    [
      "more regions than a cursor has room for",
      withList({ pageBytesMax: 1024 }, { regions: { ...sampleTable().regions, ...long } }),
      "",
      "size",
      /no room for 43 regions/,
    ],
    [
      "a default above the maximum",
      withList({ limit: { default: 20, max: 10 } }),
      "/limit/default",
      "schema",
      /lower it/,
    ],
    ["a path of an entity", withList({ path: "/parcels/x" }), "/path", "path-collision", /"parcel"/],
    ["a path of the gateway", withList({ path: "/-/x" }), "/path", "reserved-path", /./],
    ["an ID in the path", withList({ path: "/orders/:id/items" }), "/path", "schema", /literal/],
    ["two meanings of a parameter", withList({ cursorQuery: "limit" }), "", "schema", /"limit" has two meanings/],
    [
      "a filter that is the regions' own",
      withList({ pageSizeQuery: "n", filters: { country: "n" } }),
      "/filters",
      "schema",
      /no filter/,
    ],
    [
      "public IDs",
      { ...sampleTable(), entities: { order: { ...order, public: true, list: LIST } }, routes: [] },
      "",
      "public-ids",
      /remove `list`/,
    ],
    [
      "a path without an ID that is never asked",
      withList({}, { withoutId: { all: { path: "/orders", methods: ["GET"], sources: [{ region: "eu" }] } } }),
      "/path",
      "path-collision",
      /remove GET/,
    ],
    [
      "an order by a time that the IDs do not tell",
      {
        ...sampleTable(),
        entities: {
          ...sampleTable().entities,
          parcel: {
            path: "/parcels/:id",
            ids: [{ layout: "hotguid" }, { layout: "uuid-v4" }],
            list: { ...LIST, order: { by: "id-time", direction: "asc" } },
          },
        },
      },
      "/order/by",
      "schema",
      /tell no time/,
    ],
  ])("with %s is a fault", (_, declared, pointer, kind, message) => {
    const own = faultsOf(declared).filter((fault) => /\/list/.test(fault.pointer));
    expect(own).toContainEqual({
      pointer: expect.stringMatching(new RegExp(`list${pointer}$`)),
      kind,
      message: expect.stringMatching(message),
    });
  });

  it("of an entity of a directory has no time of its IDs, and every region may own its keys", () => {
    const shop = (list: object) => ({
      ...sampleTable(),
      directory: { slug: { key: { text: "lower" } } },
      entities: {
        ...sampleTable().entities,
        shop: { path: "/shops/:id", directory: "slug", list: { ...LIST, ...list } },
      },
    });
    const byTime = faultsOf(shop({ order: { by: "id-time", direction: "asc" } }));
    expect(byTime).toContainEqual(expect.objectContaining({ pointer: "/entities/shop/list/order/by" }));
    const by = { member: "/at", type: "number" };
    const list = load(shop({ filters: FILTERS, order: { by, direction: "asc" } })).lists?.get("/shops");
    expect([list?.regionsOf, list?.order?.hasDecimalIds]).toEqual([undefined, false]);
  });

  it("has the path before the ID, and defaults", () => {
    const list = listOf(load(withList({})));
    expect(list).toMatchObject({ path: "/orders", pageSize: 100, limit: { query: "limit", default: 100, max: 1000 } });
    expect([...list.targets.keys()]).toEqual(["eu", "us", "ap"]);
    expect(list.targets.get("eu")?.region.failover).toEqual([]);
  });
});
