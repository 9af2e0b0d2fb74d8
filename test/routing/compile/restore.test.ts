import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { restoreTable } from "../../../src/routing/compile/restore.ts";
import { storeTable } from "../../../src/routing/compile/store.ts";
import { checkTable, loadTable } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { projectText } from "../../cli/console-examples.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { MIXED_TABLE } from "../places/mixtures.ts";
import { bothWays, firstDifference } from "../restored.ts";
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
  test("is the same by its check, without it, and from its stored form", () => {
    const loaded = loadTable(declared, 7);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
    for (const table of bothWays(declared as DeclaredTable, 7)) {
      expect(firstDifference(loaded.value, table)).toBe(undefined);
    }
  });

  test("has one stored form, whatever it was read by", () => {
    expect(storeTable(checked(declared))).toEqual(storeTable(checked(JSON.parse(JSON.stringify(declared)))));
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
  test.each(Object.entries(cases))("%s", (_, broken) => {
    expect(restoreTable(broken, 1)).toBe(undefined);
  });

  test("and no damage throws", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(255), fc.boolean(), (at, value, isText) => {
        const numbers = form.numbers.slice();
        numbers[at % numbers.length] = value;
        const place = at % form.text.length;
        const text = form.text.slice(0, place) + String.fromCharCode(value) + form.text.slice(place + 1);
        const table = restoreTable(isText ? { ...form, text } : { ...form, numbers }, 1);
        expect(table === undefined || table.revision === 1).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});
