import type { HistorySeries, MetricsHistory } from "../../formats/console-api.ts";
import { ownOf } from "../app/own.ts";

/** Figures over time. Pure: the page asks for them and draws them. */

const SERIES = ["requests", "errors", "refused", "faults", "busyMs", "p50", "p99", "originP50", "originP99"] as const;

/** An hour in steps of ten seconds, and a few more. */
const STEPS_MAX = 400;

type Column = readonly (number | null)[];

/** Whether new steps go on where the known ones end. Those of an answer that could not be read do not, nor do any after one. */
export const follows = (known: MetricsHistory, news: MetricsHistory): boolean =>
  known.source !== "none" &&
  news.source !== "none" &&
  (known.at.length === 0 || news.at.length === 0 || (news.at[0] ?? 0) <= (known.at.at(-1) ?? 0) + news.stepSeconds);

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

/** Counts of steps as rates a second. */
export const ratesOf = (counts: readonly number[], stepSeconds: number): readonly number[] =>
  counts.map((count) => count / stepSeconds);

export interface Recent {
  readonly perSecond: number;
  /** Share of the requests with an answer of 500 or more; `undefined` without requests. */
  readonly errorShare: number | undefined;
  /** The same of 400 to 499. */
  readonly refusedShare: number | undefined;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

const RECENT_SECONDS = 60;

const totalOf = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

/**
 * The last minute or so. Rates are of whole steps; shares are of the step that is not over too, since what fails now must show
 * now. Times are those of the last whole step that has some.
 */
export function recentOf({ requests, errors, refused, p50, p99 }: HistorySeries, stepSeconds: number): Recent {
  const steps = Math.max(1, Math.round(RECENT_SECONDS / stepSeconds));
  const latest = (counts: readonly number[]) => totalOf(counts.slice(-steps - 1));
  const last = (times: Column) => times.slice(-steps - 1, -1).findLast((time) => time !== null) ?? undefined;
  const all = latest(requests);
  const used = Math.max(1, Math.min(steps, requests.length - 1));
  return {
    perSecond: totalOf(requests.slice(-steps - 1, -1)) / (used * stepSeconds),
    errorShare: all === 0 ? undefined : latest(errors) / all,
    refusedShare: all === 0 ? undefined : latest(refused) / all,
    p50: last(p50),
    p99: last(p99),
  };
}

/** Those within the last seconds of a longer history. */
export const lastOf = (history: MetricsHistory, seconds: number): MetricsHistory =>
  cut(history, Math.max(0, history.at.length - Math.ceil(seconds / history.stepSeconds)), history.at.length);

/** Without the step that is not over: a line would end in a fall. */
export const wholeOf = (history: MetricsHistory): MetricsHistory => cut(history, 0, Math.max(0, history.at.length - 1));

function cut(history: MetricsHistory, from: number, to: number): MetricsHistory {
  const part = <Value>(values: readonly Value[]): readonly Value[] => values.slice(from, to);
  const ofSeries = (series: HistorySeries): HistorySeries =>
    Object.fromEntries(SERIES.map((name) => [name, part<number | null>(series[name])])) as unknown as HistorySeries;
  return {
    ...history,
    at: part(history.at),
    total: ofSeries(history.total),
    regions: Object.fromEntries(Object.entries(history.regions).map(([name, series]) => [name, ofSeries(series)])),
    problems: Object.fromEntries(Object.entries(history.problems).map(([slug, counts]) => [slug, part(counts)])),
  };
}

/** More points than this are no line any more, but a band. */
const POINTS_MAX = 180;
const POINTS = 120;

/** Steps that a point of a line stands for; they begin at whole multiples, so that a line moves and does not tremble. */
export function pointsOf({
  at,
  stepSeconds,
}: Pick<MetricsHistory, "at" | "stepSeconds">): readonly (readonly number[])[] {
  const by = at.length > POINTS_MAX ? Math.round(at.length / POINTS) : 1;
  const groups: number[][] = [];
  let last: number | undefined;
  for (const [place, time] of at.entries()) {
    const own = Math.floor(time / (stepSeconds * by));
    if (own === last) groups.at(-1)?.push(place);
    else groups.push([place]);
    last = own;
  }
  return groups;
}

const meanOf = (values: readonly number[]): number => totalOf(values) / values.length;
const mostOf = (values: readonly number[]): number => Math.max(...values);

/** The values of points: the average of rates, and the highest of times. */
export const thinned = (values: Column, points: readonly (readonly number[])[], of: "average" | "highest"): Column =>
  points.map((places) => {
    const known = places.map((place) => values[place] ?? null).filter((value) => value !== null);
    return known.length === 0 ? null : of === "average" ? meanOf(known) : mostOf(known);
  });

/** How a count compares with that of an hour before, where an hour is known: 0.1 is a tenth more. */
export function changeOf(counts: readonly number[], stepSeconds: number): number | undefined {
  const steps = Math.max(1, Math.round(RECENT_SECONDS / stepSeconds));
  // All but the last of its minutes.
  if (counts.length * stepSeconds < 3_600 - RECENT_SECONDS) return undefined;
  const before = totalOf(counts.slice(0, steps));
  return before === 0 ? undefined : totalOf(counts.slice(-steps - 1, -1)) / before - 1;
}

export interface Course {
  /** Unix seconds: it is new since then. */
  readonly newSince: number | undefined;
  /** A second, in the last whole minute. */
  readonly perSecond: number;
  /** How many times as often as before; 1 where it is about as before, `undefined` where no time before is known. */
  readonly times: number | undefined;
}

/** Shorter is no time before. */
const BEFORE_SECONDS = 600;

/** Fewer say nothing of a change. */
const CHANGE_COUNT_MIN = 10;

/** Whether a problem is new, or is answered more often than before. */
export function courseOf(
  counts: readonly number[],
  { at, stepSeconds }: Pick<MetricsHistory, "at" | "stepSeconds">,
): Course {
  const steps = Math.max(1, Math.round(RECENT_SECONDS / stepSeconds));
  const first = counts.findIndex((count) => count > 0);
  const began = at[first];
  const isNew = began !== undefined && began - (at[0] ?? 0) >= BEFORE_SECONDS;
  const latest = counts.slice(-steps - 1, -1);
  const earlier = counts.slice(0, -steps - 1);
  const [recent, usual] = [
    totalOf(latest) / Math.max(1, latest.length),
    totalOf(earlier) / Math.max(1, earlier.length),
  ];
  const isMore = totalOf(latest) >= CHANGE_COUNT_MIN && recent >= 3 * usual;
  const isKnown = !isNew && earlier.length * stepSeconds >= BEFORE_SECONDS && usual > 0;
  return {
    newSince: isNew ? began : undefined,
    perSecond: recent / stepSeconds,
    times: isKnown ? (isMore ? recent / usual : 1) : undefined,
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

export const sumWithin = (counts: readonly number[], { from, to }: Period): number => totalOf(counts.slice(from, to));

/** Problems with how often each was answered, most often first. */
export const problemCounts = ({ problems }: MetricsHistory): readonly (readonly [slug: string, count: number])[] =>
  Object.entries(problems)
    .map(([slug, counts]) => [slug, totalOf(counts)] as const)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a);
