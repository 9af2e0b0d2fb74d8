import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bulkOf, type PackFile } from "../publish/publish.ts";

/** Prints to the operator's terminal; gives the exit code. */
export type RunWrangler = (args: readonly string[]) => Promise<number>;

/**
 * Uploads packs by their digests; call it before deploying the table that needs them. `where`: arguments that select the
 * namespace. Stops at the first command that fails, and gives its exit code.
 */
export async function putPacks(
  packs: readonly PackFile[],
  where: readonly string[],
  run: RunWrangler,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-kv-"));
  try {
    for (const pack of packs) {
      const file = join(folder, "contents");
      writeFileSync(file, bulkOf(pack));
      const code = await run(["kv", "bulk", "put", file, ...where]);
      if (code !== 0) return code;
    }
    return 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Deploy options that select wrangler's configuration, and with it the KV namespace. */
const CONFIGURATION = new Set(["--env", "-e", "--config", "-c"]);

/** Splits deploy arguments into those for KV commands and those for `wrangler deploy`. */
export function splitArgs(args: readonly string[]) {
  const rest: string[] = [];
  const configuration: string[] = [];
  let namespace: readonly string[] = ["--binding", "TABLE_KV"];
  for (let at = 0; at < args.length; at++) {
    const [arg = "", value] = [args[at], args[at + 1]];
    const [, joined] = /^--namespace-id=(.+)$/.exec(arg) ?? [];
    if (joined !== undefined) namespace = ["--namespace-id", joined];
    else if (arg === "--namespace-id" && value !== undefined) {
      namespace = ["--namespace-id", value];
      at++;
    } else {
      rest.push(arg);
      if (/^--(?:env|config)=/.test(arg)) configuration.push(arg);
      if (CONFIGURATION.has(arg) && value !== undefined) configuration.push(arg, value);
    }
  }
  return { where: [...namespace, "--remote", ...configuration], rest };
}
