import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildConsole } from "../console/build.ts";
import { readTableText } from "../publish/publish.ts";

/** Runs before wrangler bundles the Worker (`[build]` in `wrangler.toml`), because the Worker never sees the file's text. Builds what `[assets]` takes along. */
const file = fileURLToPath(new URL("../../../routing-table.json", import.meta.url));
const text = await readTableText(file);
const why = text.ok
  ? "routing-table.json has comments or trailing commas, which wrangler cannot bundle: nothing was bundled."
  : `${text.error}\nFix the table first: nothing was bundled.`;
if (!text.ok || text.value !== readFileSync(file, "utf8")) {
  process.stderr.write(`${why}\n`);
  process.exitCode = 1;
} else await buildConsole(fileURLToPath(new URL("../../../build/console", import.meta.url)));
