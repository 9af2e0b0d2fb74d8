import { inNode, inWorkerd } from "../lib/measure.ts";
import type { Bench, BenchOptions, Section } from "../lib/report.ts";
import { spread } from "../lib/sample.ts";
import { loadingFromKv } from "./load-from-kv.ts";
import { packWork } from "./pack-candidates.ts";
import { packFile, RANGES, randomRanges } from "./pack-files.ts";

const ENCODE_ROUNDS_MAX = 5;

/** A pack of a million ranges: encoding, loading, look-ups, resolving IDs, and memory. */
export const packsBench: Bench = {
  name: "packs",
  run: async (options) => {
    const { candidates, pack } = await packWork();
    const { ranges, bytes, pages } = pack.header;
    return [
      {
        title: "A pack of a million ranges",
        note: "Keys of 32 bits, 64 regions. Memory is that of all pages, the same in Node and workerd.",
        columns: ["ranges", "pages", "file, MiB", "memory, MiB"],
        rows: [[String(ranges), pages.length, bytes / 2 ** 20, pack.bytes / 2 ** 20]],
      },
      await encoding(options),
      await inNode("Packs", candidates, options),
      await inWorkerd("Packs", candidates, new URL("packs.worker.ts", import.meta.url), options),
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
    note: `From ${RANGES} objects in memory, with all checks, in Node: median (range) of ${count}.`,
    columns: ["work", "ms"],
    rows: [["check and encode", spread(tookMs)]],
  };
}
