import type { Inputs } from "./inputs.ts";
import { type Location, sumOver } from "./locations.ts";

/**
 * What an isolate does at its first request and then at the first request after each pause: reading the pointer, reporting.
 * Requests come at random (Poisson), and lives end at random (exponential), so that the chance to come to the next time
 * is the same each time.
 */

/** The chance to live through a pause of `meanSeconds` that is uniform within ± `jitter` of it. */
export function survival(meanSeconds: number, jitter: number, lifeSeconds: number): number {
  const spread = (meanSeconds * jitter) / lifeSeconds;
  const alive = Math.exp(-meanSeconds / lifeSeconds);
  return spread === 0 ? alive : (alive * Math.sinh(spread)) / spread;
}

/** How often it is done in one life: 1 / (1 − q), with q the chance that pause and wait for a request are lived through. */
export function timesPerLife(chanceOfPause: number, requestsPerSecond: number, lifeSeconds: number): number {
  const chanceOfRequest = requestsPerSecond / (requestsPerSecond + 1 / lifeSeconds);
  return 1 / (1 - chanceOfPause * chanceOfRequest);
}

/** Lives that begin, over all locations, each second: after a life the next request begins another. */
export const startsPerSecond = ({ isolateLifeSeconds }: Inputs, locations: readonly Location[]): number =>
  sumOver(locations, (at) => at.isolates / (isolateLifeSeconds + 1 / at.isolateRequestsPerSecond));

/** How often all isolates together do it, each second. */
function perSecond(inputs: Inputs, locations: readonly Location[], pauseSeconds: number, jitter: number): number {
  const { isolateLifeSeconds } = inputs;
  const chance = survival(pauseSeconds, jitter, isolateLifeSeconds);
  return sumOver(locations, (at) => {
    const times = timesPerLife(chance, at.isolateRequestsPerSecond, isolateLifeSeconds);
    return (at.isolates * times) / (isolateLifeSeconds + 1 / at.isolateRequestsPerSecond);
  });
}

export const pointerReadsPerSecond = (inputs: Inputs, locations: readonly Location[]): number =>
  perSecond(inputs, locations, inputs.refreshSeconds, inputs.refreshJitter);

export const reportsPerSecond = (inputs: Inputs, locations: readonly Location[]): number =>
  perSecond(inputs, locations, inputs.reportSeconds, 0);

/** The least whole `REPORT_SECONDS` with which `objects` objects get no more than their calls. */
export function reportSecondsFor(inputs: Inputs, locations: readonly Location[], objects: number): number {
  const callsMax = inputs.objectCallsPerSecond * objects;
  let seconds = 1;
  while (reportsPerSecond({ ...inputs, reportSeconds: seconds }, locations) > callsMax) seconds++;
  return seconds;
}

/**
 * Reads of one new value by a location whose isolates share a cache: those that ask before the first answer is in the cache.
 * Of n that ask at uniform times within a cycle, n x + 1 − x^n ask within the share x of the cycle after the first.
 */
export function readsUntilCached(isolates: number, fillSeconds: number, cycleSeconds: number): number {
  const share = Math.min(1, fillSeconds / cycleSeconds);
  return isolates * share + 1 - share ** isolates;
}

/** Reads of one new value by all locations. */
export const newValueReads = (inputs: Inputs, locations: readonly Location[]): number =>
  sumOver(locations, ({ isolates, isolateRequestsPerSecond }) =>
    readsUntilCached(isolates, inputs.bodyFillSeconds, inputs.refreshSeconds + 1 / isolateRequestsPerSecond),
  );

/** The largest count in one of `seconds` seconds, where `mean` are expected in each and they come at random. */
export const largestSecond = (mean: number, seconds: number): number => mean + Math.sqrt(2 * mean * Math.log(seconds));
