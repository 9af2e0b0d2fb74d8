/** Whether a canary may be promoted, by the statuses that its requests got: one judge for `/-/metrics/history`, the console and the command. Pure. */

/**
 * `404` and `421` stand alone: they are what a wrong region answers. `elsewhere`: answered by another region than the table
 * says, because an origin said so in a 421, or by failover. `left`: the client did not wait for the answer. `4xx`: the others.
 */
export const STATUS_CLASSES = ["2xx", "3xx", "404", "421", "4xx", "5xx", "elsewhere", "left"] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

export type ClassCounts = Readonly<Record<StatusClass, number>>;

/** How a request ended. */
export interface AnswerOutcome {
  readonly status: number;
  /** `answered` by an origin, `own` for the gateway's own pages, or the slug of the problem. */
  readonly outcome: string;
  /** An own page, or one of the console's host: no client of an entity asked. */
  readonly isOwn?: boolean | undefined;
  /** Another region answered than the one decided on. */
  readonly isElsewhere?: boolean | undefined;
}

/** A problem of the gateway counts by its status: for the client it is one. */
export function classOf({ status, outcome, isElsewhere }: AnswerOutcome): StatusClass {
  if (outcome === "client-left") return "left";
  if (status >= 500) return "5xx";
  if (status === 404) return "404";
  if (status === 421) return "421";
  if (status >= 400) return "4xx";
  if (isElsewhere === true) return "elsewhere";
  return status >= 300 ? "3xx" : "2xx";
}

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
  /** `worse`: do not promote. `too-few`: nothing is known yet. */
  readonly verdict: "worse" | "no-worse" | "too-few";
  readonly words: string;
  /** Classes that are more frequent than in force beyond chance, with their shares of the requests. */
  readonly worse: readonly { readonly class: string; readonly canary: number; readonly inForce: number }[];
}

/** Fewer requests say nothing good of a table. */
export const REQUESTS_MIN = 100;

/** So seldom would equal tables differ as much, in one class. */
const CHANCE_MAX = 0.001;

/** Requests of one earlier canary may still be reported in the first two steps of the next. */
const SETTLED_SECONDS = 20;

/** Unix seconds from which on figures are those of a canary that began at a time (ISO 8601). */
export const figuresFrom = (begun: string): number => Math.floor(Date.parse(begun) / 1000) + SETTLED_SECONDS;

export const countOf = (counts: ClassCounts): number => STATUS_CLASSES.reduce((sum, name) => sum + counts[name], 0);

/** A class is worse if its share is higher than in force, and chance seldom explains that. Few requests suffice for it. */
export function judgeCanary(stable: ClassCounts, canary: ClassCounts): CanaryVerdict {
  const inForce = countOf(stable);
  const own = countOf(canary);
  const worse = (Object.keys(JUDGED) as (keyof typeof JUDGED)[])
    .filter((name) => chanceOf(canary[name], own, stable[name], inForce) < CHANCE_MAX)
    .map((name) => ({ class: name, canary: canary[name] / own, inForce: stable[name] / inForce }))
    .toSorted((a, b) => b.canary - b.inForce - (a.canary - a.inForce));
  if (worse.length > 0) {
    const parts = worse.map(
      ({ class: name, canary: bad, inForce: good }) =>
        `${percentText(bad)} ${JUDGED[name]}, ${percentText(good)} in force`,
    );
    return { verdict: "worse", words: `Do not promote: ${parts.join("; ")}.`, worse };
  }
  if (Math.min(inForce, own) < REQUESTS_MIN) {
    const words = `Too few requests to judge: each table needs at least ${REQUESTS_MIN}, the canary has ${own}.`;
    return { verdict: "too-few", words, worse };
  }
  return { verdict: "no-worse", words: "No kind of failure is more frequent than in force, beyond chance.", worse };
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
