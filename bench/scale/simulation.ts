import { seededWords } from "../lib/random.ts";
import { type Inputs, MILLION } from "./inputs.ts";
import * as model from "./model.ts";

type Rules = Pick<Inputs, "refreshSeconds" | "refreshJitter" | "reportSeconds">;

/** When an isolate reads the pointer, as `test/edge/table/scale-rules.slow.test.ts` compares with a real one, and when it reports. */
export class SimulatedIsolate {
  readonly #rules: Rules;
  readonly #uniform: () => number;
  #readDueSeconds: number;
  #reportDueSeconds: number;

  /** `uniform`: random from 0 to 1. The due times are those of one that has run before, 0 for a new one. */
  constructor(rules: Rules, uniform: () => number, readDueSeconds = 0, reportDueSeconds = 0) {
    this.#rules = rules;
    this.#uniform = uniform;
    this.#readDueSeconds = readDueSeconds;
    this.#reportDueSeconds = reportDueSeconds;
  }

  /** Whether a request of now makes it read the pointer. */
  reads(nowSeconds: number): boolean {
    if (nowSeconds < this.#readDueSeconds) return false;
    const { refreshSeconds, refreshJitter } = this.#rules;
    this.#readDueSeconds = nowSeconds + refreshSeconds * (1 - refreshJitter + 2 * refreshJitter * this.#uniform());
    return true;
  }

  reports(nowSeconds: number): boolean {
    if (nowSeconds < this.#reportDueSeconds) return false;
    this.#reportDueSeconds = nowSeconds + this.#rules.reportSeconds;
    return true;
  }
}

const FROM = 20;
const SECONDS = 120;

/** Two minutes in which one table is published, request by request. */
export function simulate(inputs: Inputs, seed: number) {
  const { word } = seededWords(seed);
  const uniform = (): number => (word() + 0.5) / 2 ** 32;
  const exponential = (mean: number): number => -mean * Math.log(uniform());
  const { isolateLifeSeconds, refreshSeconds, reportSeconds, bodyFillSeconds } = inputs;
  const counts = { requests: 0, starts: 0, pointerReads: 0, bodyReads: 0, reports: 0 };
  const propagation: number[] = [];
  for (const { isolates, requestsPerSecond } of model.locationsOf(inputs)) {
    const visibleSeconds = FROM + inputs.publishSeconds + inputs.kvDelaySeconds * uniform();
    /** When each isolate of the location first needs the new body. */
    const needed: number[] = [];
    for (let stream = 0; stream < isolates; stream++) {
      let endSeconds = exponential(isolateLifeSeconds);
      let isolate = new SimulatedIsolate(inputs, uniform, refreshSeconds * uniform(), reportSeconds * uniform());
      let hasNew = false;
      for (
        let now = exponential(1 / requestsPerSecond);
        now < FROM + SECONDS;
        now += exponential(1 / requestsPerSecond)
      ) {
        const counted = now >= FROM ? 1 : 0;
        counts.requests += counted;
        if (now >= endSeconds) {
          counts.starts += counted;
          endSeconds = now + exponential(isolateLifeSeconds);
          isolate = new SimulatedIsolate(inputs, uniform);
        }
        if (isolate.reads(now)) {
          counts.pointerReads += counted;
          if (!hasNew && now >= visibleSeconds) {
            hasNew = true;
            needed.push(now);
            propagation.push(now + bodyFillSeconds - FROM);
          }
        }
        if (isolate.reports(now)) counts.reports += counted;
      }
    }
    // The first one fills the location's cache.
    const filledSeconds = Math.min(...needed) + bodyFillSeconds;
    counts.bodyReads += needed.filter((seconds) => seconds < filledSeconds).length;
  }
  return { ...counts, propagation: propagation.toSorted((a, b) => a - b) };
}

/** A figure by its formula and by the simulation, and how far their ratio may be from 1. */
export interface Compared {
  readonly what: string;
  readonly formula: number;
  readonly simulated: number;
  readonly band: number;
}

export const isWithin = ({ formula, simulated, band }: Compared): boolean => Math.abs(simulated / formula - 1) <= band;

/**
 * All isolates, each with a hundredth of its requests: an isolate depends on requests only by the wait for the next one, and
 * the formulas have that wait too.
 */
export const THINNED: Inputs = { ...MILLION, requestsPerSecond: 10_000, isolateRequestsPerSecond: 1 };

export function comparisons(seed: number, inputs = THINNED): readonly Compared[] {
  const found = simulate(inputs, seed);
  const { propagation } = found;
  const quantile = (share: number): number =>
    propagation[Math.ceil(share * model.isolatesOf(inputs)) - 1] ?? Number.NaN;
  const rate = (what: string, count: number, formula: number, band: number): Compared => ({
    what,
    formula,
    band,
    simulated: count / SECONDS,
  });
  return [
    rate("requests", found.requests, inputs.requestsPerSecond, 0.01),
    rate("starts", found.starts, model.startsPerSecond(inputs), 0.15),
    rate("pointer reads", found.pointerReads, model.pointerReadsPerSecond(inputs), 0.02),
    rate("reports", found.reports, model.reportsPerSecond(inputs), 0.02),
    { what: "body reads", formula: model.bodyReadsOfRevision(inputs), simulated: found.bodyReads, band: 0.1 },
    // A sixth of all isolates share the busiest location's view of KV.
    { what: "half", formula: model.propagationSeconds(inputs, 0.5), simulated: quantile(0.5), band: 0.2 },
    { what: "99 %", formula: model.propagationSeconds(inputs, 0.99), simulated: quantile(0.99), band: 0.08 },
    {
      what: "all",
      formula: model.worstPropagationSeconds(inputs),
      simulated: propagation.at(-1) ?? Number.NaN,
      band: 0.15,
    },
  ];
}
