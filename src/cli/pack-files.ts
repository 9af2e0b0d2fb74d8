import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { pointerTo } from "../routing/faults.ts";
import type { CompiledTable, Fault } from "../routing/index.ts";
import { packFaultText } from "../routing/pack/fault-text.ts";
import type { Sha256 } from "../routing/pack/format.ts";
import { entryFaultText } from "../routing/pack/slot.ts";
import { verifyPack } from "../routing/pack/verify.ts";
import type { World } from "./world.ts";

export const sha256: Sha256 = (octets) => Promise.resolve(createHash("sha256").update(octets).digest());

/** Where the pack of a table lies: in the folder `packs` beside it, by its digest. */
export const packFile = (tablePath: string, digest: string): string =>
  join(tablePath === "-" ? "." : dirname(tablePath), "packs", `${digest}.pack`);

/** Loads every pack of a table whole, each range verified; what is wrong with them. */
export const loadPackFiles = async (
  table: CompiledTable,
  tablePath: string,
  world: Pick<World, "readFile">,
): Promise<readonly Fault[]> => {
  const faults: Fault[] = [];
  for (const slot of table.packs.values()) {
    const why = await loadOne(slot, packFile(tablePath, slot.declared.sha256), world);
    if (why === undefined) continue;
    const message = `The pack cannot be used: ${why}; make it again with \`waybill table pack\`.`;
    faults.push({ pointer: pointerTo(["packs", slot.name]), kind: "pack", message });
  }
  return faults;
};

type Slot = CompiledTable["packs"] extends ReadonlyMap<string, infer Value> ? Value : never;

const loadOne = async (slot: Slot, file: string, world: Pick<World, "readFile">): Promise<string | undefined> => {
  const octets = world.readFile(file);
  if (!octets.ok) return `${file}: ${octets.error}`;
  const pack = await verifyPack(octets.value, sha256, slot.declared.sha256);
  if (!pack.ok) return packFaultText(pack.error);
  const attached = slot.attach(pack.value);
  return attached.ok ? undefined : entryFaultText(attached.error);
};
