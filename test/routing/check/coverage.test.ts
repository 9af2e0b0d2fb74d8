import fc from "fast-check";
import { expect, test } from "vitest";
import { builtinLayouts, groupOfClass } from "../../../src/ids/index.ts";
import { checkTable } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { readAs } from "../resolve/oracle.ts";
import { NOW_MS } from "../tables.ts";

/**
 * The search for unreachable routes against trying every kind of ID: between two neighbours of the values below all IDs
 * are treated alike, so one ID on each side of each value stands for all of them.
 */
const KEYS = [0, 7, 8, 1024, 2 ** 32 - 1];
const COUNTRIES = { KZ: 5, UZ: 6, BR: 255 };
const TIMES = ["2024-01-01T00:00:00Z", "2025-06-01T12:00:00Z"];
const GROUP = groupOfClass("com.example.Person");

type When = DeclaredTable["routes"][number]["when"];

const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const range = fc.tuple(some(KEYS), some(KEYS)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
const minted = { mintedFrom: some(TIMES), mintedBefore: some(TIMES) };
const when = fc
  .oneof(
    fc.record(
      {
        country: fc.oneof(some(Object.keys(COUNTRIES)), fc.constant(Object.keys(COUNTRIES).slice(0, 2))),
        entity: some(["order", "ride"]),
        layout: fc.constant("iuid"),
        ...minted,
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { shardKey: range, entity: some(["parcel", "box"]), layout: some(["iuid", "hotguid"]), ...minted },
      { requiredKeys: [] },
    ),
    fc.record(
      { primaryKey: range, entity: some(["person", "box"]), slices: fc.constant({ top: "0-32767" }) },
      { requiredKeys: [] },
    ),
  )
  .map((random): When => random)
  .filter(({ mintedFrom = "", mintedBefore = "9" }) => mintedFrom < mintedBefore);

const declare = (routes: DeclaredTable["routes"]): DeclaredTable => ({
  regions: { eu: { origins: [{ url: "https://eu.example.com" }] } },
  countries: COUNTRIES,
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }] },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    box: { path: "/boxes/:id", ids: [{ layout: "hotguid" }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", group: GROUP }] },
  },
  layouts: { luuid: { slices: { top: [0, 16] } } },
  routes,
});

const around = (values: readonly number[], max: number): number[] =>
  [...new Set(values.flatMap((value) => [value - 1, value, value + 1]))].filter((value) => value >= 0 && value <= max);

const MINTED_MS = [Date.UTC(2000, 0, 1), ...around(TIMES.map(Date.parse), Number.MAX_SAFE_INTEGER)];

const textOf = (layout: string, values: Readonly<Record<string, number | bigint>>): string => {
  const found = builtinLayouts.get(layout);
  const words = found?.encode(values);
  if (found === undefined || words === undefined || !words.ok) throw new Error(`no ${layout}`);
  return found.format(words.value);
};

const IDS: readonly (readonly [entity: string, text: string])[] = [
  ...MINTED_MS.flatMap((mintedAt) =>
    around(Object.values(COUNTRIES), 255).flatMap((country) =>
      (["order", "ride"] as const).map(
        (entity, at) => [entity, textOf("iuid", { mintedAt, country, service: at + 1, random: 0n })] as const,
      ),
    ),
  ),
  ...MINTED_MS.map((ms) => Math.ceil(ms / 1000)).flatMap((mintedAt) =>
    around(KEYS, 2 ** 32 - 1).flatMap((shardKey) =>
      (["parcel", "box"] as const).map(
        (entity) => [entity, textOf("hotguid", { mintedAt, machine: 0, process: 0, counter: 0, shardKey })] as const,
      ),
    ),
  ),
  ...around([...KEYS, 2 ** 47, 2 ** 48 - 1], 2 ** 48 - 1).map(
    (primaryKey) => ["person", textOf("luuid", { primaryKey, group: GROUP, random: 0n })] as const,
  ),
];

test("a route is reported as unreachable if and only if no ID reaches it", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ when, region: fc.constant("eu") }), { minLength: 1, maxLength: 6 }), (routes) => {
      const table = declare(routes);
      const reached = new Set(IDS.map(([entity, text]) => readAs(table, entity, text, NOW_MS)[0]?.target?.rule));
      const checked = checkTable(table);
      const faults = checked.ok ? [] : checked.error;
      expect(faults.filter(({ kind }) => kind !== "unreachable-route")).toEqual([]);
      expect(new Set(faults.map(({ pointer }) => Number(pointer.split("/")[2])))).toEqual(
        new Set([...routes.keys()].filter((index) => !reached.has(index))),
      );
    }),
    { numRuns: runs(100) },
  );
});

test("the sentence names the routes that cover it", () => {
  const table = declare([
    { when: { country: "KZ", mintedBefore: "2024-01-01T00:00:00Z" }, region: "eu" },
    { when: { layout: "hotguid" }, region: "eu" },
    { when: { mintedFrom: "2024-01-01T00:00:00Z" }, region: "eu" },
    { when: { country: "KZ" }, region: "eu" },
  ]);
  const checked = checkTable(table);
  expect(checked.ok ? [] : checked.error).toMatchObject([
    { pointer: "/routes/3", message: expect.stringContaining("/routes/0, /routes/2 come earlier and take every ID") },
  ]);
});
