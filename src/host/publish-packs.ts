import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { err, ok, type Result } from "../ids/index.ts";
import { loadTable, packFaultText, partsOfFile, verifyPack } from "../routing/index.ts";

/** A pack that a table names, verified. */
export interface PackFile {
  /** In the table. */
  readonly name: string;
  /** As KV holds them, in the order in which they are written: who sees the header, the last one, sees all pages. */
  readonly parts: ReturnType<typeof partsOfFile>;
}

/** Where the packs of a table's file lie. */
export const packsFolderOf = (tableFile: string): string => join(dirname(tableFile), "packs");

/** Reads the packs that a table names. The error says which pack is not there, or at fault. `tableText` is JSON. */
export async function readPacks(tableText: string, folder: string): Promise<Result<readonly PackFile[], string>> {
  if (packsOf(tableText).length === 0) return ok([]);
  const table = loadTable(JSON.parse(tableText), 1);
  if (!table.ok) return err("the table has faults: `waybill table check` lists them");
  const files: PackFile[] = [];
  for (const slot of table.value.packs.values()) {
    const { name } = slot;
    const { sha256 } = slot.declared;
    const path = join(folder, `${sha256}.pack`);
    const octets = octetsOf(path);
    if (octets === undefined) return err(`pack ${name}: ${path} cannot be read`);
    const digest = (octets: Uint8Array) => Promise.resolve(createHash("sha256").update(octets).digest());
    const pack = await verifyPack(octets, digest, sha256);
    if (!pack.ok) return err(`pack ${name}: ${path}: ${packFaultText(pack.error)}`);
    const entry = slot.attach(pack.value);
    if (!entry.ok) {
      const { what, declared, found } = entry.error;
      return err(`pack ${name}: the table says ${what} ${declared}, and it has ${found}`);
    }
    files.push({ name, parts: partsOfFile(octets, pack.value.header, sha256) });
  }
  return ok(files);
}

/** The names of the packs in a table. */
export function packsOf(tableText: string): readonly string[] {
  const { packs = {} } = JSON.parse(tableText) as { readonly packs?: object };
  return Object.keys(packs);
}

/** Puts packs into the KV folder of a self-hosted gateway. The table goes behind them, so that nobody sees it without its packs. */
export function publishPacks(kvFolder: string, packs: readonly PackFile[]): void {
  mkdirSync(kvFolder, { recursive: true });
  for (const { parts } of packs) for (const { key, octets } of parts) replaceFile(kvFolder, key, octets);
}

/** What `wrangler kv bulk put` reads: one JSON file with the parts of one pack. */
export const bulkOf = ({ parts }: PackFile): string =>
  JSON.stringify(
    parts.map(({ key, octets }) => ({ key, value: Buffer.from(octets).toString("base64"), base64: true })),
  );

function octetsOf(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** A reader meets the old file or the new one: rename is atomic within a file system. */
function replaceFile(folder: string, name: string, octets: Uint8Array): void {
  const unfinished = join(folder, `unfinished.${randomUUID()}`);
  writeFileSync(unfinished, octets);
  renameSync(unfinished, join(folder, name));
}
