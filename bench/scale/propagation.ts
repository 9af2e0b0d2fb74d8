import type { Inputs } from "./inputs.ts";

/**
 * When isolates have a new table, in seconds after it was published: P until KV holds it, V until their location sees that
 * (uniform up to K), W until their next look (the rest of a cycle that is running), and w for the body.
 */
export interface Propagation {
  /** The time by which the share `share` of all isolates has it. */
  quantile(share: number): number;
  /** After this no isolate with traffic has the old one. */
  readonly worstSeconds: number;
}

/** Times are kept as steps of this: far below what is printed. */
const STEP_SECONDS = 0.02;

/**
 * `requestsPerSecond`: of one isolate. A cycle is T within ± j, and then the wait for a request; `isolates` bounds the longest
 * of these waits: of so many, ln(isolates) times the mean is the one to expect.
 */
export function propagationOf(inputs: Inputs, requestsPerSecond: number, isolates: number): Propagation {
  const { refreshSeconds, refreshJitter, publishSeconds, kvDelaySeconds, bodyFillSeconds } = inputs;
  const from = refreshSeconds * (1 - refreshJitter);
  const to = refreshSeconds * (1 + refreshJitter);
  const waitSeconds = Math.log(isolates) / requestsPerSecond;
  const steps = Math.ceil((to + waitSeconds + kvDelaySeconds) / STEP_SECONDS) + 1;
  const residual = cumulated(steps, (seconds) => cycleOutlasts(seconds, from, to, requestsPerSecond));
  const mean = refreshSeconds + 1 / requestsPerSecond;
  const integral = cumulated(steps, (_, at) => (residual[at] as number) / mean);
  const delaySteps = Math.round(kvDelaySeconds / STEP_SECONDS);
  const share = (at: number): number =>
    ((integral[at] as number) - (at < delaySteps ? 0 : (integral[at - delaySteps] as number))) / kvDelaySeconds;
  return {
    quantile(wanted) {
      let at = 0;
      while (at < steps - 1 && share(at) < wanted) at++;
      return publishSeconds + at * STEP_SECONDS + bodyFillSeconds;
    },
    worstSeconds: publishSeconds + kvDelaySeconds + to + waitSeconds + bodyFillSeconds,
  };
}

/** The chance that a cycle is longer: uniform from `from` to `to`, and then exponential. */
function cycleOutlasts(seconds: number, from: number, to: number, requestsPerSecond: number): number {
  if (seconds < from) return 1;
  const width = to - from;
  const waits = (since: number): number => Math.exp(-requestsPerSecond * since) / requestsPerSecond;
  if (seconds < to) return (to - seconds + 1 / requestsPerSecond - waits(seconds - from)) / width;
  return (waits(seconds - to) - waits(seconds - from)) / width;
}

/** The integral of a function up to each step, by trapezia. */
function cumulated(steps: number, value: (seconds: number, at: number) => number): Float64Array {
  const sums = new Float64Array(steps);
  let before = value(0, 0);
  for (let at = 1; at < steps; at++) {
    const now = value(at * STEP_SECONDS, at);
    sums[at] = (sums[at - 1] as number) + ((before + now) / 2) * STEP_SECONDS;
    before = now;
  }
  return sums;
}

/**
 * The largest share of isolates that report in one second when an origin dies, each as its breaker opens: with the b-th
 * failure, and failures come at random (an Erlang distribution).
 */
export function breakerShareInSecond({ breakerFailures, originShare }: Inputs, requestsPerSecond: number): number {
  const rate = requestsPerSecond * originShare;
  const opened = (seconds: number): number => {
    let term = 1;
    let fewer = 0;
    for (let failures = 0; failures < breakerFailures; failures++) {
      fewer += term;
      term *= (rate * seconds) / (failures + 1);
    }
    return 1 - fewer * Math.exp(-rate * seconds);
  };
  let most = 0;
  const lastSeconds = (2 * breakerFailures) / rate;
  for (let at = 0; at <= 1_000; at++) {
    const since = (lastSeconds * at) / 1_000;
    most = Math.max(most, opened(since + 1) - opened(since));
  }
  return most;
}
