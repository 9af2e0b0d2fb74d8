import { fleetOf } from "./figures.ts";
import { type Inputs, MILLION } from "./inputs.ts";
import { breakerShareInSecond, propagationOf } from "./propagation.ts";
import { largestSecond, newValueReads, pointerReadsPerSecond, reportsPerSecond, startsPerSecond } from "./renewal.ts";
import { type Outcome, simulate } from "./simulation.ts";

/** A figure by its formula and by the simulation, and how far their ratio may be from 1. */
export interface Compared {
  readonly what: string;
  readonly unit: string;
  readonly formula: number;
  readonly simulated: number;
  readonly band: number;
}

/**
 * All locations, and as many isolates as in earnest, each with a hundredth of its requests: what an isolate does depends on
 * requests by the wait for the next one alone, and the formulas have that wait too.
 */
export const THINNED: Inputs = { ...MILLION, requestsPerSecond: 10_000, isolateRequestsPerSecond: 1 };

/** A tenth of the isolates, each with a tenth of its requests: bursts are blurred by the wait for a request, and it is short. */
export const BURSTS: Inputs = { ...MILLION, requestsPerSecond: 10_000, isolateRequestsPerSecond: 10 };

export const DEPLOYED_WITHIN_SECONDS = 5;

const STEADY_FROM = 20;
const STEADY_SECONDS = 120;
const BURST_FROM = 10;
const BURST_SECONDS = 15;

/** Long enough to see reports come in a bunch again, each cycle. */
const DEPLOYED_SECONDS = 30;

export const isWithin = ({ formula, simulated, band }: Compared): boolean => Math.abs(simulated / formula - 1) <= band;

export const comparisons = (seed: number): readonly Compared[] => [...steady(seed), ...deployed(seed), ...dying(seed)];

function steady(seed: number): readonly Compared[] {
  const inputs = THINNED;
  const { locations, isolates, isolateRequestsPerSecond } = fleetOf(inputs);
  const toSeconds = STEADY_FROM + STEADY_SECONDS;
  const found = simulate({ inputs, seed, fromSeconds: STEADY_FROM, toSeconds, publishedAtSeconds: STEADY_FROM });
  const propagation = propagationOf(inputs, isolateRequestsPerSecond, isolates);
  const reports = reportsPerSecond(inputs, locations);
  const rate = (what: string, count: number, formula: number, band: number): Compared => ({
    what,
    unit: "1/s",
    formula,
    simulated: count / STEADY_SECONDS,
    band,
  });
  const time = (what: string, formula: number, simulated: number, band: number): Compared => ({
    what,
    unit: "s",
    formula,
    simulated,
    band,
  });
  return [
    rate("requests", found.requests, inputs.requestsPerSecond, 0.01),
    rate("isolates that begin", found.starts, startsPerSecond(inputs, locations), 0.15),
    rate("pointer reads", found.pointerReads, pointerReadsPerSecond(inputs, locations), 0.02),
    rate("reports to the one object", found.reports, reports, 0.02),
    {
      what: "reports in the busiest second",
      unit: "1/s",
      formula: largestSecond(reports, STEADY_SECONDS),
      simulated: busiest(found),
      band: 0.08,
    },
    {
      what: "body reads of one revision",
      unit: "",
      formula: newValueReads(inputs, locations),
      simulated: found.bodyReads,
      band: 0.1,
    },
    time("new table: half of all isolates", propagation.quantile(0.5), quantileOf(found, 0.5), 0.2),
    time("99 of 100", propagation.quantile(0.99), quantileOf(found, 0.99), 0.08),
    time("all of them, at most", propagation.worstSeconds, quantileOf(found, 1), 0.15),
  ];
}

function deployed(seed: number): readonly Compared[] {
  const inputs = BURSTS;
  const { isolates } = fleetOf(inputs);
  const found = simulate({
    inputs,
    seed,
    fromSeconds: BURST_FROM,
    toSeconds: BURST_FROM + DEPLOYED_SECONDS,
    deployedWithinSeconds: DEPLOYED_WITHIN_SECONDS,
  });
  const burst = (what: string, formula: number, reports: readonly number[]): Compared => ({
    what,
    unit: "1/s",
    formula,
    simulated: Math.max(...reports),
    band: 0.2,
  });
  return [
    burst(
      `busiest second of new code that is everywhere in ${DEPLOYED_WITHIN_SECONDS} s`,
      deploymentCalls(isolates, inputs.reportSeconds),
      found.reportsBySecond,
    ),
    burst(
      "busiest second two cycles later",
      isolates / DEPLOYED_WITHIN_SECONDS,
      found.reportsBySecond.slice(2 * inputs.reportSeconds),
    ),
  ];
}

/** In the first second of new code: isolates that begin, each with a report, and those of the old code that are due. */
export const deploymentCalls = (isolates: number, reportSeconds: number): number =>
  isolates / DEPLOYED_WITHIN_SECONDS + (isolates / reportSeconds) * (1 - 1 / (2 * DEPLOYED_WITHIN_SECONDS));

function dying(seed: number): readonly Compared[] {
  const inputs = BURSTS;
  const { locations, isolates, isolateRequestsPerSecond } = fleetOf(inputs);
  const toSeconds = BURST_FROM + BURST_SECONDS;
  const found = simulate({ inputs, seed, fromSeconds: BURST_FROM, toSeconds, originDiesAtSeconds: BURST_FROM });
  const share = breakerShareInSecond(inputs, isolateRequestsPerSecond);
  return [
    {
      what: "busiest second when an origin dies",
      unit: "1/s",
      // Those whose breaker does not open in that second report as ever.
      formula: isolates * share + (1 - share) * reportsPerSecond(inputs, locations),
      simulated: busiest(found),
      band: 0.15,
    },
  ];
}

const busiest = ({ reportsBySecond }: Outcome): number => Math.max(...reportsBySecond);

function quantileOf({ propagationSeconds }: Outcome, share: number): number {
  const last = propagationSeconds.length - 1;
  return propagationSeconds[Math.min(last, Math.floor(share * propagationSeconds.length))] as number;
}
