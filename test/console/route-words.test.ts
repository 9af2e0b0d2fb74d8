import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONDITIONS, textOf } from "../../src/console/routing/condition-words.ts";
import { DESTINATIONS, goesText, routeTitle, routeWords } from "../../src/console/routing/route-words.ts";
import type { DeclaredRoute, DeclaredTable } from "../../src/routing/schema/table.ts";
import { runs } from "../setup/property-runs.ts";
import { ROUTE_MEMBERS, WHEN_MEMBERS } from "./table-schema.ts";

const TABLE: DeclaredTable = {
  regions: {
    eu: { origins: [{ url: "https://eu.internal" }] },
    us: { origins: [{ url: "https://us.internal" }] },
    ap: { origins: [{ url: "https://ap.internal" }] },
  },
  countries: { KZ: 5, UZ: 6, IN: 11, PL: 10 },
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }] },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
    token: { path: "/tokens/:id", ids: [{ layout: "xid" }] },
    shop: { path: "/shops/:id", ids: [], directory: "slug" },
  },
  layouts: {
    hotguid: { slices: { m49: { offset: 0, bits: 10, codes: "m49" }, partition: [10, 22] } },
  },
  directory: { slug: { key: { text: "lower" } } },
  packs: { big: { sha256: "0".repeat(64), bytes: 1, ranges: 1, bits: 32, regions: ["eu", "us"] } },
  withoutId: { refund: { path: "/refunds" } },
  sources: [{ region: "eu" }],
  moved: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": "us", other: { region: "ap", epoch: 3 } },
  moves: { third: { from: "eu", to: "us", state: "fenced", epoch: 4 } },
  gone: { fourth: { epoch: 5 } },
  routes: [],
};

const wordsOf = (route: DeclaredRoute) => {
  const words = routeWords({ ...TABLE, routes: [route] }, "/routes/0");
  return words && [textOf(words.takes), words.entities.join(", "), goesText(words.goes), textOf(words.sentence)];
};

describe("a route in words", () => {
  it.each<[DeclaredRoute, takes: string, entities: string, goes: string, sentence: string]>([
    [{ when: {}, region: "eu" }, "All IDs", "order, ride, parcel, person, token", "eu", "all IDs go to eu"],
    [
      { when: { layout: "iuid", country: "KZ", mintedBefore: "2026-06-01T00:00:00Z" }, region: "eu" },
      "IDs of Kazakhstan minted before June 1, 2026",
      "order, ride",
      "eu",
      "IDs of Kazakhstan minted before June 1, 2026 go to eu",
    ],
    [
      { when: { country: ["KZ", "UZ", "IN"], entity: "order" }, region: "ap" },
      "IDs of Kazakhstan, Uzbekistan or India",
      "order",
      "ap",
      "order IDs of Kazakhstan, Uzbekistan or India go to ap",
    ],
    [
      { when: { shardKey: ["0-1023", 2048] }, region: "eu", canary: { region: "us", percent: 5 } },
      "Shard keys 0 to 1023 or 2048",
      "parcel",
      "eu, 5 % of them to us",
      "IDs with shard keys 0 to 1023 or 2048 go to eu, 5 % of them to us",
    ],
    [
      { when: { layout: "hotguid", slices: { m49: ["143", 616], partition: 7 } }, region: "eu" },
      "Areas Central Asia or Poland and partition 7",
      "parcel",
      "eu",
      "IDs with areas Central Asia or Poland and partition 7 go to eu",
    ],
    [
      { when: { slices: { m49: 49 } }, split: { by: "hash", parts: 4, regions: { "0-2": "eu", 3: "us" } } },
      "Area M.49 49",
      "parcel",
      "eu 75 %, us 25 %",
      "IDs with area M.49 49 go to eu 75 %, us 25 %",
    ],
    [{ when: { entity: "person" }, region: "eu" }, "All IDs of person", "person", "eu", "all person IDs go to eu"],
    [
      { when: { class: "com.example.Person", primaryKey: "0-999999" }, region: "us" },
      "Class com.example.Person and primary keys 0 to 999999",
      "person",
      "us",
      "IDs with class com.example.Person and primary keys 0 to 999999 go to us",
    ],
    [{ when: { service: 2 }, region: "us" }, "Service 2", "ride", "us", "IDs with service 2 go to us"],
    [
      {
        when: { layout: "xid", fields: { machine: [1, "7-9"] }, mintedFrom: "2026-06-01T12:30:00+02:00" },
        region: "us",
      },
      "Machine 1 or 7 to 9 in layout xid, minted from June 1, 2026, 10:30 UTC",
      "token",
      "us",
      "IDs in layout xid with machine 1 or 7 to 9 minted from June 1, 2026, 10:30 UTC go to us",
    ],
    [
      { when: { layout: ["iuid", "xid"], mintedFrom: "2026-06-01T00:00:00Z" }, pack: "big" },
      "IDs in layout iuid or xid minted from June 1, 2026",
      "order, ride, token",
      "the region that pack big says",
      "IDs in layout iuid or xid minted from June 1, 2026 go to the region that pack big says",
    ],
    [
      { when: { entity: "token" }, directory: "slug", shadow: { region: "us", percent: 10 } },
      "All IDs of token",
      "token",
      "the region that directory slug says; 10 % of the reads are also sent to us",
      "all token IDs go to the region that directory slug says; 10 % of the reads are also sent to us",
    ],
  ])("%j", (route, ...words) => {
    expect(wordsOf(route)).toEqual(words);
  });

  it("names at most twelve values, and how many more there are", () => {
    const shardKey = Array.from({ length: 20 }, (_, at) => at * 2);
    expect(wordsOf({ when: { shardKey }, region: "eu" })?.[0]).toMatch(/^Shard keys 0, 2, .*22 or 8 more$/);
  });

  it.each([
    ["/default", "All other IDs", "no region: 404"],
    ["/moved/0192f0c1-7a30-8005-8040-8f3b2a1c9d77", "The single ID 0192f0c1-7a30-8005-8040-8f3b2a1c9d77", "us"],
    ["/moved/other", "The single ID other", "ap"],
    ["/moves/third", "The single ID third", "eu, and is on its way to us"],
    ["/gone/fourth", "The single ID fourth", "no region: 410"],
    ["/directory/slug", "Keys of directory slug", "the region that directory slug says"],
    ["/packs/big", "IDs in pack big", "the region that pack big says"],
    ["/withoutId/refund", "Requests without an ID to /refunds", "the region that the request says"],
    ["/sources", "Requests without an ID", "the region that the request says"],
  ])("%s", (pointer, takes, goes) => {
    const words = routeWords(TABLE, pointer);
    expect([textOf(words?.takes ?? []), goesText(words?.goes ?? [])]).toEqual([takes, goes]);
    expect(words?.number).toBeUndefined();
  });

  it("takes another word for IDs, and says the line", () => {
    const table = { ...TABLE, routes: [{ when: { country: "KZ" }, region: "ap" }] };
    const words = routeWords(table, "/routes/0", { subject: "orders", lineOf: (pointer) => pointer.length });
    expect(textOf(words?.sentence ?? [])).toBe("orders of Kazakhstan go to ap");
    expect([words?.line, words && routeTitle(words)]).toEqual([9, "Route 1: IDs of Kazakhstan"]);
  });

  it("says the share of a canary", () => {
    const route = { when: { country: "KZ" }, region: "ap", canary: { region: "us", percent: 5 } };
    const words = routeWords({ ...TABLE, routes: [route] }, "/routes/0/canary");
    expect([textOf(words?.takes ?? []), words?.region]).toEqual(["5 % of IDs of Kazakhstan", "us"]);
  });

  it.each(["/routes/0", "/moved/none", "/routes/toString", "/none", "", "(other)"])(
    "has no words for %j",
    (pointer) => {
      expect(routeWords({ ...TABLE, routes: [] }, pointer)).toBeUndefined();
    },
  );
});

const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const few = <Item>(items: readonly Item[]) =>
  fc.oneof(some(items), fc.uniqueArray(some(items), { minLength: 1, maxLength: 15 }));
const numbers = fc.oneof(
  fc.nat(2 ** 20),
  fc.tuple(fc.nat(99), fc.nat(99)).map(([from, more]) => `${from}-${from + more}`),
  fc.array(fc.nat(2 ** 20), { minLength: 1, maxLength: 20 }),
);
const time = some(["2024-01-01T00:00:00Z", "2025-06-01T12:00:00.5Z", "2026-06-01T00:00:00+05:00"]);
const region = some(["eu", "us", "ap"]);
const share = fc.record({ region, percent: some([0, 0.01, 5, 100]) });

/** Values of each condition and of each destination. */
const WHEN = {
  layout: few(["iuid", "hotguid", "luuid", "xid"]),
  entity: few(["order", "ride", "parcel", "person", "token", "shop"]),
  country: few(["KZ", "UZ", "IN", "PL", "XK", "ZZ"]),
  service: numbers,
  shardKey: numbers,
  slices: fc.dictionary(some(["m49", "partition", "low"]), numbers, { minKeys: 1 }),
  fields: fc.dictionary(some(["machine", "worker", "shardKey"]), numbers, { minKeys: 1 }),
  group: numbers,
  class: few(["com.example.Person", "com.example.Pet"]),
  primaryKey: numbers,
  mintedFrom: time,
  mintedBefore: time,
};
const GOES = {
  region: region.map((name) => ({ region: name })),
  directory: fc.constant({ directory: "slug" }),
  pack: some(["big", "none"]).map((pack) => ({ pack })),
  split: fc
    .array(region, { minLength: 2, maxLength: 5 })
    .map((regions) => ({ split: { by: "hash" as const, parts: regions.length, regions } })),
  canary: share.map((canary) => ({ region: "eu", canary })),
  shadow: share.map((shadow) => ({ region: "eu", shadow })),
};

describe("every route of a random table has words", () => {
  it("knows all members of the schema", () => {
    expect([...CONDITIONS].sort()).toEqual(WHEN_MEMBERS);
    expect(Object.keys(WHEN).sort()).toEqual(WHEN_MEMBERS);
    expect([...DESTINATIONS, "when"].sort()).toEqual(ROUTE_MEMBERS);
    expect([...Object.keys(GOES), "when"].sort()).toEqual(ROUTE_MEMBERS);
  });

  it("without a pointer, and without what is not there", () => {
    const route = fc
      .record({ when: fc.record(WHEN, { requiredKeys: [] }), goes: fc.oneof(...Object.values(GOES)) })
      .map(({ when, goes }) => ({ when, ...goes }) as DeclaredRoute);
    fc.assert(
      fc.property(fc.array(route, { minLength: 1, maxLength: 8 }), (routes) => {
        const table = { ...TABLE, routes };
        for (const at of routes.keys()) {
          const words = routeWords(table, `/routes/${at}`);
          expect(words?.number).toBe(at + 1);
          const told = [words?.takes, words?.sentence].map((parts = []) => textOf(parts));
          for (const text of [...told, goesText(words?.goes ?? []), ...(words?.entities ?? [])]) {
            expect(text).not.toMatch(/\/routes|\/when|undefined|null|NaN|\[object|nothing| {2}| ,|^$/);
          }
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
