import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { generatedFiles } from "../../src/routing/generate.ts";

it.each(generatedFiles())("src/routing/$name is what npm run generate writes", ({ name, text }) => {
  expect(readFileSync(new URL(`../../src/routing/${name}`, import.meta.url), "utf8")).toBe(text);
});
