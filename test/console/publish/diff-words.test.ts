import { describe, expect, it } from "vitest";
import { changesInWords, type Way } from "../../../src/console/publish/diff-words.ts";
import { momentAfter, onlyNewIds } from "../../../src/console/publish/only-new.ts";
import { effectOf } from "../../../src/console/publish/requests/effect.ts";
import { textOf } from "../../../src/console/routing/condition-words.ts";
import type { HistorySeries, MetricsHistory, RouteRequests } from "../../../src/formats/console-api.ts";
import { checkTable } from "../../../src/routing/index.ts";
import type { DeclaredRoute, DeclaredTable } from "../../../src/routing/schema/table.ts";
import { readDemoTable } from "../../system/demo/demo.ts";

const demo = (): DeclaredTable => {
  const checked = checkTable(readDemoTable());
  if (!checked.ok) throw new Error("the demo's table is valid");
  return checked.value;
};
const BRAZIL = 2;
const withRoute = (index: number, change: Partial<DeclaredRoute>, table = demo()): DeclaredTable => ({
  ...table,
  routes: table.routes.map((route, at) => (at === index ? { ...route, ...change } : route)),
});
const words = (before: DeclaredTable, after: DeclaredTable) =>
  changesInWords(before, after, Date.parse("2026-11-26T22:00:00Z"));
const lineOf = ({ title, words: own, from, to }: Way) => `${title}: ${textOf(own)}, ${from.words} → ${to.words}`;

describe("a change in words", () => {
  it("names the route by its number, its IDs by countries and entities, and both regions", () => {
    const { ways, isEmpty, whole } = words(demo(), withRoute(BRAZIL, { region: "eu" }));
    expect(ways.map(lineOf)).toEqual(["Route 3: order and ride IDs of Brazil or Mexico, us → eu"]);
    expect([isEmpty, [...whole]]).toEqual([false, [BRAZIL]]);
  });

  it("says of a route that is new, removed, or takes fewer IDs what becomes of them", () => {
    const table = demo();
    const kazakhstan = { when: { layout: "iuid", country: "BR" }, region: "ap" };
    expect(words(table, { ...table, routes: [kazakhstan, ...table.routes] }).ways.map(lineOf)).toEqual([
      "New route 1: order and ride IDs of Brazil, us → ap",
    ]);
    expect(words(table, { ...table, routes: table.routes.toSpliced(BRAZIL, 1) }).ways.map(lineOf)).toEqual([
      "Route 3, removed: order and ride IDs of Brazil or Mexico, us → no region",
    ]);
    const fewer = withRoute(BRAZIL, { when: { layout: "iuid", country: ["BR"] } });
    expect(words(table, fewer).ways.map(lineOf)).toEqual(["Route 3: order and ride IDs of Mexico, us → no region"]);
  });

  it("knows a route again that lost a country to a new one", () => {
    const table = demo();
    const [brazil = table.routes[0] as DeclaredRoute] = table.routes.slice(BRAZIL);
    const routes = table.routes.toSpliced(
      BRAZIL,
      1,
      { when: { layout: "iuid", country: "BR" }, region: "ap" },
      { ...brazil, when: { ...brazil.when, country: ["MX"] } },
    );
    const { ways, parts } = words(table, { ...table, routes });
    expect(ways.map(lineOf)).toEqual(["New route 3: order and ride IDs of Brazil, us → ap"]);
    expect(parts).toEqual([]);
    // Nothing comes to this one.
    const more = { ...table, routes: [...table.routes, { when: { layout: "iuid", country: "KZ" }, region: "us" }] };
    expect(words(table, more).parts.map(({ how, words: own }) => [how, textOf(own)])).toEqual([
      ["added", `Route ${more.routes.length}`],
    ]);
  });

  it("has ranges of keys, times, shares and single entities", () => {
    const shards = withRoute(5, { when: { layout: "hotguid", shardKey: "1024-1983" } });
    expect(words(demo(), shards).ways.map(lineOf)).toEqual([
      "Route 6: parcel IDs with shard key 1984–2047, us → no region",
    ]);
    const later = withRoute(0, { when: { layout: "iuid", country: "KZ", mintedBefore: "2026-07-01T00:00:00Z" } });
    expect(words(demo(), later).ways.map(lineOf)).toEqual([
      "Route 1: order and ride IDs of Kazakhstan minted from 2026-06-01 00:00:00 UTC minted before 2026-07-01 00:00:00 UTC, ap → eu",
    ]);
    const canary = withRoute(BRAZIL, { canary: { region: "eu", percent: 5 } });
    expect(words(demo(), canary)).toMatchObject({
      ways: [
        {
          words: expect.arrayContaining([{ text: "5 %", isStrong: true }]),
          to: { words: "us, and 5 % of them to eu" },
        },
      ],
      parts: [{ how: "added", detail: "none → eu 5 %" }],
    });
    const moved = { ...demo(), moved: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": "eu" } };
    expect(words(demo(), moved).entities).toEqual([
      {
        title: "1 order",
        ids: ["0192f0c1-7a30-8005-8040-8f3b2a1c9d77"],
        from: { region: "us", words: "us" },
        to: { region: "eu", words: "eu" },
      },
    ]);
  });

  it("says of other parts what changed, and never a pointer", () => {
    const table = demo();
    const after = {
      ...withRoute(BRAZIL, { when: { layout: ["iuid"], country: ["BR", "MX"] } }),
      regions: {
        ...table.regions,
        ap: { origins: [...(table.regions["ap"]?.origins ?? []), { url: "https://ap-3.example" }] },
      },
      cors: { origins: [] },
    };
    const { parts, ways } = words(table, after as DeclaredTable);
    expect(ways).toEqual([]);
    expect(parts.map(({ how, words: own, detail }) => [how, textOf(own), detail])).toEqual([
      ["changed", "Route 3", "No ID goes elsewhere by it."],
      ["changed", "Region ap", "new origin ap-3.example"],
      ["changed", "cors", undefined],
    ]);
    expect(JSON.stringify(words(table, after as DeclaredTable))).not.toContain("/routes/");
  });

  it("is empty for a table that says the same", () => {
    expect(words(demo(), demo())).toMatchObject({ isEmpty: true, ways: [], parts: [], entities: [], warnings: [] });
  });
});

const series = (requests: readonly number[]): HistorySeries => ({
  requests,
  errors: [],
  refused: [],
  faults: [],
  busyMs: [],
  p50: [],
  p99: [],
  originP50: [],
  originP99: [],
});

const history = (
  regions: Readonly<Record<string, readonly number[]>>,
  routes?: readonly RouteRequests[],
  stepSeconds = 10,
): MetricsHistory => {
  const lists = Object.values(regions);
  const total = (lists[0] ?? []).map((_, at) => lists.reduce((sum, list) => sum + (list[at] ?? 0), 0));
  return {
    source: "all",
    span: "hour",
    stepSeconds,
    since: null,
    at: total.map((_, at) => at * stepSeconds),
    total: series(total),
    regions: Object.fromEntries(Object.entries(regions).map(([name, list]) => [name, series(list)])),
    problems: {},
    isolates: { count: 0, shown: [] },
    ...(routes && { routes }),
  } as unknown as MetricsHistory;
};

const route = (index: number, requests: number, revision = 42): RouteRequests => ({
  revision,
  pointer: `/routes/${index}`,
  requests,
});

describe("the effect in requests", () => {
  const toEu = words(demo(), withRoute(BRAZIL, { region: "eu" }));
  const hour = (routes?: readonly RouteRequests[]) => history({ eu: [30, 30], us: [20, 20] }, routes);

  it("is what the route decided, where the whole route goes elsewhere", () => {
    const effect = effectOf(toEu, 42, hour([route(BRAZIL, 30), route(3, 60), route(5, 10), route(BRAZIL, 900, 41)]));
    expect(effect?.ways).toEqual([{ share: 0.3, perSecond: 1.5, isBound: false }]);
    expect(effect?.share).toBe(0.3);
    expect(effect?.regions).toEqual([
      { region: "eu", before: 0.6, least: expect.closeTo(0.9), most: expect.closeTo(0.9) },
      { region: "us", before: 0.4, least: expect.closeTo(0.1), most: expect.closeTo(0.1) },
    ]);
  });

  it("goes by the requests of the revision alone, where another one decided about many of them", () => {
    const own = effectOf(toEu, 42, hour([route(BRAZIL, 15), route(3, 45), route(3, 40, 41)]), undefined, demo());
    expect(own?.ways).toEqual([{ share: 0.25, perSecond: 1.25, isBound: false }]);
    expect(own?.regions).toEqual([
      { region: "us", before: 0.25, least: 0, most: 0 },
      { region: "eu", before: 0.75, least: 1, most: 1 },
    ]);
    // Just published: a bound, and never nothing.
    const soon = effectOf(toEu, 42, hour([route(3, 10), route(3, 90, 41)]), undefined, demo());
    expect(soon?.ways).toEqual([{ share: 0.4, perSecond: 2, isBound: true }]);
  });

  it("is a bound where only a part of the route does, or where only the region is counted", () => {
    const part = words(demo(), withRoute(BRAZIL, { when: { layout: "iuid", country: "BR" } }));
    const own = effectOf(part, 42, hour([route(BRAZIL, 30), route(3, 70)]));
    expect(own?.ways).toEqual([{ share: 0.3, perSecond: 1.5, isBound: true }]);
    expect(own?.regions[1]).toEqual({ region: "us", before: 0.4, least: expect.closeTo(0.1), most: 0.4 });
    expect(effectOf(toEu, 42, hour())?.ways).toEqual([{ share: 0.4, perSecond: 2, isBound: true }]);
    const lost = effectOf(
      toEu,
      42,
      hour([route(BRAZIL, 30), route(3, 60), { revision: null, pointer: "(other)", requests: 10 }]),
    );
    expect(lost?.ways).toEqual([{ share: 0.4, perSecond: 2, isBound: true }]);
  });

  it("is 0 for a route that is counted and had none, and unknown where nothing was counted", () => {
    expect(effectOf(toEu, 42, hour([route(3, 60)]))?.ways).toEqual([{ share: 0, perSecond: 0, isBound: false }]);
    expect(effectOf(toEu, 42, undefined)).toBeUndefined();
    expect(effectOf(toEu, 42, history({ eu: [0, 0] }))).toBeUndefined();
    expect(effectOf(toEu, 42, { ...hour(), source: "none" })).toBeUndefined();
  });

  it("warns of a region that would get more than its most of the last day", () => {
    const counts = [route(BRAZIL, 30), route(3, 60), route(5, 10)];
    const day = (most: number) => history({ eu: [300, most * 300, 9_999_999], us: [1, 1, 1] }, undefined, 300);
    expect(effectOf(toEu, 42, hour(counts), day(4))?.overloads).toEqual([
      { region: "eu", perSecond: expect.closeTo(4.5), most: 4, isBound: false },
    ]);
    expect(effectOf(toEu, 42, hour(counts), day(5))?.overloads).toEqual([]);
    expect(effectOf(toEu, 42, hour(counts))?.overloads).toEqual([]);
  });

  it("counts a region whose origins change, and no more than all requests", () => {
    const table = withRoute(BRAZIL, { region: "eu" });
    const after = { ...table, regions: { ...table.regions, eu: { origins: [{ url: "https://eu.example" }] } } };
    expect(effectOf(words(demo(), after), 42, hour([route(BRAZIL, 30), route(3, 70)]))?.share).toBeCloseTo(0.9);
  });
});

describe("a change for new IDs alone", () => {
  const AT = Date.parse("2026-11-26T22:00:00Z");
  const text = (table: DeclaredTable) => JSON.stringify(table, null, 2);
  const only = (after: DeclaredTable, before = demo()) => onlyNewIds(before, after, text(after), AT);

  it("adds the moment to the changed route and keeps the one before for the older IDs", () => {
    const made = only(withRoute(BRAZIL, { region: "eu" }));
    expect(made.ok && made.table.routes.slice(BRAZIL, BRAZIL + 2)).toEqual([
      { when: { layout: "iuid", country: ["BR", "MX"], mintedFrom: "2026-11-26T22:00:00Z" }, region: "eu" },
      { when: { layout: "iuid", country: ["BR", "MX"] }, region: "us" },
    ]);
    expect(made.ok && words(demo(), made.table).ways.map(lineOf)).toEqual([
      "New route 3: order and ride IDs of Brazil or Mexico minted from 2026-11-26 22:00:00 UTC, us → eu",
    ]);
  });

  it("keeps the older IDs of a route that is removed or takes fewer of them", () => {
    const table = demo();
    const made = only({ ...table, routes: table.routes.toSpliced(BRAZIL, 1) });
    expect(made.ok && made.table.routes[BRAZIL]?.when).toEqual({
      layout: "iuid",
      country: ["BR", "MX"],
      mintedBefore: "2026-11-26T22:00:00Z",
    });
    const fewer = only(withRoute(BRAZIL, { when: { layout: "iuid", country: "BR" } }));
    expect(fewer.ok && fewer.table.routes.slice(BRAZIL, BRAZIL + 2).map(({ when }) => when)).toEqual([
      { layout: "iuid", country: "BR", mintedFrom: "2026-11-26T22:00:00Z" },
      { layout: "iuid", country: ["BR", "MX"], mintedBefore: "2026-11-26T22:00:00Z" },
    ]);
  });

  it("is impossible where IDs do not say their time, and where more changes than routes; it says so", () => {
    const noTime = only(withRoute(10, { region: "us" }));
    expect(noTime).toMatchObject({ ok: false, why: expect.stringMatching(/do not say when they were minted/) });
    expect(only({ ...demo(), default: "us" })).toMatchObject({
      ok: false,
      why: expect.stringMatching(/more than routes/),
    });
    const { us: _, ...regions } = demo().regions;
    const without = {
      ...demo(),
      regions,
      moved: {},
      routes: demo().routes.map((each) => (each.region === "us" ? { ...each, region: "eu" } : each)),
    };
    expect(only(without)).toMatchObject({ ok: false });
  });

  it("begins late enough for every isolate to have the table", () => {
    expect(new Date(momentAfter(Date.parse("2026-11-26T21:48:10Z"))).toISOString()).toBe("2026-11-26T22:00:00.000Z");
    expect(new Date(momentAfter(Date.parse("2026-11-26T21:52:00Z"))).toISOString()).toBe("2026-11-26T22:05:00.000Z");
  });
});
