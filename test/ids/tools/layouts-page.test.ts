import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { everyLayout } from "../../../src/ids/index.ts";
import { layoutsPage } from "../../rules/generators/layouts-page.ts";

const page = readFileSync(new URL("../../../docs/reference/layouts.md", import.meta.url), "utf8");

test("docs/reference/layouts.md is what the tables say; npm run generate writes it anew", () => {
  expect(page).toBe(layoutsPage());
});

test.each(everyLayout)("it has $name, and a sample that the layout reads", (layout) => {
  const section = page.split("\n## ").find((text) => text.startsWith(`${layout.name}\n`)) ?? "";
  const sample = section.match(/^- [a-z0-9-]+: `(.*)`$/m)?.[1] ?? "";
  const words = layout.parse(sample);
  expect(words.ok).toBe(true);
  if (words.ok && layout.mintedAtMs !== undefined) expect(layout.mintedAtMs(words.value)).toBe(Date.UTC(2026, 0, 1));
});
