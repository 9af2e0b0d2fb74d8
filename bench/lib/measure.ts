import { exactProcessorMs } from "./process-usage.ts";
import type { BenchOptions, Section } from "./report.ts";
import { type Candidate, sample } from "./sample.ts";
import { startWorker } from "./workerd.ts";

/** Times the same candidates in Node and in workerd, the gateway's runtime. */

/** Longer samples hide the cost of the request to workerd, some tenths of a millisecond. */
const WORKERD_SAMPLE_FACTOR = 2;

export const inNode = (what: string, candidates: readonly Candidate[], options: BenchOptions): Promise<Section> =>
  measure(`${what} in Node`, candidates, options, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  });

/** `worker`: a `candidateWorker` with the same candidates. */
export async function inWorkerd(
  what: string,
  candidates: readonly Candidate[],
  worker: URL,
  options: BenchOptions,
): Promise<Section> {
  const { url, pid, stop } = await startWorker({ worker });
  try {
    const remote = candidates.map((candidate) => ({ ...candidate, run: remotely(url, candidate.name) }));
    const sampleMs = options.sampleMs * WORKERD_SAMPLE_FACTOR;
    return await measure(`${what} inside workerd`, remote, { ...options, sampleMs }, () => exactProcessorMs(pid));
  } finally {
    await stop();
  }
}

const remotely = (url: string, name: string) => async (times: number) => {
  const response = await fetch(`${url}/?candidate=${encodeURIComponent(name)}&times=${times}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`workerd answered ${response.status}: ${text}`);
  return Number(text);
};

async function measure(
  title: string,
  candidates: readonly Candidate[],
  options: BenchOptions,
  processorMs: () => number | undefined,
): Promise<Section> {
  const { rounds, sampleMs, progress } = options;
  const onRound = (round: number) => progress(`${title}: round ${round} of ${rounds}`);
  const sampled = await sample(candidates, { rounds, sampleMs, processorMs, onRound });
  return {
    title,
    note: `Median (range) over ${rounds} round(s), ${sampleMs} ms each. The ratio is to the row named in the last column.`,
    columns: ["work", "ns", "CPU ns", "x", "compared with"],
    rows: sampled.map(({ name, nsPerRun, processorNsPerRun, ratio }) => {
      const against = candidates.find((candidate) => candidate.name === name)?.against;
      return [name, nsPerRun, processorNsPerRun ?? null, ratio ?? null, against ?? null];
    }),
  };
}
