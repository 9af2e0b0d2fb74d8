import { describe, expect, test } from "vitest";
import { FAULTS_MAX, LAYOUTS_MAX, TABLE_BYTES_MAX } from "../../../src/routing/limits.ts";
import { processorMs } from "../../setup/processor-ms.ts";
import { faultsOf } from "../tables.ts";

/** Tables within all caps whose routes would fill the memory or take minutes if nobody counted. */

const regions = { eu: { origins: [{ url: "https://eu.example.com" }] } };
const listOf = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

const routesOf = (count: number, when: (at: number) => object) =>
  listOf(count, (at) => ({ when: when(at), region: "eu" }));

const entitiesOf = (count: number, ids: (at: number) => readonly object[]) =>
  Object.fromEntries(listOf(count, (at) => [`e${at}`, { path: `/e${at}/:id`, ids: ids(at) }]));

const parcels = { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } };
const sliced = { hotguid: { slices: { a: [0, 11], b: [11, 21] } } };
const areas = { hotguid: { slices: { area: { offset: 0, bits: 10, codes: "m49" } } } };

const HOSTILE: readonly (readonly [what: string, table: object])[] = [
  [
    "each route as 2,048 ranges of the key",
    {
      entities: parcels,
      layouts: sliced,
      routes: routesOf(60_000, (at) => ({ slices: { a: "0-2047", b: `${at}` } })),
    },
  ],
  [
    "each route in 256 entities by their services",
    {
      entities: entitiesOf(256, (service) => [{ layout: "iuid", service }]),
      routes: routesOf(60_000, () => ({ service: "0-255" })),
    },
  ],
  [
    "each route in 900 entities by their groups",
    {
      entities: entitiesOf(900, (group) => [{ layout: "luuid", group }]),
      routes: routesOf(180_000, () => ({ group: "0-899" })),
    },
  ],
  [
    "each route in 1,000 entities by their names",
    {
      entities: entitiesOf(1_000, () => [{ layout: "hotguid" }]),
      routes: routesOf(1_000, (shardKey) => ({ shardKey, entity: listOf(1_000, (at) => `e${at}`) })),
    },
  ],
  [
    "each route with all countries of the world",
    { entities: parcels, layouts: areas, routes: routesOf(160_000, () => ({ slices: { area: "001" } })) },
  ],
  [
    "two layouts in each of 1,000 entities, whose regions all routes decide",
    {
      entities: entitiesOf(1_000, (group) => [{ layout: "hotguid" }, { layout: "luuid", group }]),
      routes: routesOf(100_000, (shardKey) => ({ shardKey })),
      default: "eu",
    },
  ],
];

/** Far above what it takes, and below what it took. */
const WITHIN_MS = 6_000;

describe("a table that is too complex is refused at once", () => {
  test.each(HOSTILE)("%s", (_, parts) => {
    const table = { regions, ...parts };
    expect(JSON.stringify(table).length).toBeLessThan(TABLE_BYTES_MAX);
    const started = processorMs();
    const faults = faultsOf(table);
    expect(processorMs() - started).toBeLessThan(WITHIN_MS);
    expect(faults.map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(["too-complex /routes"]);
  });
});

test.each([
  [
    "disjoint ranges",
    { entities: parcels, routes: routesOf(100_000, (at) => ({ shardKey: `${at * 9}-${at * 9 + 8}` })) },
  ],
  [
    "country and service",
    {
      countries: { KZ: 1, UZ: 2, BR: 3, DE: 4 },
      entities: entitiesOf(250, (service) => [{ layout: "iuid", service }]),
      routes: ["KZ", "UZ", "BR", "DE"].flatMap((country) => routesOf(250, (service) => ({ country, service }))),
    },
  ],
  [
    "one area named again and again",
    {
      entities: parcels,
      layouts: areas,
      routes: routesOf(1, () => ({ slices: { area: listOf(9_999, () => "001") } })),
    },
  ],
])("a large table without fault: %s", (_, parts) => {
  expect(faultsOf({ regions, ...parts })).toEqual([]);
});

/** Public entities whose answers have such fields. */
const publicEntities = (count: number, publicFields: readonly string[]) =>
  Object.fromEntries(
    listOf(count, (at) => [
      `e${at}`,
      { path: `/e${at}/:id`, ids: [{ layout: "iuid", service: at % 256 }], public: true, publicFields },
    ]),
  );

describe("fields of public IDs", () => {
  const fieldRoutes = routesOf(1, () => ({}));
  test.each([
    ["`**` in long rows", 1, listOf(16, (at) => `${"/**".repeat(160)}/x${at}`)],
    ["`**` in front of 64 names, in 20 entities", 20, listOf(64, (at) => `/**/f${at}/id`)],
  ])("are soon made into a machine: %s", (_, count, publicFields) => {
    const started = processorMs();
    expect(faultsOf({ regions, entities: publicEntities(count, publicFields), routes: fieldRoutes })).toEqual([]);
    expect(processorMs() - started).toBeLessThan(WITHIN_MS / 2);
  });

  test.each([
    ["`**` in front of 64 names, in 256 entities", 256, listOf(64, (at) => `/**/f${at}/id`)],
    ["many `*`", 3, listOf(64, (at) => `/**${"/*".repeat(200)}/x${at}`)],
  ])("are refused at once where they would take long: %s", (_, count, publicFields) => {
    const started = processorMs();
    const faults = faultsOf({ regions, entities: publicEntities(count, publicFields), routes: fieldRoutes });
    expect(processorMs() - started).toBeLessThan(WITHIN_MS);
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(["too-complex"]));
    expect(faults.at(-1)?.pointer).toBe(`/entities/e${count - 1}/publicFields`);
  });
});

test("reading stops at as many faults as a report lists", () => {
  const started = processorMs();
  const entities = entitiesOf(1_000, () => [{ layout: "hotguid" }]);
  const faults = faultsOf({ regions, entities, routes: routesOf(150, () => ({ entity: listOf(9_900, () => "x") })) });
  expect(faults.length).toBe(FAULTS_MAX);
  expect(processorMs() - started).toBeLessThan(WITHIN_MS);
});

test.each([
  ["millions of values that do not fit", routesOf(270, () => ({ shardKey: listOf(9_900, () => -1) }))],
  ["200,000 routes that are none", listOf(200_000, () => ({ a: 1 }))],
])("what does not fit the schema is given up before it fills the memory: %s", (_, routes) => {
  const started = processorMs();
  const faults = faultsOf({ regions, entities: parcels, routes });
  expect(processorMs() - started).toBeLessThan(WITHIN_MS);
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(["schema"]));
  expect(faults.length).toBeGreaterThan(200);
});

test("of an entry with thousands of values one fault is told, of the others all", () => {
  const bad = listOf(3, () => -1);
  const routes = [
    { when: { shardKey: [...listOf(3_000, (at) => at), ...bad] }, region: "eu" },
    { when: { shardKey: bad }, region: 5 },
  ];
  expect(faultsOf({ regions, entities: parcels, routes }).map(({ pointer }) => pointer)).toEqual([
    "/routes/0/when/shardKey/3000",
    "/routes/1/when/shardKey/0",
    "/routes/1/when/shardKey/1",
    "/routes/1/when/shardKey/2",
    "/routes/1/region",
  ]);
});

test("as many moved IDs as may be load in a table of hundreds of layouts with one form of text", () => {
  const rows = [
    { field: "part", bits: 32, role: "key" },
    { field: "rest", bits: 96, role: "random" },
  ];
  const layouts = Object.fromEntries(listOf(190, (at) => [`own${at}`, { text: "uuid", rows }]));
  const moved = Object.fromEntries(
    listOf(100_000, (at) => [`6347eb00-bbaa-01cc-0201-${at.toString(16).padStart(12, "0")}`, "eu"]),
  );
  const started = processorMs();
  expect(
    faultsOf({ regions, entities: entitiesOf(190, (at) => [{ layout: `own${at}` }]), layouts, routes: [], moved }),
  ).toEqual([]);
  expect(processorMs() - started).toBeLessThan(2 * WITHIN_MS);
});

test("a table has so many layouts at most", () => {
  const layouts = Object.fromEntries(listOf(LAYOUTS_MAX + 1, (at) => [`l${at}`, {}]));
  expect(faultsOf({ regions, entities: parcels, layouts, routes: [] })).toMatchObject([
    { kind: "size", pointer: "/layouts" },
  ]);
});
