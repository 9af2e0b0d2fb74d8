import { type ClassCounts, STATUS_CLASSES, type StatusClass } from "./status-classes.ts";

/** Whether a canary may be promoted, by the statuses that its requests got: one judge for `/-/metrics/history`, the console and the command. Pure. */

/** Words for the answers of a class, after a share. */
const JUDGED = {
  "404": "get 404",
  "421": "get 421",
  elsewhere: "are answered by another region",
  "5xx": "get 5xx",
  "4xx": "are refused (4xx)",
  left: "are given up by their clients",
} as const satisfies Partial<Record<StatusClass, string>>;

export interface CanaryVerdict {
  /** `worse`: do not promote. `too-few`: nothing is known yet, by too few requests or too short a time. */
  readonly verdict: "worse" | "no-worse" | "too-few";
  readonly words: string;
  /** Classes that are more frequent than in force beyond chance, with their shares of the requests. */
  readonly worse: readonly { readonly class: string; readonly canary: number; readonly inForce: number }[];
  /** All that the verdict rests on. Absent from former versions. */
  readonly conditions?: readonly VerdictCondition[] | undefined;
}

/**
 * `requests`: of the table that has fewer, at least `bound`. `time`: seconds since the first one of the canary, at least `bound`.
 * `classes`: how many are worse, at most `bound`. `p99`: by what share it is above that in force, at most `bound`, beyond chance.
 */
export interface VerdictCondition {
  readonly name: "requests" | "time" | "classes" | "p99";
  /** `null`: it was not measured. */
  readonly holds: boolean | null;
  readonly value: number | null;
  readonly bound: number;
}

/** Time and times of a canary, beside its statuses. */
export interface CanaryTimes {
  /** Since the first request of the canary that was counted. */
  readonly seconds: number;
  /** Upper bounds of the buckets of both tables; their last bucket has no bound. */
  readonly boundsMs: readonly number[];
  readonly stable: TimesOfTable;
  readonly canary: TimesOfTable;
}

export interface TimesOfTable {
  readonly buckets: readonly number[];
  readonly p99: number | null;
}

/** Fewer requests say nothing good of a table. */
export const REQUESTS_MIN = 100;

/** Failures of a new table may come late: caches empty, retries pile up, sessions end. */
export const SECONDS_MIN = 1_800;

/** A p99 may be higher by this share. */
export const P99_MORE_MAX = 0.1;

/** So seldom would equal tables differ as much, in one class. */
const CHANCE_MAX = 0.001;

/** Requests of one earlier canary may still be reported in the first two steps of the next. */
const SETTLED_SECONDS = 20;

/** Unix seconds from which on figures are those of a canary that began at a time (ISO 8601). */
export const figuresFrom = (begun: string): number => Math.floor(Date.parse(begun) / 1000) + SETTLED_SECONDS;

export const countOf = (counts: ClassCounts): number => STATUS_CLASSES.reduce((sum, name) => sum + counts[name], 0);

/** A class is worse if its share is higher than in force, and chance seldom explains that. Few requests suffice for it. */
export function judgeCanary(stable: ClassCounts, canary: ClassCounts, times?: CanaryTimes): CanaryVerdict {
  const inForce = countOf(stable);
  const own = countOf(canary);
  const worse = (Object.keys(JUDGED) as (keyof typeof JUDGED)[])
    .filter((name) => chanceOf(canary[name], own, stable[name], inForce) < CHANCE_MAX)
    .map((name) => ({ class: name, canary: canary[name] / own, inForce: stable[name] / inForce }))
    .toSorted((a, b) => b.canary - b.inForce - (a.canary - a.inForce));
  const requests = Math.min(inForce, own);
  const seconds = times?.seconds ?? null;
  const p99 = times === undefined ? NOT_MEASURED : judgeP99(times);
  const conditions: readonly VerdictCondition[] = [
    { name: "requests", holds: requests >= REQUESTS_MIN, value: requests, bound: REQUESTS_MIN },
    { name: "time", holds: seconds === null ? null : seconds >= SECONDS_MIN, value: seconds, bound: SECONDS_MIN },
    { name: "classes", holds: worse.length === 0, value: worse.length, bound: 0 },
    p99,
  ];
  if (worse.length > 0 || p99.holds === false) {
    const parts = [
      ...worse.map(({ class: name, canary: bad, inForce: good }) => `${shareText(name, bad, good)} in force`),
      ...(p99.holds === false ? [`p99 is ${times?.canary.p99} ms, ${times?.stable.p99} ms in force`] : []),
    ];
    return { verdict: "worse", words: `Do not promote: ${parts.join("; ")}.`, worse, conditions };
  }
  if (requests < REQUESTS_MIN) {
    const words = `Too few requests to judge: each table needs at least ${REQUESTS_MIN}, the canary has ${own}.`;
    return { verdict: "too-few", words, worse, conditions };
  }
  if (seconds !== null && seconds < SECONDS_MIN) {
    const words = `Too early to judge: the canary was counted for ${Math.floor(seconds / 60)} min, it takes at least ${SECONDS_MIN / 60} min.`;
    return { verdict: "too-few", words, worse, conditions };
  }
  const words = "No kind of failure is more frequent than in force, beyond chance.";
  return { verdict: "no-worse", words, worse, conditions };
}

const shareText = (name: keyof typeof JUDGED, bad: number, good: number): string =>
  `${percentText(bad)} ${JUDGED[name]}, ${percentText(good)}`;

const NOT_MEASURED: VerdictCondition = { name: "p99", holds: null, value: null, bound: P99_MORE_MAX };

/** Slower only if more requests than chance explains took longer than a bound of the bucket that the p99 in force is in. */
function judgeP99({ boundsMs, stable, canary }: CanaryTimes): VerdictCondition {
  if (stable.p99 === null || canary.p99 === null || stable.p99 === 0) return NOT_MEASURED;
  const { p99 } = stable;
  const more = canary.p99 / p99 - 1;
  const bucket = boundsMs.findIndex((bound) => p99 <= bound);
  const last = bucket === -1 ? boundsMs.length : bucket;
  const slowOf = (buckets: readonly number[], from: number) => sumOf(buckets.slice(from));
  const chances = [last, last + 1].map((from) =>
    chanceOf(slowOf(canary.buckets, from), sumOf(canary.buckets), slowOf(stable.buckets, from), sumOf(stable.buckets)),
  );
  const holds = more <= P99_MORE_MAX || Math.min(...chances) >= CHANCE_MAX;
  return { name: "p99", holds, value: more, bound: P99_MORE_MAX };
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0);

/** The normal deviate of 99.9 %: as seldom as `CHANCE_MAX`, on both sides together. */
const DEVIATE = 3.290_526_731_491_926;

/** Percent of the intervals that have the true difference. */
export const INTERVAL_PERCENT = 99.9;

/** How much larger a share is than another, and between which bounds: shares, not points. */
export interface ShareDifference {
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Newcombe's hybrid score interval of a difference of two shares (Statistics in Medicine 17, 1998, method 10): it holds where
 * shares are near 0 and counts are small. `undefined` without requests of both.
 */
export function differenceOf(
  count: number,
  all: number,
  otherCount: number,
  otherAll: number,
  deviate = DEVIATE,
): ShareDifference | undefined {
  if (all === 0 || otherAll === 0) return undefined;
  const [own, other] = [wilsonOf(count, all, deviate), wilsonOf(otherCount, otherAll, deviate)];
  const difference = own.share - other.share;
  return {
    difference,
    low: difference - Math.hypot(own.share - own.low, other.high - other.share),
    high: difference + Math.hypot(own.high - own.share, other.share - other.low),
  };
}

/** Wilson's score interval of one share. */
function wilsonOf(
  count: number,
  all: number,
  deviate: number,
): { readonly share: number; readonly low: number; readonly high: number } {
  const share = count / all;
  const square = deviate ** 2;
  const middle = 2 * count + square;
  const reach = deviate * Math.sqrt(square + 4 * count * (1 - share));
  const below = 2 * (all + square);
  return {
    share,
    low: count === 0 ? 0 : (middle - reach) / below,
    high: count === all ? 1 : (middle + reach) / below,
  };
}

/**
 * Fisher's exact test, one-sided: how likely the canary has at least so many of all failures if both tables are alike. Exact
 * where failures are few: there the normal distribution calls one failure a certainty.
 */
function chanceOf(failed: number, all: number, otherFailed: number, otherAll: number): number {
  if (all === 0 || otherAll === 0 || failed * otherAll <= otherFailed * all) return 1;
  const failures = failed + otherFailed;
  const log = logChoose(all, failed) + logChoose(otherAll, otherFailed) - logChoose(all + otherAll, failures);
  let term = Math.exp(log);
  let sum = term;
  for (let at = failed; at < Math.min(all, failures) && term > sum * 1e-9; at++) {
    term *= ((all - at) * (failures - at)) / ((at + 1) * (otherAll - failures + at + 1));
    sum += term;
  }
  return sum;
}

const logChoose = (all: number, some: number): number =>
  logFactorial(all) - logFactorial(some) - logFactorial(all - some);

/** Stirling's series (DLMF 5.11.1), after a few steps of the recurrence. */
function logFactorial(of: number): number {
  let x = of + 1;
  let shift = 0;
  for (; x < 10; x++) shift += Math.log(x);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x ** 3) - shift;
}

const percentText = (part: number): string => `${Number((part * 100).toPrecision(2))} %`;
