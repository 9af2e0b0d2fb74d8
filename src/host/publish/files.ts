import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
