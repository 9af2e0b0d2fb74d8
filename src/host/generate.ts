import { writeFileSync } from "node:fs";
import { generatedFiles } from "../routing/generate.ts";

/** `npm run generate`: writes every file that follows from others. A test fails when one is stale. */

const ROUTING = new URL("../routing/", import.meta.url);

for (const { name, text } of generatedFiles()) {
  writeFileSync(new URL(name, ROUTING), text);
  process.stdout.write(`src/routing/${name}\n`);
}
