import { createHash } from "node:crypto";
import { join } from "node:path";
import { bodyKey, POINTER_KEY, type Pointer, parsePointer } from "../../../formats/kv.ts";
import { err, ok, type Result } from "../../../ids/index.ts";
import { checkTable } from "../../../routing/index.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { checkText, faultLine } from "../../lib/table-file.ts";
import type { Runtime } from "../../runtime.ts";

/** Tables as a gateway of this machine, or the mirror of an edge, keeps them on its disk. */

/** In a state: one file for each key. */
const KV_FOLDER = "kv";

/** The pointer of the table in force. The error says why there is none. */
export function readPointer(state: string, runtime: Runtime): Result<Pointer, string> {
  const path = join(state, KV_FOLDER, POINTER_KEY);
  if (!runtime.fileExists(path)) return err(`no table is published in ${state}`);
  const bytes = runtime.readFile(path);
  if (!bytes.ok) return err(`${path}: ${bytes.error}`);
  const pointer = parsePointer(new TextDecoder().decode(bytes.value));
  return pointer.ok ? pointer : err(`${path}: ${pointer.error}`);
}

/** The table that a pointer names, checked as this version of the command checks it. */
export function readPublished(
  state: string,
  { digest, revision }: Pointer,
  runtime: Runtime,
): Result<DeclaredTable, string> {
  const path = join(state, KV_FOLDER, bodyKey(digest));
  const bytes = runtime.readFile(path);
  if (!bytes.ok) return err(`${path}: ${bytes.error}`);
  const actual = createHash("sha256").update(bytes.value).digest("hex");
  if (actual !== digest) return err(`${path} has another content: its SHA-256 is ${actual}`);
  const table = checkText(bytes.value, checkTable);
  if (table.ok) return ok(table.value);
  const [first] = table.error;
  return err(first === undefined ? `${path} has faults` : faultLine(`revision ${revision}`, first).trimEnd());
}

/** A canary decides by a table of its own, of which no engine knows. */
export const leftBy = ({ canary }: Pointer): string | undefined =>
  canary && `a canary of revision ${canary.revision} is running`;
