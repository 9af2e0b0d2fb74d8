import type { Bench, BenchOptions } from "./bench.ts";
import { inNode, inWorkerd } from "./in-both.ts";
import { packWork } from "./pack-candidates.ts";
import { packFile, RANGES, randomRanges } from "./pack-files.ts";
import { loadingFromKv } from "./pack-load.ts";
import type { Section } from "./report.ts";
import { spread } from "./sample.ts";

const ENCODE_ROUNDS_MAX = 5;

/** One million ranges in a pack: making it, loading it, looking keys up and resolving IDs, and the memory that it takes. */
export const packsBench: Bench = {
  name: "packs",
  run: async (options) => {
    const { candidates, pack } = await packWork();
    const { ranges, bytes, pages } = pack.header;
    return [
      {
        title: "A pack of a million ranges",
        note: "Of a key of 32 bits, in 64 regions. Memory is that of all pages, in Node and workerd alike.",
        columns: ["ranges", "pages", "file, MiB", "memory, MiB"],
        rows: [[String(ranges), pages.length, bytes / 2 ** 20, pack.bytes / 2 ** 20]],
      },
      await encoding(options),
      await inNode("Packs", candidates, options),
      await inWorkerd("Packs", candidates, "packs.ts", options),
      await loadingFromKv(options),
    ];
  },
};

async function encoding({ rounds, progress }: BenchOptions): Promise<Section> {
  const ranges = [...randomRanges()];
  const count = Math.min(rounds, ENCODE_ROUNDS_MAX);
  const tookMs: number[] = [];
  for (let round = 1; round <= count; round++) {
    const startedMs = performance.now();
    await packFile(ranges);
    tookMs.push(performance.now() - startedMs);
    progress(`Packs, encoding: round ${round} of ${count}`);
  }
  return {
    title: "Encoding a pack",
    note: `From ${RANGES} objects in memory, every check included, in Node: median (range) of ${count}.`,
    columns: ["work", "ms"],
    rows: [["check and encode", spread(tookMs)]],
  };
}
