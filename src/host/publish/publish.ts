import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../ids/index.ts";
import { REVISION_MAX } from "../../routing/index.ts";
import { replaceFile } from "./files.ts";

/**
 * A published table in KV. The body's key holds its digest, so a body never changes. The pointer names the current body.
 * The body is written first: a reader of the pointer must find it.
 */
export interface Publication {
  readonly bodyKey: string;
  readonly body: string;
  readonly pointerKey: string;
  readonly pointer: string;
}

export const POINTER_KEY = "table.current";

/** `tableText`: the declared table as JSON. `change`: written to the pointer if above 0. */
export function publication(tableText: string, revision: number, publishedAt: Date, change = 0): Publication {
  const digest = createHash("sha256").update(tableText, "utf8").digest("hex");
  return {
    bodyKey: `table.${digest}`,
    body: tableText,
    pointerKey: POINTER_KEY,
    pointer: JSON.stringify({
      revision,
      digest,
      publishedAt: publishedAt.toISOString(),
      ...(change > 0 && { change }),
    }),
  };
}

/** Publishes to the KV folder of a self-hosted workerd, which has one file per key. */
export function publishToDisk(folder: string, tableText: string, revision: number, publishedAt: Date): Publication {
  const before = existsSync(folder) ? publishedPointer(folder) : undefined;
  const change = before?.ok && before.value.change > 0 ? before.value.change + 1 : 0;
  const written = publication(tableText, revision, publishedAt, change);
  mkdirSync(folder, { recursive: true });
  replaceFile(folder, written.bodyKey, written.body);
  replaceFile(folder, written.pointerKey, written.pointer);
  return written;
}

/** Publishes as the next revision, after any that was published to disk or over HTTP. The same text again is no change. */
export function publishNext(folder: string, tableText: string, publishedAt: Date): void {
  const before = existsSync(folder) ? publishedPointer(folder) : ok(NOTHING_PUBLISHED);
  if (!before.ok) throw new Error(`${folder}: ${before.error}`);
  const { digest, highest } = before.value;
  const next = publication(tableText, highest + 1, publishedAt);
  if (next.bodyKey === `table.${digest}`) {
    // The pointer is right, but the body may have been removed.
    replaceFile(folder, next.bodyKey, next.body);
    return;
  }
  if (highest >= REVISION_MAX) throw new Error(`${folder}: revision ${highest} is the highest possible`);
  publishToDisk(folder, tableText, highest + 1, publishedAt);
}

/** The contents of a pointer. */
export interface PublishedPointer {
  /** The higher of the table's revision and its canary's; 0 if nothing is published. */
  readonly highest: number;
  /** Of the table, not of its canary. */
  readonly digest: string | undefined;
  /** The change counter; 0 without one. */
  readonly change: number;
}

export const NOTHING_PUBLISHED: PublishedPointer = { highest: 0, digest: undefined, change: 0 };

/** Reads the pointer of a KV folder, or gives an error message. */
export function publishedPointer(folder: string): Result<PublishedPointer, string> {
  if (!existsSync(folder)) return err("there is no such folder");
  if (!existsSync(join(folder, POINTER_KEY))) return ok(NOTHING_PUBLISHED);
  return readPublished(() => readFileSync(join(folder, POINTER_KEY), "utf8"));
}

/** Parses a pointer, or gives an error message. */
export function readPublished(read: () => string): Result<PublishedPointer, string> {
  try {
    const pointer: unknown = JSON.parse(read());
    const revision = memberOf(pointer, "revision");
    if (typeof revision !== "number") return err(`${POINTER_KEY} has no revision`);
    const [canary, digest, change] = [
      memberOf(memberOf(pointer, "canary"), "revision"),
      memberOf(pointer, "digest"),
      memberOf(pointer, "change"),
    ];
    return ok({
      highest: typeof canary === "number" ? Math.max(revision, canary) : revision,
      digest: typeof digest === "string" ? digest : undefined,
      change: typeof change === "number" ? change : 0,
    });
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
