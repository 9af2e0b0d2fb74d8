import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandSummariesFile } from "./generators/command-summaries.ts";
import { databasesPage } from "./generators/databases-page.ts";
import { examplesSchemaFile } from "./generators/examples-schema.ts";
import { generatedFiles } from "./generators/routing-files.ts";
import { tableApiFile } from "./generators/table-api.ts";
import { worldDotsFile } from "./generators/world-dots.ts";
import { cliPage } from "./help-page.ts";

it.each(generatedFiles())("src/routing/$name is what npm run generate writes", ({ name, text }) => {
  expect(readFileSync(new URL(`../../src/routing/${name}`, import.meta.url), "utf8")).toBe(text);
});

it.each([tableApiFile(), examplesSchemaFile(), await commandSummariesFile(), worldDotsFile()])(
  "$path is what npm run generate writes",
  ({ path, text }) => {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toBe(text);
  },
);

describe("docs/reference/cli.md", () => {
  const page = readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8");

  it("has the help that npm run generate writes", async () => {
    expect(await cliPage(page)).toBe(page);
  });

  it("needs a block for each command, and none for others", async () => {
    await expect(cliPage(page.replace("help:table-diff", "help:table-dif"))).rejects.toThrow("table-diff");
    expect(await cliPage(`${page}<!--help:absent-->\n\`\`\`text\n\`\`\`\n`)).toContain("no such command");
  });
});

describe("docs/guides/databases.md", () => {
  const page = readFileSync(new URL("../../docs/guides/databases.md", import.meta.url), "utf8");

  it("has the tables that npm run generate writes", () => {
    expect(databasesPage(page)).toBe(page);
  });

  it("has each of them once", () => {
    expect(() => databasesPage(page.replace("<!--generated:columns-->", ""))).toThrow("generated:columns");
    expect(() => databasesPage(`${page}<!--generated:uuids-->\n<!--/generated-->`)).toThrow("generated:uuids");
  });
});
