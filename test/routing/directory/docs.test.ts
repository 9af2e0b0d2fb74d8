import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { load, sampleTable } from "../tables.ts";

test("the examples of docs/reference/directory.md have no fault", () => {
  const page = readFileSync(new URL("../../../docs/reference/directory.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/```jsonc?\n(.*?)```/gs)].map(([, text = ""]) => JSON.parse(`{${text}}`));
  expect(blocks).toHaveLength(3);
  const { regions, countries } = sampleTable();
  for (const { entities = {}, routes = [{ when: {}, region: "eu" }], directory } of blocks) {
    const parcel = { path: "/parcels/:id", ids: [{ layout: "hotguid" }] };
    const loaded = load({ regions, countries, directory, entities: { parcel, ...entities }, routes });
    expect([...(loaded.directories?.keys() ?? [])]).toEqual(Object.keys(directory));
  }
});
