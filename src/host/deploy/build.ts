import { fileURLToPath } from "node:url";
import { buildConsole } from "../console/build.ts";
import { fail, readTableText } from "../publish/publish.ts";
import { bundleWorker, writeWorker } from "../workerd/modules.ts";

/**
 * Runs before wrangler uploads (`[build]` in `wrangler.toml`): checks the table, and builds the modules that `base_dir` names and
 * the console that `[assets]` names. wrangler's own bundler would make one module of all.
 */
const ROOT = new URL("../../../", import.meta.url);
const inRoot = (path: string): string => fileURLToPath(new URL(path, ROOT));

const text = await readTableText(inRoot("routing-table.json"));
if (text.ok) {
  writeWorker(inRoot("build"), await bundleWorker({ tableText: text.value, minify: true, withMaps: true }));
  await buildConsole(inRoot("build/console"));
} else process.exitCode = fail(`${text.error}\nFix the table first: nothing was bundled.\n`);
