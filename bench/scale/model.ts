import { type Inputs, PRICES, type Price } from "./inputs.ts";

/** The figures by formula. Requests come at random (Poisson) and isolates end at random (exponential). */

const MONTH_SECONDS = 30 * 86_400;

interface Location {
  readonly isolates: number;
  /** Rate of one isolate. */
  readonly requestsPerSecond: number;
}

/** The busiest first: shares by Zipf's law, and as many isolates as their load asks for, one at least. */
export function locationsOf(inputs: Inputs): readonly Location[] {
  const weights = Array.from({ length: inputs.locations }, (_, at) => (at + 1) ** -inputs.zipfExponent);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => {
    const load = (inputs.requestsPerSecond * weight) / sum;
    const isolates = Math.max(1, Math.ceil(load / inputs.isolateRequestsPerSecond));
    return { isolates, requestsPerSecond: load / isolates };
  });
}

const sumOf = (inputs: Inputs, figure: (location: Location) => number): number =>
  locationsOf(inputs).reduce((sum, location) => sum + figure(location), 0);

export const isolatesOf = (inputs: Inputs): number => sumOf(inputs, ({ isolates }) => isolates);

/** After a life the next request begins another. */
const startsAt = ({ isolateLifeSeconds }: Inputs, { isolates, requestsPerSecond }: Location): number =>
  isolates / (isolateLifeSeconds + 1 / requestsPerSecond);

export const startsPerSecond = (inputs: Inputs): number => sumOf(inputs, (at) => startsAt(inputs, at));

/** The chance that an isolate lives to its next event, of so many a second. */
const reaches = (perSecond: number, { isolateLifeSeconds }: Inputs): number =>
  perSecond / (perSecond + 1 / isolateLifeSeconds);

/** Work of isolates at their first request, and at the first request after each pause: 1 / (1 − q) times a life. */
function renewalsPerSecond(inputs: Inputs, pauseSeconds: number, jitter: number): number {
  const spread = (pauseSeconds * jitter) / inputs.isolateLifeSeconds;
  const alive = Math.exp(-pauseSeconds / inputs.isolateLifeSeconds) * (spread === 0 ? 1 : Math.sinh(spread) / spread);
  return sumOf(inputs, (at) => startsAt(inputs, at) / (1 - alive * reaches(at.requestsPerSecond, inputs)));
}

export const pointerReadsPerSecond = (inputs: Inputs): number =>
  renewalsPerSecond(inputs, inputs.refreshSeconds, inputs.refreshJitter);

export const reportsPerSecond = (inputs: Inputs): number => renewalsPerSecond(inputs, inputs.reportSeconds, 0);

/** The least whole `REPORT_SECONDS` with which one object gets no more than its calls. */
export function leastReportSeconds(inputs: Inputs): number {
  let seconds = 1;
  while (reportsPerSecond({ ...inputs, reportSeconds: seconds }) > inputs.objectCallsPerSecond) seconds++;
  return seconds;
}

/** Isolates, of n at a location that ask at uniform times of a cycle, that ask before the first answer is cached. */
export const bodyReadsOfRevision = (inputs: Inputs): number =>
  sumOf(inputs, ({ isolates, requestsPerSecond }) => {
    const share = Math.min(1, inputs.bodyFillSeconds / (inputs.refreshSeconds + 1 / requestsPerSecond));
    return isolates * share + 1 - share ** isolates;
  });

/** Blocks are begun by the numbers 1, B + 1, 2 B + 1 and so on, each reached with the chance q to its power. */
export const blocksPerSecond = (inputs: Inputs): number =>
  sumOf(inputs, (at) => {
    const perSequence = (at.requestsPerSecond * inputs.mintsPerSecond) / inputs.requestsPerSecond / inputs.sequences;
    const chance = reaches(perSequence, inputs);
    return (startsAt(inputs, at) * inputs.sequences * chance) / (1 - chance ** inputs.blockNumbers);
  });

const STEP_SECONDS = 0.05;

/**
 * The time by which a share of all isolates has a new table: P + V + W + w, with V uniform up to K, and W the rest of a cycle.
 * The density of W is the chance that a cycle, T within ± j and a wait for a request, is longer, divided by its mean.
 */
export function propagationSeconds(inputs: Inputs, wanted: number): number {
  const { refreshSeconds, refreshJitter, publishSeconds, kvDelaySeconds, bodyFillSeconds } = inputs;
  const rate = inputs.requestsPerSecond / isolatesOf(inputs);
  const from = refreshSeconds * (1 - refreshJitter);
  const to = refreshSeconds * (1 + refreshJitter);
  const waits = (since: number): number => Math.exp(-rate * since) / rate;
  const outlasts = (seconds: number): number => {
    if (seconds < from) return 1;
    const before = seconds < to ? to - seconds + 1 / rate : waits(seconds - to);
    return (before - waits(seconds - from)) / (to - from);
  };
  const delaySteps = Math.round(kvDelaySeconds / STEP_SECONDS);
  const mean = refreshSeconds + 1 / rate;
  // By step: how many of those whose location sees the table have looked, and the sum of that.
  const sums = [0];
  let looked = 0;
  for (let at = 0; ; at++) {
    looked += (outlasts((at + 0.5) * STEP_SECONDS) / mean) * STEP_SECONDS;
    sums.push((sums[at] as number) + looked * STEP_SECONDS);
    const share = ((sums[at] as number) - (sums[at - delaySteps] ?? 0)) / kvDelaySeconds;
    if (share >= wanted) return publishSeconds + at * STEP_SECONDS + bodyFillSeconds;
  }
}

export const worstPropagationSeconds = (inputs: Inputs): number => {
  const isolates = isolatesOf(inputs);
  const waitSeconds = (Math.log(isolates) * isolates) / inputs.requestsPerSecond;
  const { publishSeconds, kvDelaySeconds, refreshSeconds, refreshJitter, bodyFillSeconds } = inputs;
  return publishSeconds + kvDelaySeconds + refreshSeconds * (1 + refreshJitter) + waitSeconds + bodyFillSeconds;
};

export const compilingProcessors = (inputs: Inputs): number =>
  (startsPerSecond(inputs) + (isolatesOf(inputs) * inputs.revisionsPerDay) / 86_400) * inputs.compileSeconds;

/** Dollars for so many units in 30 days. */
export const dollars = ([included, perMillion]: Price, units: number): number =>
  (Math.max(0, units - included) * perMillion) / 1e6;

/** Units paid for in 30 days. An object counts as 128 MB that are never at rest; scrapes come every 15 s, checks too. */
export function billLines(inputs: Inputs) {
  const { requestsPerSecond: rate, cpuSeconds, revisionsPerDay, sequences, series, saveSeconds } = inputs;
  const blocks = blocksPerSecond(inputs);
  const alarms = 1 / saveSeconds + 1 / 15;
  const bodies = (bodyReadsOfRevision(inputs) * revisionsPerDay) / 86_400;
  const perSecond: readonly (readonly [what: string, price: Price, units: number])[] = [
    ["Worker requests", PRICES.requests, rate],
    ["processor time, ms", PRICES.cpuMs, (rate * cpuSeconds + compilingProcessors(inputs)) * 1_000],
    ["KV reads", PRICES.kvReads, pointerReadsPerSecond(inputs) + bodies],
    ["Durable Object requests", PRICES.objectCalls, reportsPerSecond(inputs) + blocks + alarms + 2 / 15],
    ["Durable Object GB-s", PRICES.objectGbSeconds, (1 + sequences) * 0.128],
    ["Durable Object rows", PRICES.rowsWritten, series / saveSeconds + alarms + blocks],
  ];
  return perSecond.map(([what, price, each]) => {
    const units = each * MONTH_SECONDS;
    return { what, price, units, dollars: dollars(price, units) };
  });
}

export const billOf = (inputs: Inputs): number => billLines(inputs).reduce((sum, line) => sum + line.dollars, 0);

/** Logs and traces: 1,000 bytes an event, kept for 7 days. */
export function logDollars({ requestsPerSecond, eventsPerRequest }: Inputs, sampling: number): number {
  const gb = (requestsPerSecond * eventsPerRequest * sampling * MONTH_SECONDS) / 1e6;
  return dollars(PRICES.logGb, gb) + dollars(PRICES.logGbMonths, (gb / 30) * 7);
}
