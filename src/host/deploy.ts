import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { err, type Result } from "../ids/index.ts";
import { loadTable, REVISION_MAX } from "../routing/index.ts";
import { exitOf } from "./child.ts";
import { accessNote, secretNames } from "./deploy-access.ts";
import { unreachableOrigins } from "./deploy-check.ts";
import { PACKS_REFUSED, putPacks, splitArgs } from "./deploy-packs.ts";
import { publishAtEdge, publishedAtEdge, type Wrangler } from "./deploy-publish.ts";
import { type PackFile, packsFolderOf, readPacks } from "./publish-packs.ts";
import { readTableText } from "./table-check.ts";

/**
 * `npm run deploy`: checks the table, puts its packs into KV, then `wrangler deploy` with the arguments given. `-- --publish`
 * puts the table into KV instead, as revision `--revision N`.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TABLE_FILE = join(ROOT, "routing-table.json");

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const isDryRun = args.includes("--dry-run");
  const read = await readDeployable(isDryRun);
  if (!read.ok) {
    process.stderr.write(`${read.error}\nNothing was deployed: the table has to be changed first.\n`);
    return 1;
  }
  const tableText = read.value;
  const packs = await readPacks(tableText, packsFolderOf(TABLE_FILE));
  if (!packs.ok) {
    process.stderr.write(`routing-table.json: ${packs.error}\nNothing was deployed.\n`);
    return 1;
  }
  return args.includes("--publish") ? publish(tableText, packs.value, args) : deploy(packs.value, args, isDryRun);
}

/** The table's text; or why it must not go to the edge, in words. */
async function readDeployable(isDryRun: boolean): Promise<Result<string, string>> {
  const text = await readTableText(TABLE_FILE);
  if (!text.ok) return text;
  const table = loadTable(JSON.parse(text.value), 1);
  if (!table.ok) throw new Error("the table has faults that its check does not find");
  const sentences = unreachableOrigins(table.value).map(
    ({ pointer, message }) => `routing-table.json ${pointer}: ${message}`,
  );
  if (sentences.length === 0) return text;
  if (!isDryRun) return err(sentences.join("\n"));
  // A dry run shows what would be deployed; it may show the demo's table.
  process.stderr.write(`${sentences.join("\n")}\n`);
  return text;
}

async function deploy(packs: readonly PackFile[], args: readonly string[], isDryRun: boolean): Promise<number> {
  const { where, rest } = splitArgs(args);
  // The Worker brings the table along, and serves it as soon as it is there.
  if (!isDryRun && (await putPacks(packs, where, wrangler)) !== 0) {
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

/** Packs, then the table. */
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
  const before = await publishedAtEdge(where, WRANGLER);
  if (!before.ok) {
    process.stderr.write(`It cannot be told which revision is in force: ${before.error}\nNothing was published.\n`);
    return 1;
  }
  const { highest, change } = before.value;
  if (revision <= highest) {
    process.stderr.write(
      `Revision ${highest} is in force or a canary: gateways take only a higher one, ${highest + 1} or more. Nothing was published.\n`,
    );
    return 1;
  }
  const packsCode = await putPacks(packs, where, wrangler);
  if (packsCode !== 0) return packsCode;
  return publishAtEdge(tableText, { revision, change: change > 0 ? change + 1 : 0 }, where, WRANGLER);
}

const wrangler = (args: readonly string[]): Promise<number> =>
  exitOf(spawn("wrangler", args, { cwd: ROOT, stdio: "inherit" }));

const WRANGLER: Wrangler = {
  run: wrangler,
  ask: (args) =>
    new Promise((resolve) => {
      execFile("wrangler", args, { cwd: ROOT }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : 1, stdout, stderr }),
      );
    }),
};

process.exitCode = await main();
