import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { err, ok, type Result } from "../../ids/index.ts";
import { type CompiledTable, loadTable } from "../../routing/index.ts";
import { exitOf } from "../child.ts";
import { fail, type PackFile, packsFolderOf, readPacks, readTableText } from "../publish/publish.ts";
import { accessNote, missingBindings, secretNames, unreachableOrigins } from "./checks.ts";
import { putPacks, splitArgs } from "./kv.ts";
import { findWrangler, startWrangler, type Wrangler } from "./wrangler.ts";

const PACKS_FAILED = `KV did not accept the table's packs: nothing was deployed.
Give the KV namespace as the id of TABLE_KV in wrangler.toml, or as --namespace-id.
The first deployment creates the namespace: deploy a table without packs first. Then run
\`waybill table publish FILE\`, which uploads the packs with the table (docs/operate/publish.md).
`;

const publishLater = (tableFile: string): string => `
Until a table is published, the Worker serves the one that it was deployed with. To publish one without a deployment:
  waybill table publish ${tableFile}
`;

const PUBLISH_GONE = `--publish is gone: only the gateway writes tables to its KV. Nothing was published.
Publish to the running gateway:
  waybill table publish routing-table.json
`;

export interface Deployment {
  /** Arguments of `wrangler deploy`. */
  readonly args: readonly string[];
  readonly tableFile: string;
  /** wrangler's configuration. */
  readonly configFile: string;
  /** Checks settings and bindings of the configuration, and tells what is wrong. */
  readonly checkSettings: (environment: string | undefined) => Promise<boolean>;
}

/**
 * `waybill deploy`, and `npm run deploy` of the checkout: checks the working folder's table and settings, uploads packs, then runs
 * `wrangler deploy`. Gives the exit code.
 */
export async function deployProject(deployment: Deployment): Promise<number> {
  const { args, tableFile, checkSettings } = deployment;
  if (args.some((arg) => /^--publish(?:=|$)/.test(arg))) return fail(PUBLISH_GONE);
  const isDryRun = args.includes("--dry-run");
  if (!(await checkSettings(given(args, "--env", "-e"))))
    return fail("Fix the settings first: nothing was deployed.\n");
  const read = await readDeployable(deployment, isDryRun);
  if (!read.ok) return fail(`${read.error}\nFix the table first: nothing was deployed.\n`);
  const packs = await readPacks(read.value, packsFolderOf(resolve(tableFile)));
  if (!packs.ok) return fail(`${tableFile}: ${packs.error}\nNothing was deployed.\n`);
  const wrangler = findWrangler(process.cwd());
  if (!wrangler.ok) return fail(`${wrangler.error}\nNothing was deployed.\n`);
  return deploy(wrangler.value, packs.value, deployment, isDryRun);
}

/** The value of an option, as a word of its own or behind `=`. */
export const given = (args: readonly string[], ...names: readonly string[]): string | undefined => {
  const at = args.findIndex((arg) => names.includes(arg.replace(/=.*/s, "")));
  const arg = args[at];
  return arg?.includes("=") ? arg.slice(arg.indexOf("=") + 1) : args[at === -1 ? args.length : at + 1];
};

/** The table's text, or why it cannot be deployed. A dry run deploys nothing, so it warns of origins and goes on. */
async function readDeployable(
  { tableFile, configFile }: Deployment,
  isDryRun: boolean,
): Promise<Result<string, string>> {
  const text = await readTableText(tableFile);
  if (!text.ok) return text;
  const table = loadTable(JSON.parse(text.value), 1);
  if (!table.ok) throw new Error("the table passed its check, but does not load");
  const unreachable = unreachableOrigins(table.value).map(lineIn(tableFile));
  const unbound = bindingFaults(table.value, tableFile, configFile);
  if (isDryRun) for (const line of unreachable) process.stderr.write(`warning: ${line} A deployment is refused.\n`);
  const faults = isDryRun ? unbound : [...unreachable, ...unbound];
  return faults.length === 0 ? ok(text.value) : err(faults.join("\n"));
}

const lineIn =
  (tableFile: string) =>
  ({ pointer, message }: { readonly pointer: string; readonly message: string }): string =>
    `${tableFile} ${pointer}: ${message}`;

const bindingFaults = (table: CompiledTable, tableFile: string, configFile: string): readonly string[] =>
  missingBindings(table, readFileSync(configFile, "utf8")).map(lineIn(tableFile));

async function deploy(
  wrangler: Wrangler,
  packs: readonly PackFile[],
  { args, tableFile, configFile }: Deployment,
  isDryRun: boolean,
): Promise<number> {
  const { where, rest } = splitArgs(args);
  const run = (words: readonly string[]) => exitOf(startWrangler(wrangler, words, "inherit"));
  // Packs go first: the new Worker serves its own table at once.
  if (!isDryRun && (await putPacks(packs, where, run)) !== 0) return fail(PACKS_FAILED);
  const code = await run(["deploy", ...rest]);
  if (code === 0 && !isDryRun) {
    process.stdout.write(publishLater(tableFile));
    const note = accessNote(readFileSync(configFile, "utf8"), args, await secretNames(wrangler, args));
    if (note !== undefined) process.stderr.write(`\n${note}\n`);
  }
  return code;
}
