import { declaredPacks, type Fault } from "../routing/index.ts";
import { PackSlot } from "../routing/pack/slot.ts";
import type { PackUploads } from "./pack-copy.ts";
import { tableText } from "./table-octets.ts";

/**
 * What is wrong with the packs that a table names, as KV holds them: they have to be there, whole and verified, before a table
 * with them comes into force. What cannot be read just now is a fault too. None for packs that are not declared as the schema
 * says: the check of the table finds that.
 */
export async function packFaults(bytes: Uint8Array, packs: PackUploads): Promise<readonly Fault[]> {
  const text = tableText(bytes);
  const faults: Fault[] = [];
  for (const [name, declared] of text.ok ? declaredPacks(text.value) : []) {
    const why = await packs.faultOf(new PackSlot(name, declared));
    if (why !== undefined) {
      faults.push({ pointer: `/packs/${name}`, kind: "pack", message: `The pack cannot be used: ${why}.` });
    }
  }
  return faults;
}
