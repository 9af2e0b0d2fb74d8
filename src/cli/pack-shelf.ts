import { dirname, join } from "node:path";
import { err, ok, type Result } from "../ids/index.ts";
import type { PackContents } from "../routing/diff-packs.ts";
import type { CompiledTable, TableDiff } from "../routing/index.ts";
import { formatPackFault } from "../routing/pack/fault-text.ts";
import type { LoadedPack } from "../routing/pack/pack.ts";
import { type PackRanges, rangesOfFile } from "../routing/pack/ranges.ts";
import { formatEntryFault, PackSlot } from "../routing/pack/slot.ts";
import { verifyPack } from "../routing/pack/verify.ts";
import type { DeclaredTable } from "../routing/schema.ts";
import { sha256 } from "./pack-files.ts";
import { escapeControls } from "./printable.ts";
import type { Runtime } from "./world.ts";

/** The packs that lie beside some tables. Two tables that have one share it: each file is read and verified once. */
export interface PackFiles {
  /** Loads the packs of a table, those that are there. The error is for stderr: a file that is not what its name says. */
  readonly load: (table: NamedTable) => Promise<Result<readonly MissingPack[], string>>;
  /** Of the packs that were loaded. */
  readonly contents: PackContents;
}

interface NamedTable {
  /** For people: a file's name, or `revision 41`. */
  readonly name: string;
  readonly table: Pick<CompiledTable, "packs">;
}

/** A table that was checked, as far as the shelf needs it: a comparison needs no table that is compiled. */
export const withSlots = ({ packs = {} }: DeclaredTable): NamedTable["table"] => ({
  packs: new Map(Object.entries(packs).map(([name, declared]) => [name, new PackSlot(name, declared)])),
});

/** A pack that is in none of the folders. */
export interface MissingPack {
  readonly pack: string;
  readonly sha256: string;
  /** `pack shards of revision 41 is not there (packs/2b0c….pack)`. */
  readonly sentence: string;
}

interface Found {
  readonly pack: LoadedPack;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Opens the folders `packs` beside the tables of these paths. `undefined` is a revision of a gateway, which lies nowhere: its
 * packs are looked for beside the other table, and with none in the current folder. Packs go by their digest, so that it
 * makes no difference where one was found.
 */
export const openPackFiles = (
  paths: readonly (string | undefined)[],
  runtime: Pick<Runtime, "readFile" | "fileExists">,
): PackFiles => {
  const beside = paths.flatMap((path) => (path === undefined ? [] : [path === "-" ? "." : dirname(path)]));
  const folders = [...new Set(beside.length === 0 ? ["."] : beside)].map((folder) => join(folder, "packs"));
  const found = new Map<string, Found>();
  const ranges = new Map<string, PackRanges>();
  return {
    load: async ({ name, table }) => {
      const missing: MissingPack[] = [];
      for (const slot of table.packs.values()) {
        const digest = slot.declared.sha256;
        const files = folders.map((folder) => join(folder, `${digest}.pack`));
        const file = files.find(runtime.fileExists);
        if (file === undefined) {
          const sentence = escapeControls(`pack ${slot.name} of ${name} is not there (${files.join(", ")})`);
          missing.push({ pack: slot.name, sha256: digest, sentence });
          continue;
        }
        const one = found.get(digest) ?? (await readPack(file, digest, runtime));
        const why = typeof one === "string" ? one : attach(slot, one);
        if (why !== undefined) {
          return err(`error: ${escapeControls(`${file} is not pack ${slot.name} of ${name}: ${why}`)}\n`);
        }
        if (typeof one !== "string") found.set(digest, one);
      }
      return ok(missing);
    },
    contents: (digest) => {
      const one = found.get(digest);
      if (one !== undefined && !ranges.has(digest)) ranges.set(digest, rangesOfFile(one.bytes, one.pack.header));
      return ranges.get(digest);
    },
  };
};

/** The pack, or what is wrong with the file. */
const readPack = async (file: string, digest: string, runtime: Pick<Runtime, "readFile">): Promise<Found | string> => {
  const bytes = runtime.readFile(file);
  if (!bytes.ok) return bytes.error;
  const pack = await verifyPack(bytes.value, sha256, digest);
  return pack.ok ? { pack: pack.value, bytes: bytes.value } : formatPackFault(pack.error);
};

const attach = (slot: PackSlot, { pack }: Found): string | undefined => {
  const attached = slot.attach(pack);
  return attached.ok ? undefined : formatEntryFault(attached.error);
};

/** Lines for stderr. */
export const formatMissing = (missing: readonly MissingPack[]): string =>
  missing.map(({ sentence }) => `note: ${sentence}: what it decides stays open\n`).join("");

/** The packs without which a comparison counts keys as changed that may not be. */
export const missedBy = ({ keys }: TableDiff, missing: readonly MissingPack[]): readonly MissingPack[] => {
  const named = new Set(keys.flatMap(({ before, after }) => [...(before?.packs ?? []), ...(after?.packs ?? [])]));
  return missing.filter(({ pack, sha256 }) => named.has(`${pack} ${sha256}`));
};
