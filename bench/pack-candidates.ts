import { pooledEntropy } from "../src/edge/entropy.ts";
import { encodePack } from "../src/routing/pack/encode.ts";
import { packFaultText } from "../src/routing/pack/fault-text.ts";
import type { PackRange } from "../src/routing/pack/format.ts";
import type { LoadedPack } from "../src/routing/pack/pack.ts";
import { verifyPack } from "../src/routing/pack/verify.ts";
import type { Candidate } from "./sample.ts";

/** One million ranges, and ways to look a key up in them. */

export const RANGES = 1_000_000;

const REGIONS = Array.from({ length: 64 }, (_, at) => `r${String(at).padStart(2, "0")}`);

/** Keys in turn; a power of two, so that going round is one AND. */
const KEYS = 65_536;

/** In workerd there is no other SHA-256, and in Node it is the same. */
export const subtleSha256 = async (octets: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", octets));

/** Ranges over a shard key of 32 bits, each with a gap behind it that is about as wide. */
export function* drawnRanges(count = RANGES): Generator<PackRange> {
  const { word } = pooledEntropy();
  const step = Math.floor(2 ** 32 / count);
  for (let at = 0; at < count; at++) {
    const from = at * step + (word() % (step >>> 2));
    const to = from + (word() % (step >>> 1));
    yield { from, to, region: REGIONS[word() % REGIONS.length] as string };
  }
}

export interface PackWork {
  readonly pack: LoadedPack;
  readonly candidates: readonly Candidate[];
}

/** The pack as a file, and everything that is measured on it. */
export async function packWork(): Promise<PackWork> {
  const ranges = [...drawnRanges()];
  const file = await packFile(ranges);
  const pack = await opened(file);
  const { word } = pooledEntropy();
  const hits = Float64Array.from({ length: KEYS }, () => {
    const { from, to } = ranges[word() % RANGES] as PackRange;
    return from + (word() % (to - from + 1));
  });
  const misses = Float64Array.from({ length: KEYS }, () => (ranges[word() % RANGES] as PackRange).to + 1);
  const places = new Map(ranges.map(({ from, region }) => [from, region]));
  const starts = Float64Array.from({ length: KEYS }, () => (ranges[word() % RANGES] as PackRange).from);
  const looked = (keys: Float64Array, find: (key: number) => number) => (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += find(keys[at & (KEYS - 1)] as number);
    return sum;
  };
  // A loop of its own, as a gateway has one place that asks: one loop for all would be compiled for none.
  const inPack = (keys: Float64Array) => (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += pack.find(keys[at & (KEYS - 1)] as number);
    return sum;
  };
  const bySearch = (key: number): number => findAmongObjects(ranges, key)?.region.length ?? 0;
  return {
    pack,
    candidates: [
      { name: "pack, hit", run: inPack(hits) },
      { name: "pack, miss", against: "pack, hit", run: inPack(misses) },
      { name: "binary search over objects, hit", against: "pack, hit", run: looked(hits, bySearch) },
      {
        name: "Map by first key, exact keys only",
        against: "pack, hit",
        run: looked(starts, (key) => places.get(key)?.length ?? 0),
      },
      {
        name: "verify and index the whole file",
        run: async (times) => {
          let sum = 0;
          for (let at = 0; at < times; at++) sum += (await opened(file)).bytes;
          return sum;
        },
      },
    ],
  };
}

export async function packFile(ranges: Iterable<PackRange>): Promise<Uint8Array<ArrayBuffer>> {
  const encoded = await encodePack(ranges, { fieldBits: 32, sha256: subtleSha256 });
  if (!encoded.ok) throw new Error(packFaultText(encoded.error));
  const { header, pages, bytes } = encoded.value;
  const file = new Uint8Array(bytes);
  let offset = 0;
  for (const part of [header, ...pages]) {
    file.set(part, offset);
    offset += part.length;
  }
  return file;
}

async function opened(file: Uint8Array<ArrayBuffer>): Promise<LoadedPack> {
  const verified = await verifyPack(file, subtleSha256);
  if (!verified.ok) throw new Error(packFaultText(verified.error));
  return verified.value;
}

function findAmongObjects(ranges: readonly PackRange[], key: number): PackRange | undefined {
  let low = 0;
  let high = ranges.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((ranges[middle] as PackRange).from <= key) low = middle;
    else high = middle - 1;
  }
  const found = ranges[low];
  return found !== undefined && found.from <= key && key <= found.to ? found : undefined;
}
