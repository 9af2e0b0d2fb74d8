import { type Fault, parseTableText } from "../routing/index.ts";
import { faultOfStored } from "./packs.ts";
import { loadTableOctets, tableText } from "./table-octets.ts";
import { within } from "./table-store.ts";

/** For one part; the one who publishes waits for all of them. */
const PART_DEADLINE_MS = 1_500;

/**
 * What is wrong with the packs that a table names, as KV holds them: they have to be there, whole and verified, before a table
 * with them comes into force. What cannot be read just now is a fault too. None for a text that is no table.
 */
export async function packFaults(octets: Uint8Array, kv: KVNamespace): Promise<readonly Fault[]> {
  // Most tables have none, and are compiled once only.
  if (!hasPacks(octets)) return [];
  const table = loadTableOctets(octets, 0);
  if (!table.ok) return [];
  const get = async (key: string): Promise<ArrayBuffer | null> => {
    const part = await within(() => kv.get(key, "arrayBuffer"), PART_DEADLINE_MS);
    if (part.ok) return part.value;
    throw new Error(`KV did not give ${key} (${part.error.reason})`);
  };
  const faults: Fault[] = [];
  for (const slot of table.value.packs.values()) {
    const why = await faultOfStored(slot, get).catch((error: unknown) => String(error));
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
