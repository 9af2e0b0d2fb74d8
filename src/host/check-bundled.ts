import { fileURLToPath } from "node:url";
import { readTableText } from "./table-check.ts";

/**
 * What wrangler runs before it bundles the Worker with `routing-table.json` (`[build]` in `wrangler.toml`): the Worker cannot tell later
 * what the bundler made of its text. While wrangler serves a machine, `npm run dev` looks at the table itself.
 */
if (process.env["WRANGLER_COMMAND"] !== "dev") {
  const text = await readTableText(fileURLToPath(new URL("../../routing-table.json", import.meta.url)));
  if (!text.ok) {
    process.stderr.write(`${text.error}\nNothing is bundled: the table has to be changed first.\n`);
    process.exitCode = 1;
  }
}
