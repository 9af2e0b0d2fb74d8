import type { PackRange } from "../../src/features/packs/table/format.ts";
import { encodePack, formatPackFault } from "../../src/features/packs/table/format.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import { seededWords } from "../lib/random.ts";

/** A pack of a million ranges, and a table that routes by it. */

export const RANGES = 1_000_000;

/** The shard key of a HotGuid. */
const FIELD_BITS = 32;

const REGIONS = Array.from({ length: 64 }, (_, at) => `r${String(at).padStart(2, "0")}`);

/** The SHA-256 that both workerd and Node have. */
export const subtleSha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** Ranges of a 32-bit shard key with gaps of about the same width. Deterministic. */
export function* randomRanges(count = RANGES): Generator<PackRange> {
  const { word } = seededWords(count);
  const step = Math.floor(2 ** FIELD_BITS / count);
  for (let at = 0; at < count; at++) {
    const from = at * step + (word() % (step >>> 2));
    const to = from + (word() % (step >>> 1));
    yield { from, to, region: REGIONS[word() % REGIONS.length] as string };
  }
}

export interface PackFile {
  readonly file: Uint8Array<ArrayBuffer>;
  /** JSON of a table whose only route uses the pack. */
  readonly tableText: string;
}

export async function packFile(ranges: Iterable<PackRange>): Promise<PackFile> {
  const encoded = await encodePack(ranges, { fieldBits: FIELD_BITS, sha256: subtleSha256 });
  if (!encoded.ok) throw new Error(formatPackFault(encoded.error));
  const { header, pages, bytes, regions, sha256 } = encoded.value;
  const file = new Uint8Array(bytes);
  let offset = 0;
  for (const part of [header, ...pages]) {
    file.set(part, offset);
    offset += part.length;
  }
  const shards = { sha256, bytes, ranges: encoded.value.ranges, bits: FIELD_BITS, regions };
  const table = {
    ...tableAround(regions),
    routes: [{ when: { layout: "hotguid" }, pack: "shards" }],
    packs: { shards },
  };
  return { file, tableText: JSON.stringify(table) };
}

/** The same table without a pack: one route for all IDs. */
export const plainTable = () => ({
  ...tableAround(REGIONS),
  routes: [{ when: { layout: "hotguid" }, region: REGIONS[0] as string }],
});

const tableAround = (regions: readonly string[]): Omit<DeclaredTable, "routes"> => ({
  regions: Object.fromEntries(regions.map((name) => [name, { origins: [{ url: "http://origin.test" }] }])),
  entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
});
