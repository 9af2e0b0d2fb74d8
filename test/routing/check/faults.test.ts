import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faultsOf, sampleTable } from "../tables.ts";
import { FAULT_CASES, route } from "./fault-cases.ts";

describe.each(Object.entries(FAULT_CASES))("%s", (kind, cases) => {
  test.each(cases)("%s", (_, change, expected) => {
    const faults = faultsOf(change(sampleTable()));
    expect(faults.map((fault) => `${fault.kind} ${fault.pointer}`)).toEqual(expected);
    for (const { message } of faults) expect(message).toMatch(/^[^a-z].{15,}\.$/s);
  });

  test("is shown by some case", () => {
    expect(cases.flatMap(([, , faults]) => faults).some((fault) => fault.startsWith(`${kind} `))).toBe(true);
  });
});

test("a table with many faults reports them all at once", () => {
  const table = {
    colour: "blue",
    regions: {
      eu: { origins: [{ url: "ftp://eu" }, { url: "http://api.example.com" }], failover: ["eu", "mars"] },
      us: { origins: [] },
      "a/b": { origins: [{ url: "http://a" }] },
    },
    gateway: { hosts: ["api.example.com"] },
    countries: { KZ: 5, UZ: 5, XX: 9 },
    entities: {
      order: { path: "/any/:id", ids: [{ layout: "iuid", service: 1 }] },
      ride: { path: ["/rides/:id", "/rides/*"], ids: [{ layout: "iuid", service: 1 }] },
      trip: { path: "/trips/:id", ids: [{ layout: "iuid", service: 1 }] },
      box: { path: "/trips/:id", ids: [{ layout: "hotguid" }] },
    },
    layouts: { hotguid: { slices: { tail: [30, 4], head: [0, 4] } } },
    routes: [
      route({ entity: "trip", country: "DE" }),
      route({ layout: "hotguid", country: "KZ" }, "mars"),
      route({ shardKey: "9-1", mintedFrom: "2026-01-01T00:00:00Z", mintedBefore: "2025-01-01T00:00:00Z" }, "us"),
      { when: { slices: { tali: 1 } } },
    ],
    moved: { x: "nowhere" },
    default: "mars",
  };
  expect(
    faultsOf(table)
      .map(({ kind, pointer }) => `${kind} ${pointer}`)
      .toSorted(),
  ).toEqual(
    [
      "schema /colour",
      "origin-url /regions/eu/origins/0/url",
      "origin-is-gateway /regions/eu/origins/1/url",
      "region-cycle /regions/eu/failover/0",
      "unknown-name /regions/eu/failover/1",
      "schema /regions/us/origins",
      "schema /regions/a~1b",
      "number-clash /countries/UZ",
      "unknown-name /countries/XX",
      "reserved-path /entities/order/path",
      "schema /entities/ride/path/1",
      "number-clash /entities/trip/ids/0/service",
      "path-collision /entities/box/path",
      "slice-range /layouts/hotguid/slices/tail",
      "unknown-name /routes/0/when/country",
      "unknown-name /routes/1/region",
      "key-range /routes/2/when/shardKey",
      "time-range /routes/2/when/mintedBefore",
      "schema /routes/3/region",
      "unknown-name /moved/x",
      "unknown-name /default",
    ].toSorted(),
  );
});

test("the sample table has no fault, and neither has the table of the repository", () => {
  expect(faultsOf(sampleTable())).toEqual([]);
  expect(faultsOf(JSON.parse(readFileSync(new URL("../../../routing-table.json", import.meta.url), "utf8")))).toEqual(
    [],
  );
});

type Table = ReturnType<typeof sampleTable>;

test.each<[string, (table: Table) => unknown, string, string]>([
  [
    "a layout",
    (t) => entity(t, { ids: [{ layout: "uuidv4" }] }),
    "/entities/parcel/ids/0/layout",
    'write "uuid-v4", or',
  ],
  [
    "a layout without a hyphen and a letter",
    (t) => entity(t, { ids: [{ layout: "uuid4" }] }),
    "/entities/parcel/ids/0/layout",
    'write "uuid-v4", or',
  ],
  ["a region", (t) => ({ ...t, default: "usa" }), "/default", 'write "us", or declare it.'],
  ["a region in capitals", (t) => ({ ...t, default: "EU" }), "/default", 'write "eu", or'],
  ["a country", (t) => routed(t, { country: "KZZ" }), "/routes/0/when/country", 'write "KZ", or'],
  [
    "a country like no other",
    (t) => routed(t, { country: "DE" }),
    "/routes/0/when/country",
    'use one of "KZ", "UZ", "BR".',
  ],
  [
    "a country where none is declared",
    (t) => ({ ...t, countries: {}, routes: [{ when: { country: "DE" }, region: "us" }] }),
    "/routes/0/when/country",
    'There is no country "DE"; declare it.',
  ],
  ["a part", (t) => ({ ...t, defualt: "eu" }), "/defualt", 'write "default", or remove it.'],
  ["a member of an entity", (t) => entity(t, { publc: true }), "/entities/parcel/publc", 'write "public", or'],
  [
    "a member of a path",
    (t) => entity(t, { path: [{ path: "/p/:id", layuot: "x" }] }),
    "/entities/parcel/path/0/layuot",
    'write "layout"',
  ],
  ["a condition", (t) => routed(t, { contry: "KZ" }), "/routes/0/when/contry", 'write "country", or'],
  ["what is like nothing", (t) => ({ ...t, colour: 1 }), "/colour", "remove it or correct its spelling."],
  [
    "an ID as others write it",
    (t) => entity(t, { path: "/parcels/{id}/x" }),
    "/entities/parcel/path",
    "`:id`: /parcels/:id/x.",
  ],
  [
    "an ID with a name",
    (t) => entity(t, { path: "/parcels/:parcelId" }),
    "/entities/parcel/path",
    "`:id`: /parcels/:id.",
  ],
  ["no ID", (t) => entity(t, { path: "/parcels" }), "/entities/parcel/path", "exactly one segment `:id`"],
])("one mistake is one fault that says what was likely meant: %s", (_, change, pointer, remedy) => {
  const faults = faultsOf(change(sampleTable()));
  expect(faults).toEqual([{ pointer, kind: expect.any(String), message: expect.stringContaining(remedy) }]);
});

const entity = (table: Table, part: object) => ({
  ...table,
  entities: { ...table.entities, parcel: { ...table.entities["parcel"], ...part } },
});
const routed = (table: Table, part: object) => ({
  ...table,
  routes: [{ when: { layout: "iuid", ...part }, region: "us" }, ...table.routes.slice(1)],
});

test("a country in lower case is one fault, wherever it is used", () => {
  const { countries: { KZ, ...others } = {}, ...table } = sampleTable();
  expect(faultsOf({ ...table, countries: { kz: KZ, ...others } }).map(({ pointer }) => pointer)).toEqual([
    "/countries/kz",
  ]);
});

test("an unknown layout is told of the table's own layouts first", () => {
  const layouts = { ticket: { rows: [{ field: "random", bits: 64, role: "random" }], text: "hex" } };
  const [fault] = faultsOf({
    ...sampleTable(),
    layouts,
    entities: { a: { path: "/a/:id", ids: [{ layout: "voucher" }] } },
  });
  expect(fault?.message).toContain('use one of "ticket", "iuid", "hotguid",');
});

test.each([
  ["[", "]"],
  ['{"a":', "}"],
])("whatever is nested 50,000 levels deep is reported, and nothing overflows: %s", (open, close) => {
  const deep = JSON.parse(`${open.repeat(50_000)}1${close.repeat(50_000)}`) as unknown;
  for (const part of Object.keys({ ...sampleTable(), moves: {}, gone: {}, withoutId: {}, sources: [], gateway: {} })) {
    expect(faultsOf({ ...sampleTable(), [part]: deep }).map(({ kind }) => kind)).toContain("size");
    expect(faultsOf({ ...sampleTable(), [part]: { x: deep } }).map(({ kind }) => kind)).toContain("size");
  }
  expect(faultsOf(deep).map(({ kind }) => kind)).toContain("size");
});
