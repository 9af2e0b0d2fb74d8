import { performance } from "node:perf_hooks";

/** One thing to be timed. */
export interface Candidate {
  readonly name: string;
  /** The candidate of the same run that its times are divided by; absent for one that stands for itself. */
  readonly against?: string;
  /** Does the work so many times. What it gives depends on every result, so that none can be optimised away. */
  readonly run: (times: number) => number | Promise<number>;
}

export interface SampleOptions {
  readonly rounds: number;
  /** How long one candidate is timed in one round. */
  readonly sampleMs: number;
  /** Processor time that the candidates have used so far; `undefined` where the system does not tell. */
  readonly processorMs?: () => number | undefined;
  readonly onRound?: (round: number) => void;
}

/** Median and range of one figure over the rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Sampled {
  readonly name: string;
  readonly nsPerRun: Spread;
  /** What of it the processor worked: on a machine that others share, the rest is waiting for them. */
  readonly processorNsPerRun: Spread | undefined;
  /** Divided by the reference's time in the same round, since a machine that others share changes between rounds. */
  readonly ratio: Spread | undefined;
}

/** All results end here. It is read once a run, so that the work before it has to be done. */
let sink = 0;

/** Times all candidates in turn, in the opposite order every other round, so that none has the better place. */
export async function sample(candidates: readonly Candidate[], options: SampleOptions): Promise<Sampled[]> {
  const times = new Map<Candidate, number>();
  for (const candidate of candidates) times.set(candidate, await calibrate(candidate, options.sampleMs));
  const { processorMs = () => undefined } = options;
  const took = await inTurn(
    candidates,
    options.rounds,
    async (candidate) => {
      const count = times.get(candidate) ?? 1;
      const before = processorMs();
      const wallMs = await timeMs(candidate, count);
      const after = processorMs();
      const workedMs = before === undefined || after === undefined ? undefined : after - before;
      return { ns: (wallMs * 1e6) / count, processorNs: workedMs && (workedMs * 1e6) / count };
    },
    options.onRound,
  );
  if (!Number.isFinite(sink)) throw new Error("a candidate gave a result that is no number");
  const nsOf = (name: string) => (took.get(name) ?? []).map(({ ns }) => ns);
  return candidates.map(({ name, against }) => {
    const worked = (took.get(name) ?? []).flatMap(({ processorNs }) => processorNs ?? []);
    return {
      name,
      nsPerRun: spread(nsOf(name)),
      processorNsPerRun: worked.length === 0 ? undefined : spread(worked),
      ratio: against === undefined ? undefined : spread(ratios(nsOf(name), nsOf(against))),
    };
  });
}

/** Measures each candidate once a round, the order reversed every other round; the figures by name, round by round. */
export async function inTurn<Item extends { readonly name: string }, Figure>(
  candidates: readonly Item[],
  rounds: number,
  measure: (candidate: Item) => Promise<Figure>,
  onRound?: (round: number) => void,
): Promise<ReadonlyMap<string, Figure[]>> {
  const figures = new Map<string, Figure[]>(candidates.map(({ name }) => [name, []]));
  const backwards = candidates.toReversed();
  for (let round = 1; round <= rounds; round++) {
    for (const candidate of round % 2 === 1 ? candidates : backwards) {
      figures.get(candidate.name)?.push(await measure(candidate));
    }
    onRound?.(round);
  }
  return figures;
}

/** Each round's figure divided by the reference's figure of that round. */
export const ratios = (own: readonly number[], reference: readonly number[]): number[] =>
  own.map((figure, round) => figure / (reference[round] ?? Number.NaN));

export function spread(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  const below = sorted[Math.floor(half)] ?? Number.NaN;
  const above = sorted[Math.ceil(half)] ?? Number.NaN;
  return { median: (below + above) / 2, min: sorted.at(0) ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** So many runs as take about `sampleMs`. It warms the candidate up as well: the compiler has seen it run that long. */
async function calibrate(candidate: Candidate, sampleMs: number): Promise<number> {
  let times = 1;
  for (;;) {
    // Of three: the first run of all may build what the others only use, and the second still collect its garbage.
    const runs = [await timeMs(candidate, times), await timeMs(candidate, times), await timeMs(candidate, times)];
    const tookMs = Math.min(...runs);
    if (tookMs >= sampleMs / 2) return Math.max(1, Math.round((times * sampleMs) / tookMs));
    times *= 2;
  }
}

async function timeMs(candidate: Candidate, times: number): Promise<number> {
  const startedMs = performance.now();
  sink += await candidate.run(times);
  return performance.now() - startedMs;
}
