import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkTable } from "../../src/routing/index.ts";
import { generatedFiles } from "../rules/generators/routing-files.ts";

test.each(generatedFiles().map(({ name, text }) => [name, text] as const))(
  "%s is what its sources make",
  (name, text) => {
    expect(readFileSync(new URL(`../../src/routing/${name}`, import.meta.url), "utf8")).toBe(text);
  },
);

const schemas = generatedFiles().flatMap(({ name, text }) => (name.endsWith(".json") ? [[name, text] as const] : []));

test("the JSON Schema describes what an editor is to complete", () => {
  const schema = JSON.parse(generatedFiles().find(({ name }) => name.endsWith(".json"))?.text ?? "{}");
  expect(schema.required).toEqual(["regions", "routes"]);
  expect(schema.additionalProperties).toBe(false);
  expect(Object.keys(schema.properties.routes.items.properties.when.properties)).toContain("mintedBefore");
  expect(schema.properties.routes.items.properties.when.properties.mintedBefore.description).toMatch(/earlier/);
  expect(schema.$id).toBe("urn:waybill:routing-table");
  expect(schema.examples.map((table: unknown) => checkTable(table))).toEqual(
    schema.examples.map((value: unknown) => ({ ok: true, value })),
  );
  expect(schema.properties.countries.propertyNames.enum).toContain("KZ");
  expect(schema.properties.entities.additionalProperties.properties.ids.items.properties.layout.examples).toContain(
    "uuid-v7",
  );
});

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly [key: string]: unknown;
}

/** The members without a description, by their places. */
const undescribed = (node: Node, place = ""): readonly string[] =>
  Object.entries(node).flatMap(([key, value]) => {
    if (typeof value !== "object" || value === null || key === "examples") return [];
    if (key !== "properties") return undescribed(value as Node, place);
    return Object.entries(value as Readonly<Record<string, Node>>).flatMap(([name, member]) => {
      const at = `${place}/${name}`;
      return [...(member.description ? [] : [at]), ...undescribed(member, at)];
    });
  });

test.each(schemas)("every member in %s has a description", (_, text) => {
  expect(undescribed(JSON.parse(text))).toEqual([]);
  expect(undescribed({ properties: { a: { items: [{ properties: { b: {} } }] } } })).toEqual(["/a", "/a/b"]);
});
