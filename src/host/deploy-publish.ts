import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../ids/index.ts";
import { NOTHING_PUBLISHED, POINTER_KEY, type PublishedPointer, publication, readPublished } from "./publish.ts";

/** wrangler: `run` before the operator's eyes, with its exit code, and `ask` for what it prints. */
export interface Wrangler {
  readonly run: (args: readonly string[]) => Promise<number>;
  readonly ask: (args: readonly string[]) => Promise<Printed>;
}

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the edge's KV names as published; or why that cannot be told, in words. `where`: which namespace. */
export async function publishedAtEdge(
  where: readonly string[],
  { ask }: Wrangler,
): Promise<Result<PublishedPointer, string>> {
  const got = await ask(["kv", "key", "get", POINTER_KEY, ...where]);
  if (got.code === 0) return readPublished(() => got.stdout);
  // wrangler ends in the same way for a key that is not there and for a namespace that it cannot read.
  const listed = await ask(["kv", "key", "list", "--prefix", POINTER_KEY, ...where]);
  if (listed.code === 0 && listed.stdout.trim() === "[]") return ok(NOTHING_PUBLISHED);
  return err(`wrangler cannot read ${POINTER_KEY}\n${got.stderr}${listed.stderr}`.trimEnd());
}

/** Puts a table into the edge's KV: the body, then the pointer, since who reads one must find what it points to. wrangler's exit code. */
export async function publishAtEdge(
  tableText: string,
  { revision, change }: { readonly revision: number; readonly change: number },
  where: readonly string[],
  { run }: Wrangler,
): Promise<number> {
  const { bodyKey, body, pointerKey, pointer } = publication(tableText, revision, new Date(), change);
  const folder = mkdtempSync(join(tmpdir(), "waybill-publish-"));
  try {
    for (const [key, value] of [
      [bodyKey, body],
      [pointerKey, pointer],
    ] as const) {
      const file = join(folder, "value");
      writeFileSync(file, value);
      const code = await run(["kv", "key", "put", key, "--path", file, ...where]);
      if (code !== 0) return code;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return 0;
}
