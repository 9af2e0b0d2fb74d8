import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../ids/index.ts";

/**
 * How a published table lies in KV. The body has its digest as its name, so that it never changes; the pointer says
 * which one is in force. The body is written first: a reader that sees the pointer can then also see the body.
 */
export interface Publication {
  readonly bodyKey: string;
  readonly body: string;
  readonly pointerKey: string;
  readonly pointer: string;
}

export const POINTER_KEY = "table.current";

/** `tableText`: the declared table as JSON text. `publishedAt` goes into the pointer as ISO 8601. */
export function publication(tableText: string, revision: number, publishedAt: Date): Publication {
  const digest = createHash("sha256").update(tableText, "utf8").digest("hex");
  return {
    bodyKey: `table.${digest}`,
    body: tableText,
    pointerKey: POINTER_KEY,
    pointer: JSON.stringify({ revision, digest, publishedAt: publishedAt.toISOString() }),
  };
}

/** Publishes into the KV folder of a self-hosted workerd, where every key is a file. */
export function publishToDisk(folder: string, tableText: string, revision: number, publishedAt: Date): Publication {
  const written = publication(tableText, revision, publishedAt);
  mkdirSync(folder, { recursive: true });
  replaceFile(folder, written.bodyKey, written.body);
  replaceFile(folder, written.pointerKey, written.pointer);
  return written;
}

/**
 * Puts a table into force after the one that is: whatever was published before, by this or over HTTP, has a lower number. The
 * same text again changes nothing.
 */
export function publishNext(folder: string, tableText: string, publishedAt: Date): void {
  const inForce = existsSync(folder) ? publishedRevision(folder) : ok(0);
  if (!inForce.ok) throw new Error(`${folder}: ${inForce.error}`);
  const next = publication(tableText, inForce.value + 1, publishedAt);
  if (
    inForce.value > 0 &&
    readFileSync(join(folder, POINTER_KEY), "utf8").includes(next.bodyKey.slice("table.".length))
  ) {
    // The pointer says all of it; the body may have been removed.
    replaceFile(folder, next.bodyKey, next.body);
    return;
  }
  publishToDisk(folder, tableText, inForce.value + 1, publishedAt);
}

/** The revision that a KV folder's pointer names, 0 before the first; or why it cannot be told, in words. */
export function publishedRevision(folder: string): Result<number, string> {
  if (!existsSync(folder)) return err("there is no such folder");
  if (!existsSync(join(folder, POINTER_KEY))) return ok(0);
  try {
    const pointer: unknown = JSON.parse(readFileSync(join(folder, POINTER_KEY), "utf8"));
    const isPointer = typeof pointer === "object" && pointer !== null && "revision" in pointer;
    return isPointer && typeof pointer.revision === "number"
      ? ok(pointer.revision)
      : err(`${POINTER_KEY} names no revision`);
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

/** A reader meets the old file or the new one, never half of one: rename is atomic within a file system. */
function replaceFile(folder: string, name: string, text: string): void {
  const unfinished = join(folder, `unfinished.${randomUUID()}`);
  writeFileSync(unfinished, text);
  renameSync(unfinished, join(folder, name));
}
