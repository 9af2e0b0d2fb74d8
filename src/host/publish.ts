import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../ids/index.ts";
import { REVISION_MAX } from "../routing/index.ts";

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

/** `tableText`: the declared table as JSON text. `publishedAt` goes into the pointer as ISO 8601; so does `change`, above 0. */
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

/** Publishes into the KV folder of a self-hosted workerd, where every key is a file. */
export function publishToDisk(folder: string, tableText: string, revision: number, publishedAt: Date): Publication {
  const before = existsSync(folder) ? publishedPointer(folder) : undefined;
  const change = before?.ok && before.value.change > 0 ? before.value.change + 1 : 0;
  const written = publication(tableText, revision, publishedAt, change);
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
  const before = existsSync(folder) ? publishedPointer(folder) : ok(NOTHING_PUBLISHED);
  if (!before.ok) throw new Error(`${folder}: ${before.error}`);
  const { digest, highest } = before.value;
  const next = publication(tableText, highest + 1, publishedAt);
  if (next.bodyKey === `table.${digest}`) {
    // The pointer says all of it; the body may have been removed.
    replaceFile(folder, next.bodyKey, next.body);
    return;
  }
  if (highest >= REVISION_MAX) throw new Error(`${folder}: revision ${highest} is the last that there can be`);
  publishToDisk(folder, tableText, highest + 1, publishedAt);
}

/** What a pointer on disk says. */
export interface PublishedPointer {
  /** The highest number that it names: that of the table in force, or of the canary beside it. 0 before the first. */
  readonly highest: number;
  /** Of the table in force. */
  readonly digest: string | undefined;
  /** 0 where nobody counted. */
  readonly change: number;
}

export const NOTHING_PUBLISHED: PublishedPointer = { highest: 0, digest: undefined, change: 0 };

/** What a KV folder's pointer says; or why it cannot be told, in words. */
export function publishedPointer(folder: string): Result<PublishedPointer, string> {
  if (!existsSync(folder)) return err("there is no such folder");
  if (!existsSync(join(folder, POINTER_KEY))) return ok(NOTHING_PUBLISHED);
  return readPublished(() => readFileSync(join(folder, POINTER_KEY), "utf8"));
}

/** What a pointer says; or why it cannot be told, in words. */
export function readPublished(read: () => string): Result<PublishedPointer, string> {
  try {
    const pointer: unknown = JSON.parse(read());
    const revision = memberOf(pointer, "revision");
    if (typeof revision !== "number") return err(`${POINTER_KEY} names no revision`);
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

/** A reader meets the old file or the new one, never half of one: rename is atomic within a file system. */
function replaceFile(folder: string, name: string, text: string): void {
  const unfinished = join(folder, `unfinished.${randomUUID()}`);
  writeFileSync(unfinished, text);
  renameSync(unfinished, join(folder, name));
}
