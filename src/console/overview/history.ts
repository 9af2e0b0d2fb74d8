import type { HistorySeries, MetricsHistory } from "../../formats/console-api.ts";
import { ownOf } from "../app/own.ts";

/** Figures over time. Pure: the page asks for them and draws them. */

const SERIES = ["requests", "errors", "refused", "faults", "busyMs", "p50", "p99", "originP50", "originP99"] as const;

/** An hour in steps of ten seconds, and a few more. */
const STEPS_MAX = 400;

type Column = readonly (number | null)[];

/** The known history with new and changed steps. Steps that fall out of the hour go. */
export function mergeHistory(known: MetricsHistory, news: MetricsHistory): MetricsHistory {
  if (news.source === "none" || news.at.length === 0) return known;
  if (known.at.length === 0 || known.stepSeconds !== news.stepSeconds) return news;
  const first = news.at[0] as number;
  const kept = known.at.findIndex((at) => at >= first);
  const end = kept === -1 ? known.at.length : kept;
  const at = [...known.at.slice(0, end), ...news.at];
  const from = Math.max(0, at.length - STEPS_MAX);
  const join = <Value>(
    before: readonly Value[] | undefined,
    after: readonly Value[] | undefined,
    none: Value,
  ): Value[] => {
    const left = before?.slice(0, end) ?? Array.from({ length: end }, () => none);
    return [...left, ...(after ?? news.at.map(() => none))].slice(from);
  };
  const joinSeries = (before: HistorySeries | undefined, after: HistorySeries | undefined): HistorySeries =>
    Object.fromEntries(
      SERIES.map((name) => [
        name,
        join<number | null>(before?.[name], after?.[name], /^p|^origin/.test(name) ? null : 0),
      ]),
    ) as unknown as HistorySeries;
  const names = (of: "regions" | "problems") => new Set([...Object.keys(known[of]), ...Object.keys(news[of])]);
  return {
    ...news,
    at: at.slice(from),
    total: joinSeries(known.total, news.total),
    regions: Object.fromEntries(
      [...names("regions")].map((name) => [name, joinSeries(ownOf(known.regions, name), ownOf(news.regions, name))]),
    ),
    problems: Object.fromEntries(
      [...names("problems")].map((name) => [name, join(known.problems[name], news.problems[name], 0)]),
    ),
  };
}

/** Counts of steps as rates a second. The last step is not over yet: it is left out. */
export const ratesOf = (counts: readonly number[], stepSeconds: number): Column =>
  counts.map((count, at) => (at === counts.length - 1 ? null : count / stepSeconds));

export interface Recent {
  readonly perSecond: number;
  /** Share of the requests with an answer of 500 or more; `undefined` without requests. */
  readonly errorShare: number | undefined;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/** The last minute or so: whole steps only. Times are those of the last step that has some. */
export function recentOf({ requests, errors, p50, p99 }: HistorySeries, stepSeconds: number): Recent {
  const steps = Math.max(1, Math.round(60 / stepSeconds));
  const sum = (counts: readonly number[]) => counts.slice(-steps - 1, -1).reduce((all, count) => all + count, 0);
  const last = (times: Column) => times.findLast((time) => time !== null) ?? undefined;
  const all = sum(requests);
  const used = Math.max(1, Math.min(steps, requests.length - 1));
  return {
    perSecond: all / (used * stepSeconds),
    errorShare: all === 0 ? undefined : sum(errors) / all,
    p50: last(p50),
    p99: last(p99),
  };
}

export interface Average {
  readonly perSecond: number;
  /** Share of the requests; `undefined` without any. */
  readonly errorShare: number | undefined;
}

/** The average of all whole steps. */
export function averageOf({ requests, errors }: HistorySeries, stepSeconds: number): Average {
  const sum = (counts: readonly number[]) => counts.slice(0, -1).reduce((all, count) => all + count, 0);
  const all = sum(requests);
  return {
    perSecond: all / (Math.max(1, requests.length - 1) * stepSeconds),
    errorShare: all === 0 ? undefined : sum(errors) / all,
  };
}

/** Steps between two publications: `from` is the index of the first, `to` that after the last. */
export interface Period {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly minutes: number;
}

/** More columns are hard to compare. */
const PUBLICATIONS_MAX = 3;

/**
 * The time before and after each of the last publications; none without a publication. The step in which one came
 * counts as before it, and so does a shorter time than a step.
 */
export function periodsOf(
  { at, stepSeconds }: MetricsHistory,
  publications: readonly { readonly at: number; readonly text: string }[],
): readonly Period[] {
  const starts = publications
    .map(({ at: time, text }) => ({ text, from: at.findIndex((start) => start >= time) }))
    .filter(({ from }) => from > 0)
    .toSorted((a, b) => a.from - b.from)
    .slice(-PUBLICATIONS_MAX);
  const [first] = starts;
  if (first === undefined) return [];
  return [{ text: "", from: 0 }, ...starts]
    .map(({ text, from }, place) => {
      const to = starts[place]?.from ?? at.length;
      return {
        name: text === "" ? `before ${first.text}` : `after ${text}`,
        from,
        to,
        minutes: ((to - from) * stepSeconds) / 60,
      };
    })
    .filter(({ from, to }) => to > from);
}

export const sumWithin = (counts: readonly number[], { from, to }: Period): number =>
  counts.slice(from, to).reduce((all, count) => all + count, 0);

/** Problems with how often each was answered, most often first. */
export const problemCounts = ({ problems }: MetricsHistory): readonly (readonly [slug: string, count: number])[] =>
  Object.entries(problems)
    .map(([slug, counts]) => [slug, counts.reduce((all, count) => all + count, 0)] as const)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a);

/** Labels that would cover each other become one: `41–42`. `x`: where one stands, `room`: how wide one is. */
export function joinLabels<Label extends { readonly x: number; readonly text: string }>(
  labels: readonly Label[],
  room: (text: string) => number,
): readonly { readonly x: number; readonly text: string }[] {
  const joined: { x: number; first: string; text: string }[] = [];
  for (const { x, text } of labels.toSorted((a, b) => a.x - b.x)) {
    const last = joined.at(-1);
    if (last !== undefined && x < last.x + room(last.text)) last.text = `${last.first}–${text}`;
    else joined.push({ x, first: text, text });
  }
  return joined.map(({ x, text }) => ({ x, text }));
}

/** For screen readers, and for those who read numbers rather than lines. */
export function lineInWords(name: string, values: Column, text: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${name}: nothing measured`;
  return `${name}: now ${text(known.at(-1) ?? 0)}, at most ${text(Math.max(...known))}`;
}
