import type { PackRange } from "../../src/features/packs/table/format.ts";
import type { LoadedPack } from "../../src/features/packs/table/pack.ts";
import { seededWords } from "../lib/random.ts";
import type { Candidate } from "../lib/sample.ts";
import { packFile, RANGES, randomRanges } from "./pack-files.ts";
import { openPack, openTable, resolveCandidates } from "./pack-table.ts";

/** Work that is measured on a pack of a million ranges. */

/** A power of two: the next key is one AND. */
const KEYS = 65_536;

export interface PackWork {
  readonly pack: LoadedPack;
  readonly candidates: readonly Candidate[];
}

export async function packWork(): Promise<PackWork> {
  const ranges = [...randomRanges()];
  const made = await packFile(ranges);
  const pack = await openPack(made.file);
  const { word } = seededWords(1);
  const any = (): PackRange => ranges[word() % RANGES] as PackRange;
  const hits = Uint32Array.from({ length: KEYS }, () => {
    const { from, to } = any();
    return from + (word() % (to - from + 1));
  });
  const misses = Uint32Array.from({ length: KEYS }, () => any().to + 1);
  const starts = Uint32Array.from({ length: KEYS }, () => any().from);
  // Separate loops: a shared one would be megamorphic, unlike the gateway's single call site.
  const inPack = (keys: Uint32Array) => (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += pack.find(keys[at & (KEYS - 1)] as number);
    return sum;
  };
  const lookUp = (keys: Uint32Array, find: (key: number) => number) => (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += find(keys[at & (KEYS - 1)] as number);
    return sum;
  };
  const loopAlone = (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += hits[at & (KEYS - 1)] as number;
    return sum;
  };
  const places = new Map(ranges.map(({ from, region }) => [from, region]));
  const bySearch = (key: number): number => findAmongObjects(ranges, key)?.region.length ?? 0;
  const byMap = (key: number): number => places.get(key)?.length ?? 0;
  const hit = "pack, hit";
  return {
    pack,
    candidates: [
      { name: hit, run: inPack(hits) },
      { name: "pack, miss", against: hit, run: inPack(misses) },
      { name: "the loop and its keys alone", against: hit, run: loopAlone },
      { name: "binary search over objects, hit", against: hit, run: lookUp(hits, bySearch) },
      { name: "Map by first key, exact keys only", against: hit, run: lookUp(starts, byMap) },
      ...resolveCandidates(await openTable(made), hits, word),
      { name: "verify and index the whole file", run: repeated(async () => (await openPack(made.file)).bytes) },
      {
        name: "check and compile a table, its pack included",
        run: repeated(async () => (await openTable(made)).routeCount),
      },
    ],
  };
}

const repeated = (work: () => Promise<number>) => async (times: number) => {
  let sum = 0;
  for (let at = 0; at < times; at++) sum += await work();
  return sum;
};

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
