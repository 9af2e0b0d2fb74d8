import type { PackRange } from "../../../src/features/packs/table/format.ts";
import { type EncodedPack, encodePack } from "../../../src/features/packs/table/format.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import type { DeclaredPack } from "../../../src/features/packs/table/schema.ts";
import type { Sha256 } from "../../../src/routing/bytes.ts";

const subtleSha256: Sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** A pack as it is made. */
export async function makePack(ranges: readonly PackRange[], rangesPerPage = 1): Promise<EncodedPack> {
  const encoded = await encodePack(ranges, { fieldBits: 32, sha256: subtleSha256, rangesPerPage });
  if (!encoded.ok) throw new Error(encoded.error.reason);
  return encoded.value;
}

/** A table's declaration of a pack. */
export const declaredOf = ({ sha256, bytes, ranges, regions }: EncodedPack): DeclaredPack => ({
  sha256,
  bytes,
  ranges,
  bits: 32,
  regions: [...regions],
});

/** Puts a pack into KV as publishing does, and gives what a table says of it. */
export async function storePack(
  kv: KVNamespace,
  ranges: readonly PackRange[],
  rangesPerPage = 1,
): Promise<DeclaredPack> {
  const pack = await makePack(ranges, rangesPerPage);
  for (const [number, page] of pack.pages.entries()) await kv.put(pageKey(pack.sha256, number), page);
  await kv.put(packKey(pack.sha256), pack.header);
  return declaredOf(pack);
}

/** Shard keys in two pages, and what lies between them. */
export const RANGES: readonly PackRange[] = [
  { from: 0, to: 999, region: "eu" },
  { from: 5000, to: 5999, region: "us" },
];
