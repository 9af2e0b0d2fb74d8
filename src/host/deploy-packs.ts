import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bulkOf, type PackFile } from "./publish-packs.ts";

/** Why a table with packs was not deployed, where wrangler has said that KV did not take them. */
export const PACKS_REFUSED =
  "The packs of the table are not in KV: nothing was deployed. wrangler has to know the namespace: by the id of TABLE_KV in wrangler.toml,\n" +
  "or by --namespace-id. A first deployment makes the namespace: deploy a table without packs, and publish this one after it\n" +
  "with `waybill table publish`, which uploads them (docs/packs.md).\n";

/** Puts packs into KV at the edge, before whatever names them. wrangler's exit code. */
export async function putPacks(
  packs: readonly PackFile[],
  where: readonly string[],
  wrangler: (args: readonly string[]) => Promise<number>,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-packs-"));
  try {
    for (const pack of packs) {
      const file = join(folder, "parts.json");
      writeFileSync(file, bulkOf(pack));
      const code = await wrangler(["kv", "bulk", "put", file, ...where]);
      if (code !== 0) return code;
    }
    return 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Options of a deployment that say in which configuration the namespace stands. */
const CONFIGURATION = new Set(["--env", "-e", "--config", "-c"]);

/** The arguments of a deployment: those for KV, and those that are left for the deployment itself. */
export function splitArgs(args: readonly string[]): {
  readonly where: readonly string[];
  readonly rest: readonly string[];
} {
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
