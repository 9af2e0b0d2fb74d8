import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readTableText } from "../publish/publish.ts";

/** Runs before wrangler bundles the Worker (`[build]` in `wrangler.toml`), because the Worker never sees the file's text. */
const file = fileURLToPath(new URL("../../../routing-table.json", import.meta.url));
const text = await readTableText(file);
if (text.ok && text.value !== readFileSync(file, "utf8")) {
  process.stderr.write(
    "routing-table.json has comments or trailing commas, which wrangler cannot bundle: nothing was bundled.\n",
  );
  process.exitCode = 1;
} else if (!text.ok) {
  process.stderr.write(`${text.error}\nFix the table first: nothing was bundled.\n`);
  process.exitCode = 1;
}
