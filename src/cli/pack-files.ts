import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { pointerTo } from "../routing/faults.ts";
import type { CompiledTable, Fault } from "../routing/index.ts";
import { formatPackFault } from "../routing/pack/fault-text.ts";
import type { Sha256 } from "../routing/pack/format.ts";
import { formatEntryFault } from "../routing/pack/slot.ts";
import { verifyPack } from "../routing/pack/verify.ts";
import type { Runtime } from "./world.ts";

export const sha256: Sha256 = (bytes) => Promise.resolve(createHash("sha256").update(bytes).digest());

/** Where the pack of a table lies: in the folder `packs` beside it, by its digest. */
export const packFile = (tablePath: string, digest: string): string =>
  join(tablePath === "-" ? "." : dirname(tablePath), "packs", `${digest}.pack`);

/** Loads every pack of a table whole, each range verified; what is wrong with them. */
export const loadPackFiles = async (
  table: CompiledTable,
  tablePath: string,
  runtime: Pick<Runtime, "readFile">,
): Promise<readonly Fault[]> => {
  const faults: Fault[] = [];
  for (const slot of table.packs.values()) {
    const why = await loadOne(slot, packFile(tablePath, slot.declared.sha256), runtime);
    if (why === undefined) continue;
    const message = `The pack cannot be used: ${why}; make it again with \`waybill table pack\`.`;
    faults.push({ pointer: pointerTo(["packs", slot.name]), kind: "pack", message });
  }
  return faults;
};

type Slot = CompiledTable["packs"] extends ReadonlyMap<string, infer Value> ? Value : never;

const loadOne = async (slot: Slot, file: string, runtime: Pick<Runtime, "readFile">): Promise<string | undefined> => {
  const bytes = runtime.readFile(file);
  if (!bytes.ok) return `${file}: ${bytes.error}`;
  const pack = await verifyPack(bytes.value, sha256, slot.declared.sha256);
  if (!pack.ok) return formatPackFault(pack.error);
  const attached = slot.attach(pack.value);
  return attached.ok ? undefined : formatEntryFault(attached.error);
};
