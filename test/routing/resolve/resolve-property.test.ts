import fc from "fast-check";
import { expect, test } from "vitest";
import { readOne } from "../../../src/console/lookup/read-pasted.ts";
import { readerOfNames } from "../../../src/console/lookup/table-reader.ts";
import { builtinLayouts, groupOfClass } from "../../../src/ids/index.ts";
import { checkTable, compileTable, resolveAny, resolvePath, takenIn } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { loadPacks, PACK_ROUTES, withUsedPacks } from "../random-packs.ts";
import { routeOf } from "../random-routes.ts";
import { bothWays } from "../restored.ts";
import { NOW_MS } from "../tables.ts";
import { compare } from "./compare.ts";
import { readAll, readAs } from "./oracle.ts";

/** Few values, so that routes overlap, cover each other and meet the IDs. */
const REGIONS = ["eu", "us", "ap"];
const COUNTRIES = { KZ: 5, UZ: 6, BR: 7, DE: 255 };
const TIMES = ["2024-01-01T00:00:00Z", "2025-06-01T12:00:00Z", "2026-06-01T00:00:00+05:00"];
const KEYS = [0, 1, 7, 8, 1023, 1024, 4_194_304, 2 ** 31, 2 ** 32 - 1];
const PRIMARY_KEYS = [0, 1, 8312, 2_298_414, 2 ** 40, 2 ** 48 - 1];
const CODES = [398, 860, 76, 0, 1023];
const CLASSES = ["com.example.Person", "com.example.Pet"];
const GROUPS = [...CLASSES.map(groupOfClass), 17];

const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const someOrList = <Item>(items: readonly Item[]) =>
  fc.oneof(some(items), fc.uniqueArray(some(items), { minLength: 1, maxLength: 3 }));

const ranges = (values: readonly number[]) =>
  fc.oneof(
    some(values),
    fc.tuple(some(values), some(values)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.uniqueArray(some(values), { minLength: 1, maxLength: 3 }),
  );

const when = fc.record(
  {
    layout: someOrList(["iuid", "hotguid", "luuid"]),
    entity: someOrList(["order", "ride", "parcel", "box", "person", "pet"]),
    country: someOrList(Object.keys(COUNTRIES)),
    service: ranges([0, 1, 2, 255]),
    shardKey: ranges(KEYS),
    slices: fc.oneof(
      fc.record({ m49: someOrList<string | number>(["143", "002", 76, 1]) }),
      fc.record({ partition: ranges([0, 1, 7, 4_194_303]) }),
      fc.record({ m49: someOrList<string | number>(["143", 76]), partition: ranges([0, 7, 4_194_303]) }),
      fc.record({ low: ranges([0, 1, 3]) }),
    ),
    group: ranges(GROUPS),
    class: someOrList(CLASSES),
    primaryKey: ranges(PRIMARY_KEYS),
    mintedFrom: some(TIMES),
    mintedBefore: some(TIMES),
  },
  { requiredKeys: [] },
);

const table = fc.record({
  routes: fc.array(fc.oneof({ weight: 4, arbitrary: routeOf(when, REGIONS) }, fc.constantFrom(...PACK_ROUTES)), {
    maxLength: 12,
  }),
  default: fc.option(some(REGIONS), { nil: undefined }),
  oneService: fc.boolean(),
});

const id = fc.oneof(
  fc
    .record({
      mintedAt: some(TIMES).chain((time) => some([-1, 0, 1].map((step) => Date.parse(time) + step))),
      country: some([...Object.values(COUNTRIES), 9]),
      service: some([1, 2, 3]),
      random: fc.constant(5n),
    })
    .map((values) => format("iuid", values)),
  fc
    .record({
      mintedAt: some(TIMES).chain((time) => some([-1, 0, 1].map((step) => Date.parse(time) / 1000 + step))),
      machine: fc.constant(0xaabbcc),
      process: fc.constant(0x102),
      counter: fc.constant(3),
      shardKey: fc.oneof(
        some(KEYS),
        fc.tuple(some(CODES), some([0, 7, 4_194_303])).map(([code, partition]) => code * 2 ** 22 + partition),
      ),
    })
    .map((values) => format("hotguid", values)),
  fc
    .record({ primaryKey: some(PRIMARY_KEYS), group: some([...GROUPS, 18]), random: fc.constant(9n) })
    .map((values) => format("luuid", values)),
);

const format = (layout: string, values: Readonly<Record<string, number | bigint>>): string => {
  const found = builtinLayouts.get(layout);
  const words = found?.encode(values);
  if (found === undefined || words === undefined || !words.ok)
    throw new Error(`no ${layout}: ${JSON.stringify(words)}`);
  return found.format(words.value);
};

type RandomTable = { routes: DeclaredTable["routes"]; default: string | undefined; oneService: boolean };

type AnyOverride = Pick<DeclaredTable, "moved" | "moves" | "gone">;

const declare = (random: RandomTable, override: AnyOverride): DeclaredTable => ({
  regions: Object.fromEntries(REGIONS.map((name) => [name, { origins: [{ url: `https://${name}.example.com` }] }])),
  countries: COUNTRIES,
  entities: {
    order: { path: "/orders/:id", ids: random.oneService ? [{ layout: "iuid" }] : [{ layout: "iuid", service: 1 }] },
    ride: {
      path: "/rides/:id",
      ids: random.oneService ? [{ layout: "hotguid" }] : [{ layout: "iuid", service: 2 }, { layout: "hotguid" }],
    },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    box: { path: "/boxes/:id", ids: [{ layout: "hotguid" }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
    pet: {
      path: "/pets/:id",
      ids: [
        { layout: "luuid", class: "com.example.Pet" },
        { layout: "luuid", group: 17 },
      ],
    },
  },
  layouts: {
    hotguid: {
      slices: { m49: { offset: 0, bits: 10, codes: "m49" }, partition: [10, 22], low: [30, 2] },
    },
  },
  routes: random.routes,
  ...override,
  ...(random.default === undefined ? {} : { default: random.default }),
});

/** Takes out what a check refuses, which must be routes only, and only such as can never match. As written, not as read. */
const mend = (unmended: DeclaredTable): DeclaredTable => {
  const declared = withUsedPacks(unmended);
  const checked = checkTable(declared);
  if (checked.ok) return declared;
  const faulty = new Set<number>();
  for (const { pointer, kind } of checked.error) {
    expect(["unreachable-route", "time-range", "unknown-name"]).toContain(kind);
    faulty.add(Number(pointer.split("/")[2]));
  }
  return mend({ ...declared, routes: declared.routes.filter((_, index) => !faulty.has(index)) });
};

test("the compiled table, and the restored one, lead every ID where the declared routes lead it, line by line", async () => {
  await fc.assert(
    fc.asyncProperty(table, fc.array(id, { minLength: 8, maxLength: 24 }), singling, async (random, texts, single) => {
      const unmended = declare(random, {});
      const withMoved = declare(random, single(texts[0] ?? ""));
      const declared = mend(checkTable(withMoved).ok || isMovable(withMoved) ? withMoved : unmended);
      for (const way of await bothWays(declared, 7)) {
        const compiled = await loadPacks(way);
        for (const text of texts) {
          for (const [name, entity] of compiled.entities) {
            const path = entity.paths[0]?.replace(":id", text) ?? "";
            const match = compiled.paths.match(`${path}/below`);
            if (match === undefined) throw new Error(`no match for ${path}`);
            expect(match.entity).toBe(entity);
            compare(resolvePath(compiled, match, `${path}/below`, NOW_MS), readAs(declared, name, text, NOW_MS));
          }
          compare(resolveAny(compiled, text, NOW_MS), readAll(declared, text, NOW_MS));
        }
      }
    }),
    { numRuns: runs(50) },
  );
});

test("a reader that knows only which IDs are taken says of no other one that no route takes it", async () => {
  const seen = { sure: 0, unsure: 0, taken: 0 };
  await fc.assert(
    fc.asyncProperty(table, fc.array(id, { minLength: 8, maxLength: 24 }), singling, async (random, texts, single) => {
      const withMoved = declare(random, single(texts[0] ?? ""));
      const declared = mend(checkTable(withMoved).ok || isMovable(withMoved) ? withMoved : declare(random, {}));
      const compiled = await loadPacks(compileTable(declared, 7));
      const { entities = {}, countries = {}, layouts = {} } = declared;
      const taken = takenIn(declared, 7);
      for (const region of REGIONS) expect(JSON.stringify(taken) ?? "").not.toContain(`"${region}"`);
      const reader = readerOfNames({ entities, countries, layouts, revision: 7, ...(taken && { taken }) });
      if (reader === undefined) throw new Error("no reader");
      const hasPacks = declared.routes.some(({ pack }) => pack !== undefined);
      const compareWith = (source: string, gateway: ReturnType<typeof resolveAny>) => {
        const { error, decision, isUnsure = false } = reader.read(readOne(source, reader), NOW_MS);
        const isRefused = !gateway.ok && gateway.error.reason === "unassigned-key";
        const isVerdict = error?.reason === "unassigned-key";
        expect(decision).toBeUndefined();
        if (isVerdict && !isUnsure) expect([source, isRefused]).toEqual([source, true]);
        // A pack may have the key or not.
        if (isRefused && !hasPacks) expect([source, isVerdict]).toEqual([source, true]);
        seen[isVerdict ? (isUnsure ? "unsure" : "sure") : "taken"]++;
      };
      for (const text of texts) {
        compareWith(text, resolveAny(compiled, text, NOW_MS));
        for (const entity of compiled.entities.values()) {
          const path = entity.paths[0]?.replace(":id", text) ?? "";
          const match = compiled.paths.match(path);
          if (match !== undefined) compareWith(path, resolvePath(compiled, match, path, NOW_MS));
        }
      }
    }),
    { numRuns: runs(50) },
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});

/** Each way in which the table can say something of one ID. */
const singling = fc.constantFrom<((id: string) => AnyOverride)[]>(
  (id) => ({ moved: { [id]: "ap" } }),
  (id) => ({ moved: { [id]: { region: "us", epoch: 3 } } }),
  (id) => ({ moves: { [id]: { from: "us", to: "ap", state: "started", epoch: 1 } } }),
  (id) => ({ moves: { [id]: { from: "ap", to: "eu", state: "fenced", epoch: 2 } } }),
  (id) => ({ gone: { [id]: { epoch: 1 } } }),
);

const isMovable = (declared: DeclaredTable): boolean => {
  const checked = checkTable(declared);
  return checked.ok || checked.error.every(({ kind }) => kind !== "moved-id");
};
