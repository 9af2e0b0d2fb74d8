import { performance } from "node:perf_hooks";

/** Work to be timed. */
export interface Candidate {
  readonly name: string;
  /** Name of the reference candidate, for the ratio. */
  readonly against?: string;
  /** Does the work `times` times. The result depends on each, so that none is optimised away. */
  readonly run: (times: number) => number | Promise<number>;
}

export interface SampleOptions {
  readonly rounds: number;
  /** Time per candidate and round. */
  readonly sampleMs: number;
  /** Processor time that the candidates have used; `undefined` if the system does not report it. */
  readonly processorMs?: () => number | undefined;
  readonly onRound?: (round: number) => void;
}

/** Median and range over the rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Sampled {
  readonly name: string;
  readonly nsPerRun: Spread;
  /** The processor's part of it. On a shared machine the rest is waiting. */
  readonly processorNsPerRun: Spread | undefined;
  /** Divided by the reference's time in the same round: a shared machine varies between rounds. */
  readonly ratio: Spread | undefined;
}

/** Sums all results and is read once, so that no work can be optimised away. */
let sink = 0;

/** Times all candidates in turn and reverses the order every other round, to cancel order effects. */
export async function sample(candidates: readonly Candidate[], options: SampleOptions): Promise<Sampled[]> {
  const times = new Map<Candidate, number>();
  for (const candidate of candidates) times.set(candidate, await calibrate(candidate, options.sampleMs));
  const { processorMs = () => undefined } = options;
  const figures = await inTurn(
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
  if (!Number.isFinite(sink)) throw new Error("a candidate's result is not a finite number");
  const nsOf = (name: string) => (figures.get(name) ?? []).map(({ ns }) => ns);
  return candidates.map(({ name, against }) => {
    const worked = (figures.get(name) ?? []).flatMap(({ processorNs }) => processorNs ?? []);
    return {
      name,
      nsPerRun: spread(nsOf(name)),
      processorNsPerRun: worked.length === 0 ? undefined : spread(worked),
      ratio: against === undefined ? undefined : spread(ratios(nsOf(name), nsOf(against))),
    };
  });
}

/** Measures each candidate once per round, with alternating order. Figures by name, in round order. */
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

/** Each round's figure divided by the reference's figure of the same round. */
export const ratios = (own: readonly number[], reference: readonly number[]): number[] =>
  own.map((figure, round) => figure / (reference[round] ?? Number.NaN));

export function spread(figures: readonly number[]): Spread {
  return { median: quantile(figures, 0.5), min: quantile(figures, 0), max: quantile(figures, 1) };
}

/** The figure that a share of the others is below, in proportion between the two beside it. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below === above ? below : below + (above - below) * (at - Math.floor(at));
}

/** The number of runs that takes about `sampleMs`. Also warms up the compiler. */
async function calibrate(candidate: Candidate, sampleMs: number): Promise<number> {
  let times = 1;
  for (;;) {
    // The best of three: the first run may build state, and the second may collect its garbage.
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
