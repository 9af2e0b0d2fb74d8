import { type Fault, parseTableText } from "../routing/index.ts";
import type { PackCopy } from "./pack-copy.ts";
import { loadTableOctets, tableText } from "./table-octets.ts";

/**
 * What is wrong with the packs that a table names, as KV holds them: they have to be there, whole and verified, before a table
 * with them comes into force. What cannot be read just now is a fault too. None for a text that is no table.
 */
export async function packFaults(octets: Uint8Array, packs: PackCopy): Promise<readonly Fault[]> {
  // Most tables have none, and are compiled once only.
  if (!hasPacks(octets)) return [];
  const table = loadTableOctets(octets, 0);
  if (!table.ok) return [];
  const faults: Fault[] = [];
  for (const slot of table.value.packs.values()) {
    const why = await packs.faultOf(slot);
    if (why !== undefined) {
      faults.push({ pointer: `/packs/${slot.name}`, kind: "pack", message: `The pack cannot be used: ${why}.` });
    }
  }
  return faults;
}

function hasPacks(octets: Uint8Array): boolean {
  const text = tableText(octets);
  const json = text.ok ? parseTableText(text.value) : text;
  return json.ok && typeof json.value === "object" && json.value !== null && "packs" in json.value;
}
