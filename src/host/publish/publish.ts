import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../ids/index.ts";
import {
  bodyKey,
  formatPointer,
  NOTHING_PUBLISHED,
  POINTER_KEY,
  type PublishedPointer,
  parsePublished,
} from "../../published/kv.ts";
import { REVISION_MAX } from "../../routing/index.ts";

/**
 * A published table in KV. The body's key holds its digest, so a body never changes. The pointer names the current body.
 * The body is written first: a reader of the pointer must find it. `tableText`: the declared table as JSON. `change`:
 * written to the pointer if above 0.
 */
export function publication(tableText: string, revision: number, publishedAt: Date, change = 0) {
  const digest = createHash("sha256").update(tableText, "utf8").digest("hex");
  const pointer = formatPointer({ revision, digest, publishedAt: publishedAt.toISOString(), change });
  return { bodyKey: bodyKey(digest), pointer };
}

/** Publishes to the KV folder of a self-hosted workerd, which has one file per key. */
export function publishToDisk(folder: string, tableText: string, revision: number, publishedAt: Date) {
  const before = existsSync(folder) ? publishedPointer(folder) : undefined;
  const change = before?.ok && before.value.change > 0 ? before.value.change + 1 : 0;
  const written = publication(tableText, revision, publishedAt, change);
  mkdirSync(folder, { recursive: true });
  replaceFile(folder, written.bodyKey, tableText);
  replaceFile(folder, POINTER_KEY, written.pointer);
  return written;
}

/** Publishes as the next revision, after any that was published to disk or over HTTP. The same text again is no change. */
export function publishNext(folder: string, tableText: string, publishedAt: Date): void {
  const before = existsSync(folder) ? publishedPointer(folder) : ok(NOTHING_PUBLISHED);
  if (!before.ok) throw new Error(`${folder}: ${before.error}`);
  const { digest, highest } = before.value;
  const next = publication(tableText, highest + 1, publishedAt);
  if (digest !== undefined && next.bodyKey === bodyKey(digest)) {
    // The pointer is right, but the body may have been removed.
    replaceFile(folder, next.bodyKey, tableText);
    return;
  }
  if (highest >= REVISION_MAX) throw new Error(`${folder}: revision ${highest} is the highest possible`);
  publishToDisk(folder, tableText, highest + 1, publishedAt);
}

/** Reads the pointer of a KV folder, or gives an error message. */
export function publishedPointer(folder: string): Result<PublishedPointer, string> {
  if (!existsSync(folder)) return err("there is no such folder");
  if (!existsSync(join(folder, POINTER_KEY))) return ok(NOTHING_PUBLISHED);
  const bytes = readBytes(join(folder, POINTER_KEY));
  return bytes === undefined ? err(`${POINTER_KEY} cannot be read`) : parsePublished(bytes.toString());
}

/** The text of the table in force in a KV folder; `undefined` if there is none. */
export function publishedText(folder: string): string | undefined {
  const pointer = publishedPointer(folder);
  const digest = pointer.ok ? pointer.value.digest : undefined;
  return digest && readBytes(join(folder, bodyKey(digest)))?.toString("utf8");
}

/** `undefined` if the file cannot be read. */
export function readBytes(path: string): Buffer<ArrayBuffer> | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Readers see the old file or the new one, never half of one: rename is atomic within a file system. */
export function replaceFile(folder: string, name: string, contents: string | Uint8Array): void {
  const unfinished = join(folder, `unfinished.${randomUUID()}`);
  writeFileSync(unfinished, contents);
  renameSync(unfinished, join(folder, name));
}
