import { writeFileSync } from "node:fs";
import { layoutsPage } from "../ids/tools/layouts-page.ts";
import { problemsPage } from "../problems/generate.ts";
import { generatedFiles } from "../routing/generate.ts";

/** `npm run generate`: writes all generated files. A test fails if one is stale. */

const files = [
  ...generatedFiles().map(({ name, text }) => ({ path: `src/routing/${name}`, text })),
  { path: "docs/reference/layouts.md", text: layoutsPage() },
  { path: "docs/reference/problems.md", text: problemsPage() },
];

for (const { path, text } of files) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), text);
  process.stdout.write(`${path}\n`);
}
