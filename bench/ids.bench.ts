import type { Bench, BenchOptions } from "./bench.ts";
import { idCandidates } from "./id-candidates.ts";
import type { Section } from "./report.ts";
import { type Candidate, sample } from "./sample.ts";
import { startWorker } from "./workerd.ts";

/** A request to workerd takes some tenths of a millisecond, which must not count. */
const WORKERD_SAMPLE_FACTOR = 2;

/** Reading and minting IDs: in Node, and inside workerd, where the gateway does it. */
export const idsBench: Bench = {
  name: "ids",
  run: async (options) => [await inNode(options), await inWorkerd(options)],
};

async function inNode(options: BenchOptions): Promise<Section> {
  const candidates = idCandidates();
  for (const { name, against, run } of candidates) {
    const rival = candidates.find((other) => other.name === against && name.includes("parse"));
    // The same texts must give the same fields, or else the comparison is worth nothing.
    if (rival !== undefined && rival.run(1000) !== run(1000)) throw new Error(`"${name}" and "${against}" differ`);
  }
  return measure("IDs in Node", candidates, options);
}

async function inWorkerd(options: BenchOptions): Promise<Section> {
  const worker = await startWorker({ worker: "ids.ts", tableText: "{}" });
  try {
    const candidates = idCandidates().map((candidate) => ({ ...candidate, run: remotely(worker.url, candidate.name) }));
    return await measure("IDs inside workerd", candidates, {
      ...options,
      sampleMs: options.sampleMs * WORKERD_SAMPLE_FACTOR,
    });
  } finally {
    await worker.stop();
  }
}

const remotely = (url: string, name: string) => async (times: number) => {
  const response = await fetch(`${url}/?candidate=${encodeURIComponent(name)}&times=${times}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`workerd answered ${response.status}: ${text}`);
  return Number(text);
};

async function measure(title: string, candidates: readonly Candidate[], options: BenchOptions): Promise<Section> {
  const { rounds, sampleMs, progress } = options;
  const onRound = (round: number) => progress(`${title}: round ${round} of ${rounds}`);
  const sampled = await sample(candidates, { rounds, sampleMs, onRound });
  return {
    title,
    note: `Median (range) over ${rounds} round(s), ${sampleMs} ms each. The ratio is to the row named in the last column.`,
    columns: ["work", "ns", "x", "compared with"],
    rows: sampled.map(({ name, nsPerRun, ratio }) => {
      const against = candidates.find((candidate) => candidate.name === name)?.against;
      return [name, nsPerRun, ratio ?? null, against ?? null];
    }),
  };
}
