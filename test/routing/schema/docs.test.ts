import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FAULT_CASES } from "../check/fault-cases.ts";
import { manyLayoutsTable } from "../many-layouts.ts";
import { load, sampleTable } from "../tables.ts";

const page = readFileSync(new URL("../../../docs/reference/routing-table.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => JSON.parse(text));

test.each(["syntax", ...Object.keys(FAULT_CASES)])(
  "the page shows %s by an example, whose message says the remedy",
  (kind) => {
    expect(page).toMatch(new RegExp(`^\\| \`${kind}\` \\| [^|]{5,} \\|$`, "m"));
  },
);

test("the page lists no other kind of fault", () => {
  const table = page.slice(page.indexOf("| kind |"));
  const listed = [...table.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, kind]) => kind);
  expect(listed.toSorted()).toEqual(["syntax", ...Object.keys(FAULT_CASES)].toSorted());
});

test("the tables on the page have no fault", () => {
  const [whole, byFields, byTime, withoutId, sources, shared, ownLayouts, ownTexts, byPattern, ...others] = blocks;
  expect(load(whole).routeCount).toBe(whole.routes.length);
  expect(load({ ...manyLayoutsTable(), routes: byFields }).routeCount).toBe(2);
  expect(load({ ...sampleTable(), routes: byTime }).routeCount).toBe(2);
  expect(load(withoutId).withoutId.entries.length).toBe(3);
  expect(load({ ...withoutId, sources }).withoutId.entries[1]?.sources).toHaveLength(7);
  expect(load(shared).withoutId.entries).toHaveLength(6);
  expect(load(ownLayouts).layouts.size).toBe(2);
  expect(load(ownTexts).entities.size).toBe(Object.keys(ownTexts.entities).length);
  expect(
    load({ ...manyLayoutsTable(), entities: { ...manyLayoutsTable().entities, ...byPattern } }).entities.size,
  ).toBe(9);
  expect(others).toEqual([]);
});
