import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { err, type Result } from "../../ids/index.ts";
import { loadTable } from "../../routing/index.ts";
import { exitOf } from "../child.ts";
import { fail, type PackFile, packsFolderOf, readPacks, readTableText } from "../publish/publish.ts";
import { accessNote, missingBindings, secretNames, unreachableOrigins } from "./checks.ts";
import { putPacks, type RunWrangler, splitArgs } from "./kv.ts";
import { wranglerScript } from "./wrangler.ts";

/** `npm run deploy`: checks the table, uploads its packs, then runs `wrangler deploy` with the given arguments. */

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TABLE_FILE = join(ROOT, "routing-table.json");

const PACKS_FAILED = `KV did not accept the table's packs: nothing was deployed.
Give the KV namespace as the id of TABLE_KV in wrangler.toml, or as --namespace-id.
The first deployment creates the namespace: deploy a table without packs first. Then run
\`waybill table publish\`, which uploads the packs with the table (docs/operate/publish.md).
`;

const PUBLISH_LATER = `
Until a table is published, the Worker serves the one that was bundled with it. To publish one without a deployment:
  waybill table publish routing-table.json
`;

const PUBLISH_GONE = `--publish is gone: only the gateway writes tables to its KV. Nothing was published.
Publish to the running gateway:     waybill table publish routing-table.json
`;

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.some((arg) => /^--publish(?:=|$)/.test(arg))) return fail(PUBLISH_GONE);
  const isDryRun = args.includes("--dry-run");
  if ((await checkSettings(args)) !== 0) return fail("Fix the settings first: nothing was deployed.\n");
  const read = await readDeployable(args);
  if (!read.ok) return fail(`${read.error}\nFix the table first: nothing was deployed.\n`);
  const packs = await readPacks(read.value, packsFolderOf(TABLE_FILE));
  if (!packs.ok) return fail(`routing-table.json: ${packs.error}\nNothing was deployed.\n`);
  return deploy(packs.value, args, isDryRun);
}

const given = (args: readonly string[], ...names: readonly string[]) =>
  args[args.findIndex((arg) => names.includes(arg)) + 1 || args.length];

const configOf = (args: readonly string[]): string => given(args, "--config", "-c") ?? "wrangler.toml";

/** Runs `waybill config check`: an invalid variable would be found by the deployed Worker only. */
function checkSettings(args: readonly string[]): Promise<number> {
  const env = given(args, "--env", "-e");
  const check = ["config", "check", configOf(args), ...(env === undefined ? [] : ["--env", env])];
  const command = [join(ROOT, "src/cli/main.ts"), ...check];
  return exitOf(spawn(process.execPath, command, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] }));
}

/** The table's text, or an error message if it cannot be deployed. */
async function readDeployable(args: readonly string[]): Promise<Result<string, string>> {
  const text = await readTableText(TABLE_FILE);
  if (!text.ok) return text;
  const table = loadTable(JSON.parse(text.value), 1);
  if (!table.ok) throw new Error("the table passed its check, but does not load");
  const configuration = readFileSync(resolve(ROOT, configOf(args)), "utf8");
  const found = [...unreachableOrigins(table.value), ...missingBindings(table.value, configuration)];
  const faults = found.map(({ pointer, message }) => `routing-table.json ${pointer}: ${message}`);
  return faults.length === 0 ? text : err(faults.join("\n"));
}

async function deploy(packs: readonly PackFile[], args: readonly string[], isDryRun: boolean): Promise<number> {
  const { where, rest } = splitArgs(args);
  // Packs go first: the new Worker serves its bundled table at once.
  if (!isDryRun && (await putPacks(packs, where, wrangler)) !== 0) return fail(PACKS_FAILED);
  const code = await wrangler(["deploy", ...rest]);
  if (code === 0 && !isDryRun) {
    process.stdout.write(PUBLISH_LATER);
    const note = accessNote(readFileSync(join(ROOT, "wrangler.toml"), "utf8"), args, await secretNames(ROOT, args));
    if (note !== undefined) process.stderr.write(`\n${note}\n`);
  }
  return code;
}

const wrangler: RunWrangler = (args) =>
  exitOf(spawn(process.execPath, [wranglerScript(ROOT) ?? "wrangler", ...args], { cwd: ROOT, stdio: "inherit" }));

process.exitCode = await main();
