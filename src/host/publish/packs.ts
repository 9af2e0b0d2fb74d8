import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { err, ok, type Result } from "../../ids/index.ts";
import { formatEntryFault, formatPackFault, loadTable, partsOfFile, verifyPack } from "../../routing/index.ts";
import { readBytes, replaceFile } from "./publish.ts";

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
  for (const slot of table.value.packs.values()) {
    const { name } = slot;
    const { sha256 } = slot.declared;
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

/** Names of the packs in a table. */
export function packsOf(tableText: string): readonly string[] {
  const { packs = {} } = JSON.parse(tableText) as { readonly packs?: object };
  return Object.keys(packs);
}

/** Writes packs into a self-hosted gateway's KV folder. Call it before publishing the table that needs them. */
export function publishPacks(kvFolder: string, packs: readonly PackFile[]): void {
  mkdirSync(kvFolder, { recursive: true });
  for (const { parts } of packs) for (const { key, bytes } of parts) replaceFile(kvFolder, key, bytes);
}

/** Input of `wrangler kv bulk put`: the parts of one pack as JSON. */
export const bulkOf = ({ parts }: PackFile): string =>
  JSON.stringify(parts.map(({ key, bytes }) => ({ key, value: Buffer.from(bytes).toString("base64"), base64: true })));
