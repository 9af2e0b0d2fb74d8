import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { REVISION_MAX } from "../routing/index.ts";
import { exitOf } from "./child.ts";
import { accessNote, secretNames } from "./deploy-access.ts";
import { checkDeployable } from "./deploy-check.ts";
import { PACKS_REFUSED, putPacks, splitArgs } from "./deploy-packs.ts";
import { publication } from "./publish.ts";
import { type PackFile, packsFolderOf, readPacks } from "./publish-packs.ts";

/**
 * `npm run deploy`: checks the table, puts its packs into KV, then `wrangler deploy` with the arguments given. `-- --publish`
 * puts the table into KV instead, as revision `--revision N`.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TABLE_FILE = join(ROOT, "routing-table.json");

async function main(): Promise<number> {
  const tableText = readFileSync(TABLE_FILE, "utf8");
  const args = process.argv.slice(2);
  const isDryRun = args.includes("--dry-run");
  const { faults, unreachable } = checkDeployable(tableText);
  for (const { pointer, message } of [...faults, ...unreachable]) {
    process.stderr.write(`routing-table.json ${pointer}: ${message}\n`);
  }
  // A dry run shows what would be deployed; it may show the demo's table.
  if (faults.length > 0 || (unreachable.length > 0 && !isDryRun)) {
    process.stderr.write("Nothing was deployed: the table has to be changed first.\n");
    return 1;
  }
  const packs = await readPacks(tableText, packsFolderOf(TABLE_FILE));
  if (!packs.ok) {
    process.stderr.write(`routing-table.json: ${packs.error}\nNothing was deployed.\n`);
    return 1;
  }
  if (args.includes("--publish")) return publish(tableText, packs.value, args);
  const { where, rest } = splitArgs(args);
  // The Worker brings the table along, and serves it as soon as it is there.
  if (!isDryRun && (await putPacks(packs.value, where, wrangler)) !== 0) {
    process.stderr.write(PACKS_REFUSED);
    return 1;
  }
  const code = await wrangler(["deploy", ...rest]);
  if (code === 0 && !isDryRun) {
    process.stdout.write(
      "\nThe Worker serves the table that was bundled with it. Publish later ones without a deployment:\n" +
        "  npm run deploy -- --publish --revision 1\n" +
        "with a revision that is one higher each time.\n",
    );
    const note = accessNote(readFileSync(join(ROOT, "wrangler.toml"), "utf8"), args, await secretNames(ROOT, args));
    if (note !== undefined) process.stderr.write(`\n${note}\n`);
  }
  return code;
}

/** Packs, then the body, then the pointer: who reads one must find what it points to. */
async function publish(tableText: string, packs: readonly PackFile[], args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { publish: { type: "boolean" }, revision: { type: "string" }, "namespace-id": { type: "string" } },
  });
  const revision = Number(values.revision);
  if (!Number.isSafeInteger(revision) || revision < 1 || revision > REVISION_MAX) {
    process.stderr.write("--publish needs --revision N: a whole number, one higher than the revision in force\n");
    return 1;
  }
  const { where } = splitArgs(args);
  const packsCode = await putPacks(packs, where, wrangler);
  if (packsCode !== 0) return packsCode;
  const { bodyKey, body, pointerKey, pointer } = publication(tableText, revision, new Date());
  const folder = mkdtempSync(join(tmpdir(), "waybill-publish-"));
  try {
    for (const [key, value] of [
      [bodyKey, body],
      [pointerKey, pointer],
    ] as const) {
      const file = join(folder, "value");
      writeFileSync(file, value);
      const code = await wrangler(["kv", "key", "put", key, "--path", file, ...where]);
      if (code !== 0) return code;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return 0;
}

const wrangler = (args: readonly string[]): Promise<number> =>
  exitOf(spawn("wrangler", args, { cwd: ROOT, stdio: "inherit" }));

process.exitCode = await main();
