import { ROUTES_MAX, VALUES_MAX } from "../../../src/routing/limits.ts";
import type { FaultKind } from "../../../src/routing/schema/faults.ts";
import type { sampleTable } from "../tables.ts";
import { LAYOUT_CASES } from "./layout-cases.ts";
import { PACK_CASES, SLICE_FIELD_CASES, SPLIT_CASES } from "./pack-fault-cases.ts";
import { PATH_LAYOUT_CASES } from "./path-layout-cases.ts";
import { NAME_CLASH_CASES, UNREACHABLE_SOURCE_CASES } from "./without-id-cases.ts";

/** Each case changes the sample table in one way and names every fault that must follow, as `kind pointer`. */
type Table = ReturnType<typeof sampleTable>;
export type FaultCase = readonly [what: string, change: (table: Table) => unknown, faults: readonly string[]];

export const route = (when: object, region = "eu") => ({ when, region });

const withShares = (when: object, shares: object) => ({ ...route(when), ...shares });

/** One HotGuid in both its text forms; each text could also be another HotGuid of the other form. */
const HOTGUID = "6347eb00-bbaa-01cc-0201-0203d0000070";
const HOTGUID_SQL = "700000d0-0302-0102-01cc-6347eb00bbaa";

const withGateway = (t: Table, gateway: string) => ({
  ...t,
  regions: { ...t.regions, eu: { origins: [{ url: "https://eu.internal.example.com" }], gateway } },
});

/** A text that is no JSON never becomes a table, so whoever reads the text reports that fault. */
export const FAULT_CASES: Readonly<Record<Exclude<FaultKind, "syntax">, readonly FaultCase[]>> = {
  "layout-declaration": LAYOUT_CASES,
  pack: PACK_CASES,
  "path-layout": PATH_LAYOUT_CASES,
  "split-parts": SPLIT_CASES,
  "name-clash": [...NAME_CLASH_CASES, ...SLICE_FIELD_CASES],
  "unreachable-source": UNREACHABLE_SOURCE_CASES,
  schema: [
    ["no object at all", () => 5, ["schema "]],
    ["null", () => null, ["schema "]],
    ["an array", () => [], ["schema /regions", "schema /routes"]],
    ["an unknown part", (t) => ({ ...t, colour: 1 }), ["schema /colour"]],
    [
      "epochs below 1, and no whole ones",
      (t) => ({
        ...t,
        moved: { [HOTGUID]: { region: "eu", epoch: 0 } },
        gone: { x: { epoch: 1.5 } },
        epochFloor: -1,
      }),
      ["schema /epochFloor", `schema /moved/${HOTGUID}/epoch`, "schema /gone/x/epoch"],
    ],
    [
      "a state that a move does not have",
      (t) => ({ ...t, moves: { [HOTGUID]: { ...move("us", "ap"), state: "moved" } } }),
      [`schema /moves/${HOTGUID}/state`],
    ],
    ["the revision, which publishing gives", (t) => ({ ...t, revision: 3 }), ["schema /revision"]],
    ["no routes", ({ routes: _, ...t }) => t, ["schema /routes"]],
    ["no regions", (t) => ({ ...t, regions: {}, routes: [], moved: {} }), ["schema /regions"]],
    ["null for an optional part", (t) => ({ ...t, moved: null }), ["schema /moved"]],
    [
      "a region's name with a slash",
      (t) => ({ ...t, regions: { ...t.regions, "a/b~": { origins: [{ url: "http://a" }] } } }),
      ["schema /regions/a~1b~0"],
    ],
    ["an unknown condition", (t) => ({ ...t, routes: [route({ contry: "KZ" })] }), ["schema /routes/0/when/contry"]],
    ["a number for a country", (t) => ({ ...t, routes: [route({ country: 5 })] }), ["schema /routes/0/when/country"]],
    [
      "more than all of the IDs",
      (t) => ({ ...t, routes: [withShares({}, { canary: { region: "us", percent: 100.1 } })] }),
      ["schema /routes/0/canary/percent"],
    ],
    [
      "less than none of the reads",
      (t) => ({ ...t, routes: [withShares({}, { shadow: { region: "us", percent: -1 } })] }),
      ["schema /routes/0/shadow/percent"],
    ],
    [
      "a canary without its percent",
      (t) => ({ ...t, routes: [withShares({}, { canary: { region: "us" } })] }),
      ["schema /routes/0/canary/percent"],
    ],
    ["an empty list", (t) => ({ ...t, routes: [route({ country: [] })] }), ["schema /routes/0/when/country"]],
    [
      "a hexadecimal key",
      (t) => ({ ...t, routes: [route({ shardKey: ["0x10"] })] }),
      ["schema /routes/0/when/shardKey/0"],
    ],
    ["a negative key", (t) => ({ ...t, routes: [route({ shardKey: -1 })] }), ["schema /routes/0/when/shardKey"]],
    ["a fraction", (t) => ({ ...t, routes: [route({ shardKey: 1.5 })] }), ["schema /routes/0/when/shardKey"]],
    [
      "a time without its offset",
      (t) => ({ ...t, routes: [route({ mintedFrom: "2026-06-01T00:00:00" })] }),
      ["schema /routes/0/when/mintedFrom"],
    ],
    ["no region in a route", (t) => ({ ...t, routes: [{ when: {} }] }), ["schema /routes/0/region"]],
    ["a pattern without an ID", (t) => withPath(t, "/orders"), ["schema /entities/order/path"]],
    ["a pattern with two IDs", (t) => withPath(t, "/a/:id/:id"), ["schema /entities/order/path"]],
    ["an ID that is part of a segment", (t) => withPath(t, "/orders/o-:id"), ["schema /entities/order/path"]],
    ["a pattern with an encoded character", (t) => withPath(t, "/a%20b/:id"), ["schema /entities/order/path"]],
    ["a pattern with a dot segment", (t) => withPath(t, "/a/../:id"), ["schema /entities/order/path"]],
    ["a wildcard in the path that /any leads to", (t) => withPath(t, "/a/*/:id"), ["schema /entities/order/path"]],
    [
      "a wildcard in the first of several paths",
      (t) => withPath(t, ["/a/*/:id", "/b/*/:id"]),
      ["schema /entities/order/path/0"],
    ],
    [
      "a forbidden name",
      (t) => ({ ...t, regions: JSON.parse(`{"__proto__": {}, ${JSON.stringify(t.regions).slice(1)}`) }),
      ["schema /regions/__proto__"],
    ],
    [
      "another forbidden name",
      (t) => ({ ...t, entities: { ...t.entities, constructor: 1 } }),
      ["schema /entities/constructor"],
    ],
    [
      "a list for the conditions of a route",
      (t) => ({ ...t, routes: [{ when: [], region: "eu" }] }),
      ["schema /routes/0/when"],
    ],
    [
      "a list for the fields of a route",
      (t) => ({ ...t, routes: [route({ fields: [] })] }),
      ["schema /routes/0/when/fields"],
    ],
    ["a list for a layout", (t) => ({ ...t, layouts: { ...t.layouts, iuid: [] } }), ["schema /layouts/iuid"]],
    ["a function", (t) => ({ ...t, default: () => "eu" }), ["schema /default", "schema /default"]],
    [
      "infinity",
      (t) => ({ ...t, countries: { KZ: Number.POSITIVE_INFINITY, UZ: 6, BR: 7 } }),
      ["schema /countries/KZ", "schema /countries/KZ", "schema /countries/KZ"],
    ],
  ],
  size: [
    ["too many routes", (t) => ({ ...t, routes: new Array(ROUTES_MAX + 1).fill(5) }), ["size /routes"]],
    [
      "too many values besides routes and single entities",
      (t) => ({ ...t, countries: manyIds(VALUES_MAX) }),
      ["size /countries"],
    ],
    ["a long name", (t) => ({ ...t, default: "e".repeat(65) }), ["size /default"]],
    [
      "too deep",
      (t) => ({ ...t, moved: nest(13) }),
      ["size /moved/a/a/a/a/a/a/a/a/a/a/a", "schema /moved/a/region", "schema /moved/a/epoch", "schema /moved/a/a"],
    ],
    [
      "too many single entities in all parts together",
      (t) => ({ ...t, moved: manyIds(60_000), moves: {}, gone: manyIds(40_001) }),
      ["size /moved"],
    ],
    [
      "too many patterns",
      (t) => ({ ...t, entities: manyPatterns(), routes: [], moved: {}, layouts: {} }),
      ["size /entities"],
    ],
  ],
  "unknown-name": [
    [
      "the regions of moves",
      (t) => ({
        ...t,
        moved: { [HOTGUID]: { region: "mars", epoch: 3 } },
        moves: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": move("pluto", "mars") },
      }),
      [
        `unknown-name /moved/${HOTGUID}/region`,
        "unknown-name /moves/0192f0c1-7a30-8005-8040-8f3b2a1c9d77/from",
        "unknown-name /moves/0192f0c1-7a30-8005-8040-8f3b2a1c9d77/to",
      ],
    ],
    ["a route's region", (t) => ({ ...t, routes: [route({}, "mars")] }), ["unknown-name /routes/0/region"]],
    [
      "the regions of a canary and a shadow",
      (t) => ({
        ...t,
        routes: [withShares({}, { canary: { region: "mars", percent: 5 }, shadow: { region: "pluto", percent: 5 } })],
      }),
      ["unknown-name /routes/0/canary/region", "unknown-name /routes/0/shadow/region"],
    ],
    [
      "a route's entity",
      (t) => ({ ...t, routes: [route({ entity: ["order", "horse"] })] }),
      ["unknown-name /routes/0/when/entity/1"],
    ],
    [
      "a route's layout",
      (t) => ({ ...t, routes: [route({ layout: "ksuid2" })] }),
      ["unknown-name /routes/0/when/layout"],
    ],
    [
      "a route's country",
      (t) => ({ ...t, routes: [route({ country: "DE" })] }),
      ["unknown-name /routes/0/when/country"],
    ],
    [
      "a route's slice",
      (t) => ({ ...t, routes: [route({ slices: { part: 1 } })] }),
      ["unknown-name /routes/0/when/slices/part"],
    ],
    [
      "an entity's layout",
      (t) => withIds(t, [{ layout: "iiud", service: 1 }]),
      ["unknown-name /entities/order/ids/0/layout"],
    ],
    ["a layout", (t) => ({ ...t, layouts: { ...t.layouts, hotguit: {} } }), ["unknown-name /layouts/hotguit"]],
    [
      "a layout that no entity uses",
      (t) => ({ ...t, layouts: { ...t.layouts, "hotguid-sql": {} } }),
      ["unknown-name /layouts/hotguid-sql"],
    ],
    [
      "a service where there is none",
      (t) => withIds(t, [{ layout: "hotguid", service: 1 }]),
      ["unknown-name /entities/order/ids/0/service"],
    ],
    [
      "a class where there is none",
      (t) => withIds(t, [{ layout: "iuid", class: "A" }]),
      ["unknown-name /entities/order/ids/0/class"],
    ],
    [
      "the region of a moved entity",
      (t) => ({ ...t, moved: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": "mars" } }),
      ["unknown-name /moved/0192f0c1-7a30-8005-8040-8f3b2a1c9d77"],
    ],
    ["the default", (t) => ({ ...t, default: "mars" }), ["unknown-name /default"]],
    [
      "a failover",
      (t) => ({ ...t, regions: { ...t.regions, eu: { origins: [{ url: "http://a" }], failover: ["mars"] } } }),
      ["unknown-name /regions/eu/failover/0"],
    ],
    [
      "a country that ISO does not know",
      (t) => ({ ...t, countries: { ...t.countries, UK: 9 } }),
      ["unknown-name /countries/UK"],
    ],
    [
      "a name that objects have anyway",
      (t) => ({ ...t, routes: [route({ country: "toString" })] }),
      ["unknown-name /routes/0/when/country"],
    ],
  ],
  "unreachable-route": [
    [
      "the same route twice",
      (t) => ({ ...t, routes: [route({ country: "KZ" }), route({ country: "KZ" }, "us")] }),
      ["unreachable-route /routes/1"],
    ],
    [
      "after a catch-all",
      (t) => ({ ...t, routes: [route({}), route({ country: "KZ" }), route({ entity: "person" })] }),
      ["unreachable-route /routes/1", "unreachable-route /routes/2"],
    ],
    [
      "under a whole layout",
      (t) => ({ ...t, routes: [route({ layout: "iuid" }), route({ country: "KZ" }), route({ layout: "hotguid" })] }),
      ["unreachable-route /routes/1"],
    ],
    [
      "under all entities of a layout",
      (t) => ({ ...t, routes: [route({ entity: ["order", "ride"] }), route({ layout: "iuid" }, "us")] }),
      ["unreachable-route /routes/1"],
    ],
    [
      "under two halves of a range",
      (t) => ({
        ...t,
        routes: [route({ shardKey: "0-99" }), route({ shardKey: "100-199" }), route({ shardKey: "50-150" }, "us")],
      }),
      ["unreachable-route /routes/2"],
    ],
    [
      "under all halves of all time",
      (t) => ({
        ...t,
        routes: [
          route({ country: "KZ", mintedBefore: "2026-01-01T00:00:00Z" }),
          route({ layout: "iuid", mintedFrom: "2026-01-01T00:00:00Z" }),
          route({ country: "KZ" }, "us"),
        ],
      }),
      ["unreachable-route /routes/2"],
    ],
    [
      "under slices that hold the range",
      (t) => ({
        ...t,
        routes: [route({ slices: { m49: 398 } }), route({ shardKey: `${398 * 2 ** 22}-${399 * 2 ** 22 - 1}` }, "us")],
      }),
      ["unreachable-route /routes/1"],
    ],
    [
      "under an area that holds the country",
      (t) => ({ ...t, routes: [route({ slices: { m49: "142" } }), route({ slices: { m49: 398 } }, "us")] }),
      ["unreachable-route /routes/1"],
    ],
    [
      "a country in a HotGuid",
      (t) => ({ ...t, routes: [route({ layout: "hotguid", country: "KZ" })] }),
      ["unreachable-route /routes/0/when/country"],
    ],
    [
      "a time in an LUUID",
      (t) => ({ ...t, routes: [route({ entity: "person", mintedFrom: "2026-01-01T00:00:00Z" })] }),
      ["unreachable-route /routes/0/when/mintedFrom"],
    ],
    [
      "a service that its entity has not",
      (t) => ({ ...t, routes: [route({ entity: "order", service: 2 })] }),
      ["unreachable-route /routes/0/when"],
    ],
    [
      "a service in an entity of persons",
      (t) => ({ ...t, routes: [route({ entity: "person", service: 2 })] }),
      ["unreachable-route /routes/0/when/service"],
    ],
    [
      "a class that no entity has",
      (t) => ({ ...t, routes: [route({ class: "com.example.Cat" })] }),
      ["unreachable-route /routes/0/when"],
    ],
    [
      "a layout that its entity has not",
      (t) => ({ ...t, routes: [route({ entity: "person", layout: "iuid" })] }),
      ["unreachable-route /routes/0/when/layout"],
    ],
    [
      "a layout that no entity has",
      (t) => ({ ...t, routes: [route({ layout: "hotguid-sql" })] }),
      ["unreachable-route /routes/0/when/layout"],
    ],
    [
      "a key outside of its slice",
      (t) => ({ ...t, routes: [route({ shardKey: 5, slices: { m49: 398 } })] }),
      ["unreachable-route /routes/0/when"],
    ],
    [
      "a time before the layout's window",
      (t) => ({ ...t, routes: [route({ layout: "iuid", mintedBefore: "1999-01-01T00:00:00Z" })] }),
      ["unreachable-route /routes/0/when"],
    ],
    [
      "no route is unreachable here",
      (t) => ({
        ...t,
        routes: [
          route({ shardKey: "0-99" }),
          route({ shardKey: "101-199" }),
          route({ shardKey: "50-150" }, "us"),
          route({}, "ap"),
        ],
      }),
      [],
    ],
  ],
  "group-clash": [
    [
      "two classes with one CRC",
      (t) => ({
        ...t,
        entities: {
          ...t.entities,
          a: luuidOf("/a/:id", "com.example.Class99"),
          b: luuidOf("/b/:id", "com.example.Class220"),
        },
      }),
      ["group-clash /entities/b/ids/0/class"],
    ],
    [
      "a class and its number",
      (t) => ({
        ...t,
        entities: { ...t.entities, cat: { path: "/cats/:id", ids: [{ layout: "luuid", group: 3339 }] } },
      }),
      ["group-clash /entities/cat/ids/0/group"],
    ],
    [
      "a class and a group at once",
      (t) => ({
        ...t,
        entities: {
          ...t.entities,
          person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person", group: 1 }] },
        },
      }),
      ["group-clash /entities/person/ids/0/group", "moved-id /moved/00000023-122e-6d0b-a789-28ef27ab7c62"],
    ],
    [
      "one that takes every group",
      (t) => ({ ...t, entities: { ...t.entities, cat: { path: "/cats/:id", ids: [{ layout: "luuid" }] } } }),
      ["group-clash /entities/cat/ids/0"],
    ],
  ],
  "number-clash": [
    [
      "two countries, whose routes are no second fault",
      (t) => ({
        ...t,
        countries: { ...t.countries, DE: 5, PL: 5 },
        routes: [route({ country: "PL" }), ...t.routes, route({ country: ["DE", "UZ"] })],
      }),
      ["number-clash /countries/DE", "number-clash /countries/PL"],
    ],
    [
      "two countries beside a route that has nothing to do with them",
      (t) => ({ ...t, countries: { ...t.countries, DE: 5 }, routes: [...t.routes, route({ shardKey: 5 })] }),
      ["number-clash /countries/DE", "unreachable-route /routes/5"],
    ],
    [
      "two services, whose routes are no second fault",
      (t) => ({
        ...t,
        entities: { ...t.entities, trip: { path: "/trips/:id", ids: [{ layout: "iuid", service: 2 }] } },
        routes: [route({ service: 2 }), route({ service: 3 }), route({ entity: "ride" }), ...t.routes.slice(2)],
      }),
      ["number-clash /entities/trip/ids/0/service"],
    ],
    ["two countries", (t) => ({ ...t, countries: { ...t.countries, DE: 5 } }), ["number-clash /countries/DE"]],
    [
      "two services",
      (t) => ({
        ...t,
        entities: { ...t.entities, trip: { path: "/trips/:id", ids: [{ layout: "iuid", service: 2 }] } },
      }),
      ["number-clash /entities/trip/ids/0/service"],
    ],
    [
      "one that takes every service",
      (t) => ({ ...t, entities: { ...t.entities, trip: { path: "/trips/:id", ids: [{ layout: "iuid" }] } } }),
      ["number-clash /entities/trip/ids/0"],
    ],
    [
      "one layout twice",
      (t) => ({
        ...t,
        entities: {
          ...t.entities,
          parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }, { layout: "hotguid" }] },
        },
      }),
      ["number-clash /entities/parcel/ids/1"],
    ],
    [
      "two entities may share a layout without marks",
      (t) => ({ ...t, entities: { ...t.entities, box: { path: "/boxes/:id", ids: [{ layout: "hotguid" }] } } }),
      [],
    ],
  ],
  "path-collision": [
    ["one path twice", (t) => withPath(t, "/rides/:id"), ["path-collision /entities/ride/path/0"]],
    [
      "one path twice in one entity",
      (t) => withPath(t, ["/orders/:id", "/orders/:id"]),
      ["path-collision /entities/order/path/1"],
    ],
    [
      "a wildcard where the other has its ID",
      (t) => withPath(t, ["/orders/:id", "/rides/*/:id"]),
      ["path-collision /entities/ride/path/0"],
    ],
    ["below the ID of the other", (t) => withPath(t, "/rides/:id/orders"), ["path-collision /entities/ride/path/0"]],
    [
      "text that is a short key of the other",
      (t) => withPath(t, "/person/cafe/:id"),
      ["path-collision /entities/order/path"],
    ],
    ...(
      [
        ["/x/*/:id", "/x/*/b/:id"],
        ["/x/*/:id", "/x/tenant/b/:id"],
        ["/x/*/:id", "/x/:id/b"],
        ["/x/*/c/:id", "/x/tenant/*/b/:id"],
        ["/x/*/*/:id/y", "/x/*/*/b/y/:id"],
      ] as const
    ).map(
      ([short, literal]): FaultCase => [
        `${literal}, whose b is a short key in ${short}`,
        (t) => withShortKeys(t, short, literal),
        ["path-collision /entities/ride/path/1"],
      ],
    ),
    ...(
      [
        ["/x/*/:id", "/x/*/bus/:id"],
        ["/x/*/:id", "/x/*/y/b/:id"],
        ["/x/t/:id", "/x/*/b/:id"],
        ["/x/t/*/:id", "/x/*/u/b/:id"],
        ["/x/t/*/:id", "/x/u/*/b/:id"],
      ] as const
    ).map(
      ([short, literal]): FaultCase => [
        `${literal} hides no short key in ${short}`,
        (t) => withShortKeys(t, short, literal),
        [],
      ],
    ),
    ["a literal beside a wildcard is none", (t) => withPath(t, "/v2/x/rides/:id"), []],
  ],
  "reserved-path": [
    ["/any", (t) => withPath(t, "/any/:id"), ["reserved-path /entities/order/path"]],
    ["/mint", (t) => withPath(t, "/mint/orders/:id"), ["reserved-path /entities/order/path"]],
    ["/-", (t) => withPath(t, "/-/:id"), ["reserved-path /entities/order/path"]],
    ["an ID at the root", (t) => withPath(t, "/:id"), ["reserved-path /entities/order/path"]],
    [
      "a wildcard at the root",
      (t) => withPath(t, ["/orders/:id", "/*/orders/:id"]),
      ["reserved-path /entities/order/path/1"],
    ],
  ],
  "indistinguishable-layouts": [
    [
      "HotGuid in both forms",
      (t) => withParcel(t, [{ layout: "hotguid" }, { layout: "hotguid-sql" }]),
      ["indistinguishable-layouts /entities/parcel/ids/1"],
    ],
    [
      "iUID and the SQL form",
      (t) => withParcel(t, [{ layout: "iuid", service: 9 }, { layout: "hotguid-sql" }]),
      ["indistinguishable-layouts /entities/parcel/ids/1"],
    ],
    [
      "LUUID and HotGuid",
      (t) => withParcel(t, [{ layout: "luuid", group: 9 }, { layout: "hotguid" }]),
      ["indistinguishable-layouts /entities/parcel/ids/1"],
    ],
    [
      "iUID and HotGuid without windows",
      (t) => ({
        ...withParcel(t, [{ layout: "iuid", service: 9 }, { layout: "hotguid" }]),
        layouts: { hotguid: { ...t.layouts?.["hotguid"], mintedWithin: false } },
      }),
      ["indistinguishable-layouts /entities/parcel/ids/1"],
    ],
    [
      "iUID and HotGuid are told apart by their times",
      (t) => withParcel(t, [{ layout: "iuid", service: 9 }, { layout: "hotguid" }]),
      [],
    ],
    [
      "iUID and LUUID by their fixed bits",
      (t) =>
        withParcel(
          t,
          [
            { layout: "iuid", service: 9 },
            { layout: "luuid", group: 9 },
          ],
          [route({ service: 9 }), route({ group: 9, primaryKey: "0-7" }, "ap")],
        ),
      [],
    ],
    [
      "one region for both needs no telling apart",
      (t) => withParcel(t, [{ layout: "hotguid" }, { layout: "hotguid-sql" }], [route({ entity: "parcel" })]),
      [],
    ],
    [
      "one canary takes the one reading and not the other",
      (t) =>
        withParcel(
          t,
          [{ layout: "hotguid" }, { layout: "hotguid-sql" }],
          [withShares({ entity: "parcel" }, { canary: { region: "us", percent: 5 } })],
        ),
      ["indistinguishable-layouts /entities/parcel/ids/1"],
    ],
    [
      "one canary for both takes both readings or none, where both are one entity",
      (t) =>
        withParcel(
          t,
          [{ layout: "uuid-v4" }, { layout: "hotguid" }],
          [withShares({ entity: "parcel" }, { canary: { region: "us", percent: 5 } })],
        ),
      [],
    ],
    [
      "a canary for one of them",
      (t) =>
        withParcel(
          t,
          [{ layout: "uuid-v4" }, { layout: "hotguid" }],
          [withShares({ layout: "uuid-v4" }, { canary: { region: "us", percent: 5 } }), route({ entity: "parcel" })],
        ),
      ["indistinguishable-layouts /entities/parcel/ids/1"],
    ],
  ],
  "origin-url": [
    ...[
      "ftp://eu.example.com",
      "eu.example.com",
      "//eu.example.com",
      "https://user:pass@eu.example.com",
      "https://eu.example.com?x=1",
      "https://eu.example.com#x",
      "https://eu example.com",
      "https://",
      "https://eu..example.com",
      "https://-eu.example.com",
      "https://eu.example.com:0",
      "https://eu.example.com:99999",
      "https://eu.example.com:",
      "https://eu.example.com/a//b",
      "https://eu.example.com/a/../b",
      "https://eu.example.com/%2e",
      "https://eu.example.com\\@evil.example",
      "https://münchen.example",
      "http://169.254.169.254/latest",
      "http://2852039166",
      "http://0xa9.254.169.254",
      "http://169.254.43518",
      "http://0.0.0.0",
      "http://100.100.100.200",
      "http://192.0.0.192",
      "http://168.63.129.16",
      "http://224.0.0.1",
      "http://[::]",
      "http://[0:0:0:0:0:0:0:0]",
      "http://[fe80::1]",
      "http://[FEBF::1]",
      "http://[ff02::1]",
      "http://[fd20:ce::254]",
      "http://[::a9fe:a9fe]",
      "http://[::ffff:0:a9fe:a9fe]",
      "http://[64:ff9b::a9fe:a9fe]",
      "http://[64:ff9b:1::6464:64c8]",
      "http://[2002:a9fe:a9fe::]",
      "http://[2002:c000:c0::1]",
      "http://[::ffff:e000:1]",
      "http://[::ffff:169.254.169.254]",
      "http://[fd00:ec2::254]",
      "http://[::ffff:a9fe:a9fe]",
      "http://[::1",
      "http://[1:2:3]",
      "http://metadata.google.internal",
      "javascript:alert(1)",
      "file:///etc/passwd",
    ].map((url): FaultCase => [url, (t) => withOrigin(t, url), ["origin-url /regions/eu/origins/0/url"]]),
    ...[
      "api.example.com/x?y",
      "api.example.com/",
      "https://api.example.com",
      "user@api.example.com",
      "api.example.com#x",
      "api.example.com:0",
      "api.example.com:",
      "api example.com",
      "[::]",
    ].map(
      (host): FaultCase => [
        `${host} as the gateway's host`,
        (t) => ({ ...t, gateway: { hosts: ["api.example.com", host] } }),
        ["origin-url /gateway/hosts/1"],
      ],
    ),
    ...[
      "http://10.0.0.1",
      "http://192.168.1.1:8080",
      "http://[fd12:3456::1]",
      "http://[2001:db8::1]",
      "http://[64:ff9b::a00:1]",
      "http://[::1]:8080",
      "http://127.0.0.1:8788/base",
      "HTTPS://EU.example.com",
      "https://xn--mnchen-3ya.example",
    ].map((url): FaultCase => [url, (t) => withOrigin(t, url), []]),
  ],
  "origin-is-gateway": [
    ["its host", (t) => withOrigin(t, "https://API.example.com/x"), ["origin-is-gateway /regions/eu/origins/0/url"]],
    [
      "its host and port",
      (t) => ({ ...withOrigin(t, "http://127.0.0.1:8787"), gateway: { hosts: ["127.0.0.1:8787"] } }),
      ["origin-is-gateway /regions/eu/origins/0/url"],
    ],
    ...(
      [
        ["[::1]", "http://[0:0:0:0:0:0:0:1]:8787"],
        ["[0:0::1]:8787", "http://[::1]:8787"],
        ["[2001:DB8::A]", "https://[2001:db8:0:0::00a]"],
        ["API.Example.org", "https://api.example.ORG"],
        ["10.0.0.1", "http://[::ffff:a00:1]"],
      ] as const
    ).map(
      ([host, url]): FaultCase => [
        `${url}, which is ${host}`,
        (t) => ({ ...withOrigin(t, url), gateway: { hosts: [host] } }),
        ["origin-is-gateway /regions/eu/origins/0/url"],
      ],
    ),
    [
      "its host with another port is another",
      (t) => ({ ...withOrigin(t, "http://127.0.0.1:8788"), gateway: { hosts: ["127.0.0.1:8787"] } }),
      [],
    ],
  ],
  "gateway-url": [
    ...[
      "eu.gateway.example.com",
      "ftp://eu.gateway.example.com",
      "https://user@eu.gateway.example.com",
      "https://eu.gateway.example.com/base",
      "https://eu.gateway.example.com?a",
      "https://169.254.169.254",
      "http://eu.gateway.example.com",
      "http://192.0.2.7",
      "http://172.32.0.1",
      "http://100.128.0.1",
      "http://[2001:db8::1]",
      "http://example.internal.com",
    ].map((url): FaultCase => [url, (t) => withGateway(t, url), ["gateway-url /regions/eu/gateway"]]),
    ...[
      "https://eu.gateway.example.com",
      "https://eu.gateway.example.com:8443/",
      "https://[2001:db8::1]",
      "http://127.0.0.1:8787",
      "http://10.1.2.3",
      "http://172.16.0.1:80",
      "http://192.168.1.1",
      "http://100.64.0.7",
      "http://[::1]:8787",
      "http://[fd12:3456::1]",
      "http://localhost:8787",
      "http://waybill-eu:8787",
      "http://waybill.eu.svc.cluster.local",
      "http://eu.corp.internal",
    ].map((url): FaultCase => [url, (t) => withGateway(t, url), []]),
    [
      "an origin that is another region's gateway",
      (t) => {
        const { regions } = withGateway(t, "http://10.0.0.9:8787");
        return { ...t, regions: { ...regions, us: { origins: [{ url: "http://[::ffff:a00:9]:8787" }] } } };
      },
      ["origin-is-gateway /regions/us/origins/0/url"],
    ],
    [
      "two regions of one gateway",
      (t) => {
        const gateway = "https://west.gateway.example.com";
        const regions = withGateway(t, gateway).regions;
        return { ...t, regions: { ...regions, us: { origins: [{ url: "https://us.example.com" }], gateway } } };
      },
      [],
    ],
  ],
  "no-origin-weight": [
    [
      "weight 0 everywhere",
      (t) => ({ ...t, regions: { ...t.regions, eu: { origins: [{ url: "http://a", weight: 0 }] } } }),
      ["no-origin-weight /regions/eu/origins"],
    ],
  ],
  "key-range": [
    [
      "beyond 32 bits",
      (t) => ({ ...t, routes: [route({ shardKey: 2 ** 32 })] }),
      ["key-range /routes/0/when/shardKey"],
    ],
    [
      "beyond 48 bits",
      (t) => ({ ...t, routes: [route({ primaryKey: ["7", `0-${2 ** 48}`] })] }),
      ["key-range /routes/0/when/primaryKey/1"],
    ],
    ["backwards", (t) => ({ ...t, routes: [route({ shardKey: "9-5" })] }), ["key-range /routes/0/when/shardKey"]],
    [
      "a leading zero",
      (t) => ({ ...t, routes: [route({ shardKey: "0-0100" })] }),
      ["key-range /routes/0/when/shardKey"],
    ],
    [
      "a service beyond 8 bits",
      (t) => ({ ...t, routes: [route({ service: 256 })] }),
      ["key-range /routes/0/when/service"],
    ],
    ["a group beyond 12 bits", (t) => ({ ...t, routes: [route({ group: 4096 })] }), ["key-range /routes/0/when/group"]],
    [
      "a slice's value beyond its bits",
      (t) => ({ ...t, routes: [route({ slices: { partition: 2 ** 22 } })] }),
      ["key-range /routes/0/when/slices/partition"],
    ],
    [
      "a code that M.49 does not have",
      (t) => ({ ...t, routes: [route({ slices: { m49: [398, 999] } })] }),
      ["key-range /routes/0/when/slices/m49/1"],
    ],
    [
      "a range of codes",
      (t) => ({ ...t, routes: [route({ slices: { m49: "398-400" } })] }),
      ["key-range /routes/0/when/slices/m49"],
    ],
    [
      "a declared service beyond 8 bits",
      (t) => withIds(t, [{ layout: "iuid", service: 256 }]),
      ["key-range /entities/order/ids/0/service"],
    ],
    [
      "a declared group beyond 12 bits",
      (t) => ({
        ...t,
        entities: { ...t.entities, cat: { path: "/cats/:id", ids: [{ layout: "luuid", group: 4096 }] } },
      }),
      ["key-range /entities/cat/ids/0/group"],
    ],
  ],
  "time-range": [
    [
      "nothing between",
      (t) => ({
        ...t,
        routes: [route({ mintedFrom: "2026-01-01T00:00:00Z", mintedBefore: "2026-01-01T05:00:00+05:00" })],
      }),
      ["time-range /routes/0/when/mintedBefore"],
    ],
    [
      "30 February",
      (t) => ({ ...t, routes: [route({ mintedFrom: "2026-02-30T00:00:00Z" })] }),
      ["time-range /routes/0/when/mintedFrom"],
    ],
    [
      "month 13",
      (t) => ({ ...t, routes: [route({ mintedBefore: "2026-13-01T00:00:00Z" })] }),
      ["time-range /routes/0/when/mintedBefore"],
    ],
    [
      "a window of a layout without time",
      (t) => ({ ...t, layouts: { ...t.layouts, luuid: { mintedWithin: false } } }),
      ["time-range /layouts/luuid/mintedWithin"],
    ],
    [
      "a window from no day",
      (t) => ({
        ...t,
        layouts: { ...t.layouts, iuid: { mintedWithin: { from: "2026-02-31T00:00:00Z", aheadSeconds: 0 } } },
      }),
      ["time-range /layouts/iuid/mintedWithin/from"],
    ],
  ],
  "slice-range": [
    [
      "beyond the key",
      (t) => ({ ...t, layouts: { hotguid: { slices: { ...m49(t), partition: [11, 22] } } } }),
      ["slice-range /layouts/hotguid/slices/partition"],
    ],
    [
      "no bits",
      (t) => ({ ...t, layouts: { hotguid: { slices: { ...m49(t), none: [3, 0] } } } }),
      ["slice-range /layouts/hotguid/slices/none"],
    ],
    [
      "a layout without a key to slice",
      (t) => ({ ...t, layouts: { ...t.layouts, iuid: { slices: { a: [0, 1] } } } }),
      ["slice-range /layouts/iuid/slices/a"],
    ],
    [
      "too few bits for M.49",
      (t) => ({ ...t, layouts: { hotguid: { slices: { m49: { offset: 0, bits: 9, codes: "m49" } } } }, routes: [] }),
      ["slice-range /layouts/hotguid/slices/m49"],
    ],
  ],
  "public-ids": [
    [
      "two layouts",
      (t) => ({
        ...t,
        entities: {
          ...t.entities,
          order: { ...t.entities["order"], ids: [{ layout: "iuid", service: 1 }, { layout: "hotguid" }], public: true },
        },
      }),
      ["public-ids /entities/order/ids"],
    ],
    [
      "a kind that cannot hold the IDs",
      (t) => ({ ...t, entities: { ...t.entities, order: { ...t.entities["order"], public: { as: "ulong" } } } }),
      ["public-ids /entities/order/public"],
    ],
    [
      "fields: none of a public entity, no pointer, two owners of one place",
      (t) => ({
        ...t,
        entities: {
          ...t.entities,
          order: { ...t.entities["order"], public: true, publicFields: ["/id", { path: "/*", entity: "ride" }, "id"] },
        },
      }),
      ["public-ids /entities/order/publicFields/1", "public-ids /entities/order/publicFields"],
    ],
    [
      "other bodies without fields",
      (t) => ({
        ...t,
        entities: { ...t.entities, order: { ...t.entities["order"], public: true, otherBodies: "refuse" } },
      }),
      ["public-ids /entities/order/otherBodies"],
    ],
  ],
  "region-cycle": [
    [
      "itself",
      (t) => ({ ...t, regions: { ...t.regions, eu: { origins: [{ url: "http://a" }], failover: ["us", "eu"] } } }),
      ["region-cycle /regions/eu/failover/1"],
    ],
    [
      "twice the same",
      (t) => ({ ...t, regions: { ...t.regions, eu: { origins: [{ url: "http://a" }], failover: ["us", "us"] } } }),
      ["region-cycle /regions/eu/failover/1"],
    ],
  ],
  "same-region": [
    [
      "a canary to the route's own region",
      (t) => ({ ...t, routes: [withShares({}, { canary: { region: "eu", percent: 0 } })] }),
      ["same-region /routes/0/canary/region"],
    ],
    [
      "a shadow of the route's own region",
      (t) => ({ ...t, routes: [withShares({}, { shadow: { region: "eu", percent: 5 } })] }),
      ["same-region /routes/0/shadow/region"],
    ],
    [
      "a shadow of the region to which the canary takes all",
      (t) => ({
        ...t,
        routes: [withShares({}, { canary: { region: "us", percent: 100 }, shadow: { region: "us", percent: 5 } })],
      }),
      ["same-region /routes/0/shadow/region"],
    ],
    [
      "a shadow of either region beside a canary, and shares that are prepared",
      (t) => ({
        ...t,
        routes: [
          withShares(
            { entity: "order" },
            { canary: { region: "us", percent: 99.9 }, shadow: { region: "us", percent: 5 } },
          ),
          withShares(
            { entity: "ride" },
            { canary: { region: "us", percent: 100 }, shadow: { region: "eu", percent: 5 } },
          ),
          withShares(
            { entity: "person" },
            { canary: { region: "us", percent: 0 }, shadow: { region: "ap", percent: 0 } },
          ),
        ],
      }),
      [],
    ],
  ],
  "moved-id": [
    ["no ID", (t) => ({ ...t, moved: { "a/b": "eu" } }), ["moved-id /moved/a~1b"]],
    [
      "capital letters",
      (t) => ({ ...t, moved: { "0192F0C1-7A30-8005-8040-8F3B2A1C9D77": "eu" } }),
      ["moved-id /moved/0192F0C1-7A30-8005-8040-8F3B2A1C9D77"],
    ],
    [
      "a service of no entity",
      (t) => ({
        ...t,
        entities: { order: t.entities["order"] },
        layouts: {},
        routes: [],
        moved: { "0192f0c1-7a30-8005-80c0-8f3b2a1c9d77": "eu" },
      }),
      ["moved-id /moved/0192f0c1-7a30-8005-80c0-8f3b2a1c9d77"],
    ],
    [
      "two regions for one short key",
      (t) => ({ ...t, moved: { ...t.moved, "00000023-122e-6d0b-a000-000000000000": "ap" } }),
      ["moved-id /moved/00000023-122e-6d0b-a000-000000000000"],
    ],
    [
      "two regions for both forms of one HotGuid",
      (t) => withBothForms(t, { [HOTGUID]: "eu", [HOTGUID_SQL]: "us" }),
      [`moved-id /moved/${HOTGUID_SQL}`],
    ],
    [
      "both forms of one HotGuid the other way round",
      (t) => withBothForms(t, { [HOTGUID_SQL]: "us", [HOTGUID]: "eu" }),
      [`moved-id /moved/${HOTGUID}`],
    ],
    [
      "two epochs for both forms of one HotGuid",
      (t) => withBothForms(t, { [HOTGUID]: { region: "eu", epoch: 3 }, [HOTGUID_SQL]: { region: "eu", epoch: 6 } }),
      [`moved-id /moved/${HOTGUID_SQL}`],
    ],
    [
      "an ID that moved and is moving",
      (t) => ({ ...t, moved: { [HOTGUID]: "eu" }, moves: { [HOTGUID]: move("us", "ap") } }),
      [`moved-id /moves/${HOTGUID}`],
    ],
    [
      "an ID that is moving in one form and gone in the other",
      (t) => ({
        ...withBothForms(t, {}),
        moves: { [HOTGUID]: move("us", "ap") },
        gone: { [HOTGUID_SQL]: { epoch: 1 } },
      }),
      [`moved-id /gone/${HOTGUID_SQL}`],
    ],
    [
      "a moved and a gone person with one short key",
      (t) => ({ ...t, gone: { "00000023-122e-6d0b-a000-000000000000": { epoch: 4 } } }),
      ["moved-id /gone/00000023-122e-6d0b-a000-000000000000"],
    ],
    [
      "a move to where it is",
      (t) => ({ ...t, moves: { [HOTGUID]: move("eu", "eu") } }),
      [`moved-id /moves/${HOTGUID}/to`],
    ],
    ["one region for both forms", (t) => withBothForms(t, { [HOTGUID]: "eu", [HOTGUID_SQL]: "eu" }), []],
    [
      "two texts that are two IDs where the table reads one form",
      (t) => ({ ...t, moved: { [HOTGUID]: "eu", [HOTGUID_SQL]: "us" } }),
      [],
    ],
  ],
  "too-complex": [
    ["routes that overlap in two dimensions", (t) => ({ ...t, routes: staircase(1_500) }), ["too-complex /routes"]],
    ["as many that overlap in one", (t) => ({ ...t, routes: staircase(1_500, false) }), []],
  ],
};

const withPath = (table: Table, path: string | string[]) => ({
  ...table,
  entities: { ...table.entities, order: { ...table.entities["order"], path } },
});

const manyIds = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`, "eu"]));

const move = (from: string, to: string) => ({ from, to, state: "started", epoch: 1 });

const withBothForms = (table: Table, moved: Readonly<Record<string, unknown>>) => ({
  ...table,
  entities: { ...table.entities, box: { path: "/boxes/:id", ids: [{ layout: "hotguid-sql" }] } },
  moved,
});

/** Persons have short keys, and rides have not. */
const withShortKeys = ({ entities, ...table }: Table, short: string, literal: string) => ({
  ...table,
  entities: {
    ...entities,
    person: { ...entities["person"], path: ["/person/:id", short] },
    ride: { ...entities["ride"], path: ["/rides/:id", literal] },
  },
});

const withIds = (table: Table, ids: object[]) => ({
  ...table,
  entities: { ...table.entities, order: { path: "/orders/:id", ids } },
  routes: [route({ entity: "ride" })],
  moved: {},
});

/** Only parcels and orders, so that a layout can go to the parcels without a clash. */
const withParcel = (table: Table, ids: { layout: string; [mark: string]: unknown }[], routes?: object[]) => ({
  ...table,
  entities: { order: table.entities["order"], parcel: { path: "/parcels/:id", ids } },
  layouts: ids.some(({ layout }) => layout === "hotguid") ? table.layouts : {},
  routes: routes ?? [route({ entity: "order" }), route({ shardKey: "0-7" }, "ap")],
  default: "us",
  moved: {},
});

const withOrigin = (table: Table, url: string) => ({
  ...table,
  regions: { ...table.regions, eu: { origins: [{ url }] } },
});

const m49 = (table: Table) => ({ m49: table.layouts?.["hotguid"]?.slices?.["m49"] });

/** Each route begins a little after the one before it, and goes on for longer. */
const staircase = (count: number, timed = true) =>
  Array.from({ length: count }, (_, step) => {
    const shardKey = `${step}-${count + step}`;
    const mintedBefore = new Date(Date.UTC(2020, 0, 1) + step * 1000).toISOString();
    return route(timed ? { shardKey, mintedBefore } : { shardKey });
  });

const nest = (levels: number): unknown => (levels === 0 ? {} : { a: nest(levels - 1) });
const luuidOf = (path: string, className: string) => ({ path, ids: [{ layout: "luuid", class: className }] });
const manyPatterns = () =>
  Object.fromEntries(
    Array.from({ length: 140 }, (_, entity) => [
      `e${entity}`,
      { path: Array.from({ length: 30 }, (_, path) => `/e${entity}/p${path}/:id`), ids: [{ layout: "hotguid" }] },
    ]),
  );
