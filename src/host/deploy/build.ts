import { fileURLToPath } from "node:url";
import { fail } from "../publish/publish.ts";
import { prepareFolder } from "../self-hosting.ts";

/** Runs before wrangler uploads the checkout (`[build]` in `wrangler.toml`). */
const inRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const prepared = await prepareFolder({ tableFile: inRoot("routing-table.json"), folder: inRoot("build") });
if (!prepared.ok) process.exitCode = fail(`${prepared.error}\nFix the table first: nothing was built.\n`);
