import { differenceOf } from "../../formats/canary-verdict.ts";
import type { MetricsHistory } from "../../formats/console-api.ts";

/** Answers before and after a moment, such as that of a publication. Pure. */

export interface Outcome {
  /** `errors`, `refused`, or the slug of a problem. */
  readonly name: string;
  /** Shares of all requests. */
  readonly before: number;
  readonly after: number;
  /** In which direction it differs beyond chance. */
  readonly is: "same" | "more" | "less";
}

export interface After {
  readonly beforeSeconds: number;
  readonly afterSeconds: number;
  readonly requests: { readonly before: number; readonly after: number };
  readonly outcomes: readonly Outcome[];
}

const WINDOW_SECONDS = 600;

/** An isolate reports some seconds late: the first steps after a moment have requests of before. */
const SETTLED_SECONDS = 20;

const PROBLEMS_MAX = 3;

interface Moment {
  readonly at: number;
  /** The moment of the next revision: answers from then on are not this one's. Unix seconds. */
  readonly to?: number;
}

/**
 * `histories`: from the finest steps on; the first one that reaches back far enough counts. `undefined` where nothing is kept of both
 * sides, or nothing came yet.
 */
export function answersAround(histories: readonly (MetricsHistory | undefined)[], moment: Moment): After | undefined {
  for (const history of histories) {
    const own = history === undefined || history.source === "none" ? undefined : around(history, moment);
    if (own !== undefined) return own;
  }
  return undefined;
}

function around(history: MetricsHistory, { at, to }: Moment): After | undefined {
  const { stepSeconds } = history;
  const span = Math.max(WINDOW_SECONDS, stepSeconds);
  const settled = stepSeconds > SETTLED_SECONDS ? 0 : SETTLED_SECONDS;
  const before = stepsIn(history, at - span - stepSeconds, at);
  const after = stepsIn(
    history,
    at + settled,
    Math.min(at + span + settled + stepSeconds, to ?? Number.POSITIVE_INFINITY),
  );
  const [all, allAfter] = [before, after].map((steps) => sumOf(history.total.requests, steps)) as [number, number];
  if (all === 0 || allAfter === 0) return undefined;
  const outcome = (name: string, counts: readonly number[]): Outcome => {
    const [was, is] = [sumOf(counts, before), sumOf(counts, after)];
    const difference = differenceOf(is, allAfter, was, all);
    const direction =
      difference === undefined ? "same" : difference.low > 0 ? "more" : difference.high < 0 ? "less" : "same";
    return { name, before: was / all, after: is / allAfter, is: direction };
  };
  const problems = Object.entries(history.problems)
    .map(([slug, counts]) => outcome(slug, counts))
    .filter(({ is }) => is !== "same")
    .toSorted((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
  return {
    beforeSeconds: before.length * stepSeconds,
    afterSeconds: after.length * stepSeconds,
    requests: { before: all, after: allAfter },
    outcomes: [
      outcome("errors", history.total.errors),
      outcome("refused", history.total.refused),
      ...problems.slice(0, PROBLEMS_MAX),
    ],
  };
}

/** Steps that lie wholly within: that of the moment itself has requests of both sides. */
function stepsIn({ at, stepSeconds }: MetricsHistory, from: number, to: number): readonly number[] {
  const last = at.length - 1;
  return at.flatMap((start, index) => (start >= from && start + stepSeconds <= to && index < last ? [index] : []));
}

const sumOf = (counts: readonly number[], steps: readonly number[]): number =>
  steps.reduce((sum, index) => sum + (counts[index] ?? 0), 0);
