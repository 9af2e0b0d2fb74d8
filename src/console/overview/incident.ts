import type { HistorySeries, MetricsHistory } from "../../formats/console-api.ts";
import { FEW_ERRORS, MANY_SHARE, type RegionState } from "../../formats/region-state.ts";
import { ownOf } from "../app/own.ts";

/**
 * The incidents of now, from states and figures: one judge for the alarm of the overview and for the title of the tab. Pure. A region
 * that fails many requests is an incident whatever its state says, and so is a state that is bad without any request.
 */

interface WatchedRegion {
  readonly state: RegionState;
  readonly basis: string;
  /** ISO 8601: when it came into its state. */
  readonly since?: string | undefined;
}

export interface Watched {
  readonly regions: Readonly<Record<string, WatchedRegion>> | undefined;
  /** The last hour, in steps of seconds. */
  readonly history?: MetricsHistory | undefined;
  /** The status of a problem's responses; `undefined` for one that is not known. */
  readonly statusOf?: ((slug: string) => number | undefined) | undefined;
}

/**
 * - `down`: no request gets an answer.
 * - `failing`: many requests fail.
 * - `warn`: it is not sound, and few requests fail or none.
 */
export type Level = "down" | "failing" | "warn";

export interface Incident {
  /** `undefined`: requests that the gateway sent to no region. */
  readonly region: string | undefined;
  readonly level: Level;
  readonly state: RegionState | undefined;
  readonly basis: string;
  /** Unix ms; `undefined` where it is not known. */
  readonly sinceMs: number | undefined;
  /** It began before anything was counted. */
  readonly isAtLeast: boolean;
  /** Failed requests a second in the last minute since it began; `undefined` where no whole step is counted. */
  readonly failedPerSecond: number | undefined;
  /** The share of the region's requests of the last minute. */
  readonly failedShare: number | undefined;
  /** The region's share of all requests of the last minute. */
  readonly trafficShare: number | undefined;
  /** Most of the failed requests get it: the slug of a problem, or `undefined` for an answer of an origin. */
  readonly problem: string | undefined;
}

const LEVELS: readonly Level[] = ["down", "failing", "warn"];

/** The worst first, then those that hit the most requests. */
export function incidentsOf(watched: Watched): readonly Incident[] {
  const { regions = {}, history } = watched;
  const counted = history !== undefined && history.source !== "none" && history.at.length > 0 ? history : undefined;
  const names = new Set([...Object.keys(regions), ...Object.keys(counted?.regions ?? {})]);
  const found = [...names].flatMap((name) => incidentOf(name, watched, counted) ?? []);
  const own = counted && incidentOfGateway(counted, watched);
  return [...found, ...(own ? [own] : [])].toSorted(
    (a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || (b.failedPerSecond ?? 0) - (a.failedPerSecond ?? 0),
  );
}

function incidentOf(name: string, watched: Watched, counted: MetricsHistory | undefined): Incident | undefined {
  const health = ownOf(watched.regions, name);
  const series = ownOf(counted?.regions, name);
  const recent = series && counted && recentCounts(series, counted.stepSeconds);
  const isFailing = recent !== undefined && areMany(recent.errors, recent.requests);
  const level = levelOf(health?.state, isFailing);
  if (level === undefined) return undefined;
  const since = sinceOf(health, series, counted, isFailing);
  const figures = series && counted ? figuresOf(series, counted, { watched, since }) : NO_FIGURES;
  return { region: name, level, state: health?.state, basis: health?.basis ?? "", ...since, ...figures };
}

type Figures = Pick<Incident, "failedPerSecond" | "failedShare" | "trafficShare" | "problem">;

const NO_FIGURES: Figures = {
  failedPerSecond: undefined,
  failedShare: undefined,
  trafficShare: undefined,
  problem: undefined,
};

const shareOf = (some: number, all: number): number | undefined => (all === 0 ? undefined : some / all);

function figuresOf(
  series: Counts,
  counted: MetricsHistory,
  { watched, since }: { watched: Watched; since: Since },
): Figures {
  const { requests, errors } = recentCounts(series, counted.stepSeconds);
  const all = recentCounts(counted.total, counted.stepSeconds);
  return {
    failedPerSecond: rateOf(series, counted, since.sinceMs),
    failedShare: shareOf(errors, requests),
    trafficShare: shareOf(requests, all.requests),
    problem: mostOf(counted, errors, watched),
  };
}

function levelOf(state: RegionState | undefined, isFailing: boolean): Level | undefined {
  if (state === "down") return "down";
  if (isFailing) return "failing";
  return state === "degraded" || state === "testing" ? "warn" : undefined;
}

/** Requests that failed before any region was asked, such as those without a table in force. */
function incidentOfGateway(counted: MetricsHistory, watched: Watched): Incident | undefined {
  const rest = restOf(counted);
  const recent = recentCounts(rest, counted.stepSeconds);
  if (!areMany(recent.errors, recent.requests)) return undefined;
  const since = sinceOf(undefined, rest, counted, true);
  return {
    region: undefined,
    level: "failing",
    state: undefined,
    basis: "They were sent to no region.",
    ...since,
    ...figuresOf(rest, counted, { watched, since }),
  };
}

type Counts = Pick<HistorySeries, "requests" | "errors">;

/** The total without the regions. */
function restOf({ total, regions }: MetricsHistory): Counts {
  const without = (of: keyof Counts) =>
    total[of].map((count, at) => Object.values(regions).reduce((left, series) => left - (series[of][at] ?? 0), count));
  return { requests: without("requests"), errors: without("errors") };
}

const RECENT_SECONDS = 60;

/** The last minute and the step that is not over: what fails at this moment must not wait for its end. */
function recentCounts({ requests, errors }: Counts, stepSeconds: number) {
  const width = stepsOf(stepSeconds) + 1;
  const last = requests.length - 1;
  return { requests: sumOf(requests, last, width), errors: sumOf(errors, last, width) };
}

/** Failures a second in the whole steps of the last minute since it began; the step in which it began is no whole one. */
function rateOf({ errors }: Counts, { at, stepSeconds }: MetricsHistory, sinceMs = 0): number | undefined {
  const end = at.length - 1;
  const begun = at.findIndex((start) => start * 1000 > sinceMs);
  const from = Math.max(begun === -1 ? end : begun, end - stepsOf(stepSeconds), 0);
  return from >= end ? undefined : sumOf(errors, end - 1, end - from) / ((end - from) * stepSeconds);
}

const stepsOf = (stepSeconds: number): number => Math.max(1, Math.round(RECENT_SECONDS / stepSeconds));

/** The bounds of a degraded region, for what it answers. */
export const areMany = (errors: number, requests: number): boolean =>
  errors > 0 && errors / Math.max(1, requests) >= (errors < FEW_ERRORS ? 0.5 : MANY_SHARE);

type Since = Pick<Incident, "sinceMs" | "isAtLeast">;

/** Where requests fail the figures count: a state may have changed since, from degraded to down and back. */
function sinceOf(
  health: WatchedRegion | undefined,
  series: Counts | undefined,
  counted: MetricsHistory | undefined,
  isFailing: boolean,
): Since {
  const known = health?.since === undefined ? Number.NaN : Date.parse(health.since);
  const ofState = Number.isNaN(known) ? undefined : known;
  const begun = isFailing && series && counted ? begunOf(series, counted) : undefined;
  if (begun?.sinceMs === undefined) return { sinceMs: ofState, isAtLeast: false };
  if (ofState === undefined || begun.sinceMs < ofState) return begun;
  return { sinceMs: ofState, isAtLeast: false };
}

/** The first step that failed after the last minute that was sound. A minute without requests says nothing. */
function begunOf(counts: Counts, { at, stepSeconds }: MetricsHistory): Since {
  const steps = stepsOf(stepSeconds);
  const isBad = (place: number, width: number): boolean =>
    areMany(sumOf(counts.errors, place, width), sumOf(counts.requests, place, width));
  const isSound = (place: number): boolean => sumOf(counts.requests, place, steps) > 0 && !isBad(place, steps);
  let sound = at.length - 1;
  while (sound >= 0 && !isSound(sound)) sound--;
  const isAtLeast = sound < 0;
  // Its last minute may be sound while the failures in it have begun.
  while (sound >= 0 && isBad(sound, 1)) sound--;
  const first = at.findIndex((_, place) => place > sound && isBad(place, 1));
  return { sinceMs: (at[first] ?? at.at(-1) ?? 0) * 1000, isAtLeast };
}

/** The sum of the steps up to a place. */
const sumOf = (counts: readonly number[], place: number, width: number): number =>
  counts.slice(Math.max(0, place - width + 1), place + 1).reduce((all, count) => all + count, 0);

/** The problem that most of the failed requests get. The counts of problems are of all regions together. */
function mostOf({ problems, stepSeconds }: MetricsHistory, errors: number, { statusOf }: Watched): string | undefined {
  const [most] = Object.entries(problems)
    .filter(([slug]) => (statusOf?.(slug) ?? 0) >= 500)
    .map(([slug, counts]) => [slug, sumOf(counts, counts.length - 1, stepsOf(stepSeconds) + 1)] as const)
    .toSorted(([, a], [, b]) => b - a);
  return most !== undefined && most[1] * 2 >= errors ? most[0] : undefined;
}

export interface Trouble {
  readonly worst: "down" | "degraded" | "unknown" | undefined;
  /** For the title of a tab: short, and empty without any. */
  readonly words: string;
}

/** In a few words. */
export function troubleOf([worst, ...others]: readonly Incident[]): Trouble {
  if (worst === undefined) return { worst: undefined, words: "" };
  const of = worst.region ?? "the gateway";
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  if (worst.level === "down") return { worst: "down", words: `${of} is down${more}` };
  const is =
    worst.level === "failing" ? "fails requests" : worst.state === "testing" ? "is being tested" : "is degraded";
  return { worst: "degraded", words: `${of} ${is}${more}` };
}
