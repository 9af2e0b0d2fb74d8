import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NOTHING_PUBLISHED, POINTER_KEY, type PublishedPointer, parsePublished } from "../../formats/kv.ts";
import { err, ok, type Result } from "../../ids/index.ts";
import { bulkOf, type PackFile, publication } from "../publish/publish.ts";

/** Workers KV through wrangler. `where` holds the arguments that select the namespace. */

export interface Wrangler {
  /** Prints to the operator's terminal; gives the exit code. */
  readonly run: (args: readonly string[]) => Promise<number>;
  readonly capture: (args: readonly string[]) => Promise<{ code: number; stdout: string; stderr: string }>;
}

/** Uploads packs; call it before publishing the table that needs them. Gives wrangler's exit code. */
export function putPacks(packs: readonly PackFile[], where: readonly string[], run: Wrangler["run"]): Promise<number> {
  const files = packs.map((pack) => ({ command: ["bulk", "put"], contents: bulkOf(pack) }));
  return putFiles(files, where, run);
}

/** The pointer in KV, or an error message if it cannot be read. */
export async function publishedAtEdge(
  where: readonly string[],
  { capture }: Wrangler,
): Promise<Result<PublishedPointer, string>> {
  const got = await capture(["kv", "key", "get", POINTER_KEY, ...where]);
  if (got.code === 0) return parsePublished(got.stdout);
  // wrangler gives the same exit code for a missing key and an unreadable namespace.
  const listed = await capture(["kv", "key", "list", "--prefix", POINTER_KEY, ...where]);
  if (listed.code === 0 && listed.stdout.trim() === "[]") return ok(NOTHING_PUBLISHED);
  return err(`wrangler cannot read ${POINTER_KEY}\n${got.stderr}${listed.stderr}`.trimEnd());
}

/** Writes the table body, then the pointer: a reader of the pointer must find the body. Gives wrangler's exit code. */
export function publishAtEdge(
  tableText: string,
  { revision, change }: { readonly revision: number; readonly change: number },
  where: readonly string[],
  { run }: Wrangler,
): Promise<number> {
  const { bodyKey, pointer } = publication(tableText, revision, new Date(), change);
  const files = [
    { command: ["key", "put", bodyKey, "--path"], contents: tableText },
    { command: ["key", "put", POINTER_KEY, "--path"], contents: pointer },
  ];
  return putFiles(files, where, run);
}

/** Stops at the first command that fails, and gives its exit code. */
async function putFiles(
  files: readonly { readonly command: readonly string[]; readonly contents: string }[],
  where: readonly string[],
  run: Wrangler["run"],
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-kv-"));
  try {
    for (const { command, contents } of files) {
      const file = join(folder, "contents");
      writeFileSync(file, contents);
      const code = await run(["kv", ...command, file, ...where]);
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
