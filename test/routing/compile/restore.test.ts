import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TABLE_FEATURES } from "../../../src/features/compiling.ts";
import { RESTORED_FEATURES } from "../../../src/features/restoring.ts";
import { restoreTable } from "../../../src/routing/compile/restore.ts";
import { storeTable } from "../../../src/routing/compile/store.ts";
import { checkTable, compileTable, loadTable } from "../../../src/routing/index.ts";
import { knownLayouts } from "../../../src/routing/layouts/declared.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { projectText } from "../../cli/console-examples.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { MIXED_TABLE } from "../places/mixtures.ts";
import { compiledAlone, firstDifference, PARTS, restored } from "../restored.ts";
import { sampleTable } from "../tables.ts";

const sample = sampleTable();

/** Sizes and shapes of which each takes another way through the stored form. */
const TABLES: Readonly<Record<string, unknown>> = {
  "the project's": JSON.parse(projectText("routing-table.json")),
  "that of the tests": DECLARED_TABLE,
  "every part": sample,
  "IDs in other places": MIXED_TABLE,
  "no route": { regions: sample.regions, entities: sample.entities, countries: sample.countries, routes: [] },
  "no entity": {
    regions: sample.regions,
    withoutId: { home: { path: "/home", sources: [{ region: "eu" }] } },
    routes: [],
  },
  "a default": { ...sample, default: "us" },
  "moves and entities that are gone": {
    ...sample,
    moves: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d78": { from: "eu", to: "us", state: "fenced", epoch: 3 } },
    gone: { "00000023-122f-6d0b-a789-28ef27ab7c63": { epoch: 2 } },
  },
  "a list, whose regions follow from conditions": {
    ...sample,
    entities: {
      ...sample.entities,
      order: {
        ...sample.entities["order"],
        list: { items: "/orders", order: "none", filters: { country: "country", mintedAfter: "since" } },
      },
    },
  },
  "a directory that is verified": {
    ...sample,
    entities: { ...sample.entities, shop: { path: "/shops/:id", directory: "slug" } },
    directory: { slug: { key: { text: "ascii-lower" }, mode: "verify" } },
  },
  "times and slices in several dimensions": {
    ...sample,
    routes: [
      ...Array.from({ length: 30 }, (_, at) => ({
        when: {
          layout: "iuid",
          country: ["KZ", "UZ", "BR"][at % 3],
          mintedBefore: new Date(Date.UTC(2024, at)).toISOString().replace(".000", ""),
        },
        region: ["eu", "us", "ap"][(at * 7) % 3],
        canary: { region: ["us", "ap", "eu"][(at * 7) % 3], percent: at },
      })),
      { when: { slices: { m49: "143", partition: "1-9" } }, region: "us" },
      { when: {}, split: { by: "hash", parts: 2, regions: ["eu", "us"] } },
    ],
  },
};

const checked = (declared: unknown): DeclaredTable => {
  const table = checkTable(declared);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return table.value;
};

describe.each(Object.entries(TABLES))("a table with %s", (_, declared) => {
  test("is the same by its check, without it, and from its stored form", async () => {
    const loaded = loadTable(declared, 7);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
    expect(firstDifference(loaded.value, compileTable(declared as DeclaredTable, 7))).toBe(undefined);
    const table = declared as DeclaredTable;
    expect(firstDifference(compiledAlone(table, 7), await restored(table, 7))).toBe(undefined);
  });

  test("has one stored form, whatever it was read by", () => {
    expect(storeTable(checked(declared))).toEqual(storeTable(checked(JSON.parse(JSON.stringify(declared)))));
  });
});

const orders = (layout: object, layouts: object = {}) => ({
  regions: sample.regions,
  entities: { order: { path: "/orders/:id", ids: [layout] } },
  layouts,
  routes: [{ when: {}, region: "eu" }],
});

test("a stored form names the features that the table uses, and no others", () => {
  const featuresOf = (declared: object): unknown => JSON.parse(storeTable(checked(declared)).text).features;
  expect(featuresOf(orders({ layout: "iuid", service: 5 }))).toEqual([]);
  expect(featuresOf({ ...orders({ layout: "iuid", service: 5 }), cors: { origins: ["*"] } })).toEqual(["cors"]);
  expect(featuresOf(TABLES["a directory that is verified"] as object)).toContain("directory");
  expect(featuresOf(TABLES["a list, whose regions follow from conditions"] as object)).toContain("lists");
});

test("features are loaded by need in the order in which they compile a table", () => {
  expect(RESTORED_FEATURES.map(([name]) => name)).toEqual(TABLE_FEATURES.map(({ name }) => name));
});

test.each(RESTORED_FEATURES)("the feature %s is loaded by its own name", async (name, load) => {
  expect(await load()).toBe(TABLE_FEATURES.find((feature) => feature.name === name));
});

describe("layouts that few tables name are loaded for a table", () => {
  const ownRows = [{ field: "all", bits: 64, role: "random" }];
  const tables: Readonly<Record<string, [declared: object, isNeeded: boolean]>> = {
    "with iUIDs": [orders({ layout: "iuid", service: 5 }), false],
    "with settings of HotGuids": [
      orders({ layout: "hotguid" }, { hotguid: { slices: { low: [30, 2] }, mintedWithin: false } }),
      false,
    ],
    "with another built-in layout": [orders({ layout: "ulid" }), true],
    "with an epoch of its own": [
      orders({ layout: "snowflake" }, { snowflake: { epoch: "2020-01-01T00:00:00Z" } }),
      true,
    ],
    "with rows of its own": [orders({ layout: "mine" }, { mine: { rows: ownRows, text: "hex" } }), true],
    "with one that is like a built-in one": [
      orders({ layout: "mine" }, { mine: { like: "iuid", text: "base62" } }),
      true,
    ],
    "whose directory has a layout as its key": [
      {
        regions: sample.regions,
        entities: { shop: { path: "/shops/:id", ids: [{ layout: "ulid" }] } },
        directory: { codes: { key: { layout: "ulid" } } },
        routes: [{ when: { layout: "ulid" }, directory: "codes" }],
      },
      true,
    ],
    ...Object.fromEntries(
      (["serve", "verify", "write-only"] as const).flatMap((mode) =>
        ["ulid", "uuid-v4", "snowflake", "iuid", "hotguid"].map((layout) => [
          `with a directory of ${layout} that no route names yet: ${mode}`,
          [
            { ...orders({ layout: "iuid", service: 5 }), directory: { codes: { key: { layout }, mode } } },
            layout !== "iuid" && layout !== "hotguid",
          ],
        ]),
      ),
    ),
    "whose directory has iUIDs as its key": [
      {
        regions: sample.regions,
        entities: { shop: { path: "/shops/:id", ids: [{ layout: "iuid", service: 5 }] } },
        directory: { codes: { key: { layout: "iuid" } } },
        routes: [{ when: { layout: "iuid" }, directory: "codes" }],
      },
      false,
    ],
  };
  test.each(Object.entries(tables))("%s", async (_, [declared, isNeeded]) => {
    const form = storeTable(checked(declared));
    let loads = 0;
    const loadLayouts = async () => {
      loads++;
      return knownLayouts;
    };
    expect(await restoreTable(form, 1, { ...PARTS, loadLayouts })).not.toBe(undefined);
    expect(loads).toBe(isNeeded ? 1 : 0);
    const lost = new Error("the module cannot be loaded");
    const without = restoreTable(form, 1, { ...PARTS, loadLayouts: () => Promise.reject(lost) });
    if (isNeeded) await expect(without).rejects.toBe(lost);
    else expect(await without).not.toBe(undefined);
  });

  test.each(["ulid", "uuid-v4", "snowflake"])("a form that leaves %s of a directory out is refused", async (layout) => {
    const declared = { ...orders({ layout: "iuid", service: 5 }), directory: { codes: { key: { layout } } } };
    const { text, numbers } = storeTable(checked(declared));
    const silent = { text: JSON.stringify({ ...JSON.parse(text), needsLayouts: false }), numbers };
    expect(await restoreTable(silent, 1, PARTS)).toBe(undefined);
  });

  test.each(Object.entries(tables))("%s: the same as compiled", async (_, [declared]) => {
    const table = checked(declared);
    expect(firstDifference(compiledAlone(table), await restored(table))).toBe(undefined);
  });
});

test("conditions and IDs are not stored twice", () => {
  const routes = Array.from({ length: 250 }, (_, machine) => ({
    when: { layout: "hotguid", shardKey: machine },
    region: ["eu", "us"][machine % 2],
  }));
  const declared = checked({ ...sample, routes });
  expect(JSON.parse(storeTable(declared).text).routes).toEqual([{ region: "eu" }, { region: "us" }]);
});

describe("a form that does not fit is refused", () => {
  const form = storeTable(checked(sample));
  const cases = {
    "no JSON": { ...form, text: form.text.slice(1) },
    "another JSON": { ...form, text: "[]" },
    "a number less": { ...form, numbers: form.numbers.subarray(4) },
    "a number more": { ...form, numbers: new Uint8Array([...form.numbers, 0, 0, 0, 0]) },
    "half a number": { ...form, numbers: form.numbers.subarray(1) },
    "no plans": { ...form, text: JSON.stringify({ ...JSON.parse(form.text), plans: [] }) },
    "another table": { ...form, text: storeTable(checked({ ...sample, routes: sample.routes.slice(1) })).text },
  };
  test.each(Object.entries(cases))("%s", async (_, broken) => {
    expect(await restoreTable(broken, 1, PARTS)).toBe(undefined);
  });

  test("and no damage throws", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(255), fc.boolean(), async (at, value, isText) => {
        const numbers = form.numbers.slice();
        numbers[at % numbers.length] = value;
        const place = at % form.text.length;
        const text = form.text.slice(0, place) + String.fromCharCode(value) + form.text.slice(place + 1);
        const table = await restoreTable(isText ? { ...form, text } : { ...form, numbers }, 1, PARTS);
        expect(table === undefined || table.revision === 1).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});
