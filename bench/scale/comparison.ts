import type { Compared } from "./compared.ts";
import { fleetOf } from "./figures.ts";
import { type Inputs, MILLION } from "./inputs.ts";
import { largePacks } from "./large-packs.ts";
import { breakerShareInSecond } from "./propagation.ts";
import { reportsPerSecond } from "./renewal.ts";
import { simulate } from "./simulation.ts";
import { steady } from "./steady.ts";

/** A tenth of the isolates, each with a tenth of its requests: bursts are blurred by the wait for a request, and it is short. */
export const BURSTS: Inputs = { ...MILLION, requestsPerSecond: 10_000, isolateRequestsPerSecond: 10 };

export const DEPLOYED_WITHIN_SECONDS = 5;

const BURST_FROM = 10;
const BURST_SECONDS = 15;

/** Long enough to see reports come in a bunch again, each cycle. */
const DEPLOYED_SECONDS = 30;

export const comparisons = (seed: number): readonly Compared[] => [
  ...steady(seed),
  ...deployed(seed),
  ...dying(seed),
  ...dropping(seed),
];

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
      figure: "reports in the second in which an origin dies",
      unit: "1/s",
      // Those whose breaker does not open in that second report as ever.
      formula: isolates * share + (1 - share) * reportsPerSecond(inputs, locations),
      simulated: Math.max(...found.reportsBySecond),
      band: 0.15,
    },
  ];
}

function dropping(seed: number): readonly Compared[] {
  return largePacks(MILLION, seed)
    .filter(({ missed }) => missed > 0)
    .map(({ pages, keys, missed, simulated }) => ({
      what: `requests that wait for one of ${pages} pages, keys ${keys}`,
      unit: "%",
      formula: missed * 100,
      simulated: simulated * 100,
      band: 0.1,
    }));
}
