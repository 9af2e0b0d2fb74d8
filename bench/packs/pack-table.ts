import { formatPackFault } from "../../src/features/packs/table/format.ts";
import type { LoadedPack } from "../../src/features/packs/table/pack.ts";
import { formatEntryFault, verifyPack } from "../../src/features/packs/table/pack.ts";
import { slotsOf } from "../../src/features/packs/table/slots.ts";
import { hotguid } from "../../src/ids/index.ts";
import { type CompiledTable, loadTable, resolvePath } from "../../src/routing/index.ts";
import { needed, randomFields } from "../lib/random.ts";
import type { Candidate } from "../lib/sample.ts";
import { type PackFile, plainTable, subtleSha256 } from "./pack-files.ts";

/** A table with a pack of a million ranges: loading it, and resolving IDs by it. */

const NOW_MS = Date.UTC(2026, 10, 21);

/** Verifies the pack, checks and compiles the table: ready to resolve any ID. */
export async function openTable({ file, tableText }: PackFile): Promise<CompiledTable> {
  const table = needed(loadTable(JSON.parse(tableText), 1));
  for (const slot of slotsOf(table).values()) {
    const attached = slot.attach(await openPack(file, slot.declared.sha256));
    if (!attached.ok) throw new Error(formatEntryFault(attached.error));
  }
  return table;
}

export async function openPack(file: Uint8Array<ArrayBuffer>, sha256?: string): Promise<LoadedPack> {
  const verified = await verifyPack(file, subtleSha256, sha256);
  if (!verified.ok) throw new Error(formatPackFault(verified.error));
  return verified.value;
}

/** From a raw path to the decision, by the pack and by a table with one route. The number of `keys` is a power of two. */
export function resolveCandidates(byPack: CompiledTable, keys: Uint32Array, word: () => number): readonly Candidate[] {
  const mask = keys.length - 1;
  const paths = Array.from(keys, (shardKey) => {
    const mintedAt = Math.floor(NOW_MS / 1000) - (word() % 1_000_000);
    return `/parcels/${hotguid.format(needed(hotguid.encode({ ...randomFields(hotguid, word), mintedAt, shardKey })))}`;
  });
  const resolve = (table: CompiledTable, path: string): number => {
    const match = table.paths.match(path);
    const decision = match && resolvePath(table, match, path, NOW_MS);
    return decision?.ok ? decision.value.target.region.name.length : Number.NaN;
  };
  const plain = needed(loadTable(plainTable(), 1));
  const all = (table: CompiledTable) => (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += resolve(table, paths[at & mask] as string);
    return sum;
  };
  const oneRoute = "resolve a path, table of one route";
  return [
    { name: "resolve a path by the pack", against: oneRoute, run: all(byPack) },
    { name: oneRoute, run: all(plain) },
  ];
}
