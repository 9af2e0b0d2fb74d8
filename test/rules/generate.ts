import { readFileSync, writeFileSync } from "node:fs";
import { commandSummariesFile } from "./generators/command-summaries.ts";
import { databasesPage } from "./generators/databases-page.ts";
import { examplesSchemaFile } from "./generators/examples-schema.ts";
import { layoutsPage } from "./generators/layouts-page.ts";
import { problemsPage } from "./generators/problems-page.ts";
import { generatedFiles } from "./generators/routing-files.ts";
import { tableApiFile } from "./generators/table-api.ts";
import { worldDotsFile } from "./generators/world-dots.ts";
import { cliPage } from "./help-page.ts";

/** `npm run generate`: writes all generated files. A test fails if one is stale. */

const fileAt = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const CLI_PAGE = "docs/reference/cli.md";
const DATABASES_PAGE = "docs/guides/databases.md";

const files = [
  tableApiFile(),
  examplesSchemaFile(),
  await commandSummariesFile(),
  worldDotsFile(),
  ...generatedFiles().map(({ name, text }) => ({ path: `src/routing/${name}`, text })),
  { path: "docs/reference/layouts.md", text: layoutsPage() },
  { path: "docs/reference/problems.md", text: problemsPage() },
  { path: DATABASES_PAGE, text: databasesPage(readFileSync(fileAt(DATABASES_PAGE), "utf8")) },
  { path: CLI_PAGE, text: await cliPage(readFileSync(fileAt(CLI_PAGE), "utf8")) },
];

for (const { path, text } of files) {
  writeFileSync(fileAt(path), text);
  process.stdout.write(`${path}\n`);
}
