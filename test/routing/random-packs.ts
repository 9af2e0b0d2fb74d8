import { encodePack, formatPackFault, type PackRange } from "../../src/features/packs/table/format.ts";
import { verifyPack } from "../../src/features/packs/table/pack.ts";
import type { DeclaredPack } from "../../src/features/packs/table/schema.ts";
import { slotsOf } from "../../src/features/packs/table/slots.ts";
import type { CompiledTable } from "../../src/routing/index.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import { sha256 } from "./packs/pack-cases.ts";
import { tellContents } from "./resolve/oracle.ts";

const CONTENTS: Readonly<Record<string, Pick<DeclaredPack, "bits" | "field" | "slice"> & { ranges: PackRange[] }>> = {
  shards: {
    bits: 32,
    ranges: [
      { from: 0, to: 0, region: "us" },
      { from: 7, to: 1023, region: "ap" },
      { from: 2 ** 31, to: 2 ** 32 - 1, region: "eu" },
    ],
  },
  partitions: { bits: 22, slice: "partition", ranges: [{ from: 1, to: 7, region: "ap" }] },
  persons: {
    bits: 48,
    field: "primaryKey",
    ranges: [
      { from: 0, to: 8312, region: "us" },
      { from: 2 ** 40, to: 2 ** 48 - 1, region: "ap" },
    ],
  },
};

const files = new Map<string, Uint8Array<ArrayBuffer>>();
const declared = new Map<string, DeclaredPack>();

for (const [name, { ranges, bits, ...of }] of Object.entries(CONTENTS)) {
  const encoded = await encodePack(ranges, { fieldBits: bits, sha256, rangesPerPage: 2 });
  if (!encoded.ok) throw new Error(formatPackFault(encoded.error));
  const { header, pages, bytes, regions, sha256: digest } = encoded.value;
  const pack = { sha256: digest, bytes, ranges: encoded.value.ranges, bits, ...of, regions: [...regions] };
  files.set(digest, new Uint8Array(Buffer.concat([header, ...pages])));
  declared.set(name, pack);
  tellContents(digest, ranges);
}

/** Routes to packs whose ranges begin and end among the random keys. */
export const PACK_ROUTES: DeclaredTable["routes"] = [
  { when: { layout: "hotguid" }, pack: "shards" },
  { when: { layout: "hotguid", entity: "parcel" }, pack: "shards" },
  { when: { layout: "hotguid", entity: ["box", "ride"] }, pack: "partitions" },
  { when: { layout: "luuid" }, pack: "persons" },
];

/** The table with the packs that its routes lead to, and no others. */
export const withUsedPacks = (table: DeclaredTable): DeclaredTable => {
  const used = new Set(table.routes.map(({ pack }) => pack));
  const packs = Object.fromEntries([...declared].filter(([name]) => used.has(name)));
  const { packs: _, ...rest } = table;
  return Object.keys(packs).length === 0 ? rest : { ...rest, packs };
};

/** Loads every pack of a compiled table whole. */
export const loadPacks = async (table: CompiledTable): Promise<CompiledTable> => {
  for (const slot of slotsOf(table).values()) {
    const file = files.get(slot.declared.sha256);
    const pack = file && (await verifyPack(file, sha256, slot.declared.sha256));
    if (!pack?.ok || !slot.attach(pack.value).ok) throw new Error(`pack ${slot.name} cannot be loaded`);
  }
  return table;
};
