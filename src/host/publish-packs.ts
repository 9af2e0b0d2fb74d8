import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { err, ok, type Result } from "../ids/index.ts";
import { packFaultText, partsOfFile, verifyPack } from "../routing/index.ts";

/**
 * Puts the packs of a table file into the KV folder of a self-hosted gateway: pages, then headers. The table goes behind
 * them, so that nobody sees it without its packs. The error says which pack cannot be published, and why.
 */
export async function publishPacks(
  folder: string,
  tableFile: string,
  tableText: string,
): Promise<Result<number, string>> {
  const { packs = {} } = JSON.parse(tableText) as { readonly packs?: Readonly<Record<string, { sha256: string }>> };
  let published = 0;
  for (const [name, { sha256 }] of Object.entries(packs)) {
    const file = new Uint8Array(readFileSync(join(dirname(tableFile), "packs", `${sha256}.pack`)));
    const digest = (octets: Uint8Array) => Promise.resolve(createHash("sha256").update(octets).digest());
    const pack = await verifyPack(file, digest, sha256);
    if (!pack.ok) return err(`pack ${name}: ${packFaultText(pack.error)}`);
    mkdirSync(folder, { recursive: true });
    for (const { key, octets } of partsOfFile(file, pack.value.header, sha256)) replaceFile(folder, key, octets);
    published++;
  }
  return ok(published);
}

/** A reader meets the old file or the new one: rename is atomic within a file system. */
function replaceFile(folder: string, name: string, octets: Uint8Array): void {
  const unfinished = join(folder, `unfinished.${randomUUID()}`);
  writeFileSync(unfinished, octets);
  renameSync(unfinished, join(folder, name));
}
