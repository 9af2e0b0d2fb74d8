import { fileURLToPath } from "node:url";
import { readTableText } from "../publish/table-check.ts";

/** Runs before wrangler bundles the Worker (`[build]` in `wrangler.toml`), because the Worker never sees the file's text. */
const text = await readTableText(fileURLToPath(new URL("../../../routing-table.json", import.meta.url)));
if (!text.ok) {
  process.stderr.write(`${text.error}\nFix the table first: nothing was bundled.\n`);
  process.exitCode = 1;
}
