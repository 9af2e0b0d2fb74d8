import { isUtf8 } from "node:buffer";
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatPackFault } from "../../features/packs/table/format.ts";
import { formatEntryFault, partsOfFile, verifyPack } from "../../features/packs/table/pack.ts";
import { slotsOf } from "../../features/packs/table/slots.ts";
import { bodyKey, POINTER_KEY, type Pointer, parsePointer } from "../../formats/kv.ts";
import { err, ok, type Result } from "../../ids/index.ts";
import { loadTable, loadTableText, plainJson, TABLE_BYTES_MAX } from "../../routing/index.ts";
import { commandFile } from "../parts.ts";

export const digestOf = (tableText: string): string => createHash("sha256").update(tableText, "utf8").digest("hex");

/** Reads the pointer of a KV folder, which has none before a first publication. The error says what is wrong with it. */
export function publishedPointer(folder: string): Result<Pointer | undefined, string> {
  if (!existsSync(join(folder, POINTER_KEY))) return ok(undefined);
  const bytes = readBytes(join(folder, POINTER_KEY));
  const pointer = bytes === undefined ? err("it cannot be read") : parsePointer(bytes.toString());
  return pointer.ok ? pointer : err(`${POINTER_KEY}: ${pointer.error}`);
}

/** The text of the table in force in a KV folder; `undefined` if there is none. */
export function publishedText(folder: string): string | undefined {
  const pointer = publishedPointer(folder);
  const digest = pointer.ok ? pointer.value?.digest : undefined;
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

/** A verified pack that a table references. */
export interface PackFile {
  /** The pack's name in the table. */
  readonly name: string;
  readonly sha256: string;
  /** KV entries in write order. The header is last: a reader that sees it can read every page. */
  readonly parts: ReturnType<typeof partsOfFile>;
}

/** The packs folder beside a table file. */
export const packsFolderOf = (tableFile: string): string => join(dirname(tableFile), "packs");

/** Reads and verifies the packs of a table (JSON text). The error names the missing or invalid pack. */
export async function readPacks(tableText: string, folder: string): Promise<Result<readonly PackFile[], string>> {
  if (packsOf(tableText).length === 0) return ok([]);
  const table = loadTable(JSON.parse(tableText), 1);
  if (!table.ok) return err("the table has faults: `waybill table check` lists them");
  const files: PackFile[] = [];
  for (const slot of slotsOf(table.value).values()) {
    const { name, declared } = slot;
    const { sha256 } = declared;
    const path = join(folder, `${sha256}.pack`);
    const bytes = readBytes(path);
    if (bytes === undefined) return err(`pack ${name}: ${path} cannot be read`);
    const pack = await verifyPack(bytes, digest, sha256);
    if (!pack.ok) return err(`pack ${name}: ${path}: ${formatPackFault(pack.error)}`);
    const entry = slot.attach(pack.value);
    if (!entry.ok) return err(`pack ${name}: ${formatEntryFault(entry.error)}`);
    files.push({ name, sha256, parts: partsOfFile(bytes, pack.value.header, sha256) });
  }
  return ok(files);
}

const digest = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());

export function packsOf(tableText: string): readonly string[] {
  const { packs = {} } = JSON.parse(tableText) as { readonly packs?: object };
  return Object.keys(packs);
}

/** Input of `wrangler kv bulk put`: the parts of one pack as JSON. */
export const bulkOf = ({ parts }: PackFile): string =>
  JSON.stringify(parts.map(({ key, bytes }) => ({ key, value: Buffer.from(bytes).toString("base64"), base64: true })));

/** Without a byte order mark. */
const decoder = new TextDecoder();

/** A table of thousands of routes can have as many faults. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The JSON of a valid table file with valid packs, without its comments; otherwise the output of `waybill table check`. Start,
 * publish, build and deploy all read files here, so they accept the same ones.
 */
export async function readTableText(path: string): Promise<Result<string, string>> {
  const before = readBytes(path);
  // Most tables have no fault, and need no process of their own.
  const text =
    before && isUtf8(before) && before.length <= TABLE_BYTES_MAX ? plainJson(decoder.decode(before)) : undefined;
  if (text !== undefined && loadTableText(text, 0).ok && (await readPacks(text, packsFolderOf(path))).ok)
    return ok(text);
  const { isGood, printed } = await runWaybill(["table", "check", path]);
  if (!isGood) return err(printed);
  const after = readBytes(path);
  // The check may have read either version.
  if (before === undefined || after === undefined || !before.equals(after)) {
    return err(`${path} changed during the check`);
  }
  return ok(plainJson(decoder.decode(after)));
}

/** Runs the command in a process of its own. `printed`: stdout, then stderr. */
export function runWaybill(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly isGood: boolean; readonly printed: string }> {
  return new Promise((resolve) => {
    const options = { maxBuffer: OUTPUT_BYTES_MAX, env: { ...process.env, ...env } };
    execFile(process.execPath, [commandFile(), ...args], options, (error, stdout, stderr) =>
      resolve({ isGood: error === null, printed: (stdout + stderr).trimEnd() || (error?.message ?? "") }),
    );
  });
}

/** Prints why a command ends, and gives its exit code. */
export function fail(message: string): number {
  process.stderr.write(message);
  return 1;
}
