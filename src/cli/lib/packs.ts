import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { PackContents } from "../../features/packs/table/diff.ts";
import { formatPackFault } from "../../features/packs/table/format.ts";
import type { LoadedPack, PackRanges } from "../../features/packs/table/pack.ts";
import { formatEntryFault, PackSlot, rangesOfFile, verifyPack } from "../../features/packs/table/pack.ts";
import { slotsOf } from "../../features/packs/table/slots.ts";
import { err, ok, type Result } from "../../ids/index.ts";
import type { Sha256 } from "../../routing/bytes.ts";
import type { CompiledTable, Fault, TableDiff } from "../../routing/index.ts";
import { pointerTo } from "../../routing/schema/faults.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { fail, type Runtime } from "../runtime.ts";
import { escapeControls } from "./output.ts";

export const sha256: Sha256 = (bytes) => Promise.resolve(createHash("sha256").update(bytes).digest());

/** The file of a pack: by digest, in the folder `packs` beside the table. */
export const packFile = (tablePath: string, digest: string): string =>
  join(tablePath === "-" ? "." : dirname(tablePath), "packs", `${digest}.pack`);

/** Loads and verifies all packs of a table. Returns their faults. */
export const loadPackFiles = async (table: CompiledTable, tablePath: string, runtime: Pick<Runtime, "readFile">) => {
  const faults: Fault[] = [];
  for (const slot of slotsOf(table).values()) {
    const loaded = await loadPack(slot, packFile(tablePath, slot.declared.sha256), runtime);
    if (loaded.ok) continue;
    const message = `The pack cannot be used: ${loaded.error}; make it again with \`waybill table pack RANGES --layout NAME\`.`;
    faults.push({ pointer: pointerTo(["packs", slot.name]), kind: "pack", message });
  }
  return faults;
};

interface NamedTable {
  /** A file name, or `revision 41`. */
  readonly name: string;
  readonly table: Pick<CompiledTable, "packs">;
}

/** The packs of a valid table that is not compiled. */
export const withSlots = ({ packs = {} }: DeclaredTable): NamedTable["table"] => ({
  packs: new Map(Object.entries(packs).map(([name, declared]) => [name, new PackSlot(name, declared)])),
});

export interface MissingPack {
  readonly pack: string;
  readonly sha256: string;
  /** `pack shards of revision 41 is missing (packs/2b0c….pack)`. */
  readonly sentence: string;
}

type Found = { readonly pack: LoadedPack; readonly bytes: Uint8Array<ArrayBuffer> };

/**
 * Loads the packs of tables that are present in the folders `packs` beside these paths, or in the current folder.
 * `undefined`: a revision of a gateway, which has no folder. Packs are found by digest, so their folder does not matter.
 */
export const openPackFiles = async (
  paths: readonly (string | undefined)[],
  tables: readonly NamedTable[],
  runtime: Pick<Runtime, "readFile" | "fileExists">,
): Promise<{ readonly missing: readonly MissingPack[]; readonly contents: PackContents }> => {
  const beside = paths.flatMap((path) => (path === undefined ? [] : [path === "-" ? "." : dirname(path)]));
  const folders = [...new Set(beside.length === 0 ? ["."] : beside)].map((folder) => join(folder, "packs"));
  const found = new Map<string, Found>();
  const missing: MissingPack[] = [];
  const slots = tables.flatMap(({ name, table }) => [...slotsOf(table).values()].map((slot) => ({ name, slot })));
  for (const { name, slot } of slots) {
    const digest = slot.declared.sha256;
    const files = folders.map((folder) => join(folder, `${digest}.pack`));
    const file = files.find(runtime.fileExists);
    if (file === undefined) {
      const sentence = escapeControls(`pack ${slot.name} of ${name} is missing (${files.join(", ")})`);
      missing.push({ pack: slot.name, sha256: digest, sentence });
      continue;
    }
    const loaded = await loadPack(slot, file, runtime, found.get(digest));
    const what = `${file} is not pack ${slot.name} of ${name}`;
    found.set(digest, loaded.ok ? loaded.value : fail(`error: ${escapeControls(`${what}: ${loaded.error}`)}\n`));
  }
  const ranges = new Map<string, PackRanges>();
  const contents: PackContents = (digest) => {
    const one = found.get(digest);
    if (one !== undefined && !ranges.has(digest)) ranges.set(digest, rangesOfFile(one.bytes, one.pack.header));
    return ranges.get(digest);
  };
  return { missing, contents };
};

/** Reads and verifies a pack, unless it is `known` already, and attaches it to its slot. The error is a sentence. */
const loadPack = async (
  slot: Pick<PackSlot, "attach" | "declared">,
  file: string,
  runtime: Pick<Runtime, "readFile">,
  known?: Found,
): Promise<Result<Found, string>> => {
  const bytes = known ? ok(known.bytes) : runtime.readFile(file);
  if (!bytes.ok) return bytes;
  const pack = known ? ok(known.pack) : await verifyPack(bytes.value, sha256, slot.declared.sha256);
  if (!pack.ok) return err(formatPackFault(pack.error));
  const attached = slot.attach(pack.value);
  return attached.ok ? ok({ pack: pack.value, bytes: bytes.value }) : err(formatEntryFault(attached.error));
};

/** Lines for stderr. */
export const formatMissing = (missing: readonly MissingPack[]): string =>
  missing.map(({ sentence }) => `note: ${sentence}: IDs that depend on it stay undetermined\n`).join("");

/** Missing packs because of which a comparison counts unchanged keys as changed. */
export const missedBy = ({ keys }: TableDiff, missing: readonly MissingPack[]): readonly MissingPack[] => {
  const named = new Set(keys.flatMap(({ before, after }) => [...(before?.packs ?? []), ...(after?.packs ?? [])]));
  return missing.filter(({ pack, sha256 }) => named.has(`${pack} ${sha256}`));
};
