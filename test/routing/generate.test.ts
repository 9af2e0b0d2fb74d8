import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFiles } from "../rules/generators/routing-files.ts";

test.each(generatedFiles().map(({ name, text }) => [name, text] as const))(
  "%s is what its sources make",
  (name, text) => {
    expect(readFileSync(new URL(`../../src/routing/${name}`, import.meta.url), "utf8")).toBe(text);
  },
);

test("the JSON Schema describes what an editor is to complete", () => {
  const schema = JSON.parse(generatedFiles().find(({ name }) => name.endsWith(".json"))?.text ?? "{}");
  expect(schema.required).toEqual(["regions", "entities", "routes"]);
  expect(schema.additionalProperties).toBe(false);
  expect(Object.keys(schema.properties.routes.items.properties.when.properties)).toContain("mintedBefore");
  expect(schema.properties.routes.items.properties.when.properties.mintedBefore.description).toMatch(/earlier/);
});
