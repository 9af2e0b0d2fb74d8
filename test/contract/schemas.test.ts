import { Ajv2020 } from "ajv/dist/2020.js";
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

it.each(schemas)("$name is clean in strict mode, as catalogues of schemas want it", ({ text }) => {
  const { $schema, ...schema } = JSON.parse(text);
  expect($schema).toMatch(/^https?:\/\/json-schema\.org\/draft/);
  const log: unknown[] = [];
  const note = (...words: readonly unknown[]) => void log.push(...words);
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: false, logger: { log: note, warn: note, error: note } });
  const validate = ajv.compile(schema);
  for (const example of schema.examples ?? []) expect(validate(example)).toBe(true);
  expect(log).toEqual([]);
  expect(text).not.toMatch(/^\ufeff/);
});

/** Prose may be rewritten; a member named `description` has an object here. */
const withoutProse = (key: string, value: unknown): unknown =>
  (key === "description" || key === "title") && typeof value === "string" ? undefined : value;
