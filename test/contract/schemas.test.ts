import { expect, it } from "vitest";
import { generatedFiles } from "../rules/generators/routing-files.ts";

const schemas = generatedFiles().filter(({ name }) => name.endsWith(".schema.json"));

it("finds both schemas", () => {
  expect(schemas.map(({ name }) => name)).toEqual(["routing-table.schema.json", "mint-body.schema.json"]);
});

it.each(schemas)("keeps $name", async ({ name, text }) => {
  const outline = JSON.stringify(JSON.parse(text), withoutProse, 1);
  await expect(`${outline}\n`).toMatchFileSnapshot(`snapshots/${name}`);
});

/** Prose may be rewritten; a member named `description` has an object here. */
const withoutProse = (key: string, value: unknown): unknown =>
  (key === "description" || key === "title") && typeof value === "string" ? undefined : value;
