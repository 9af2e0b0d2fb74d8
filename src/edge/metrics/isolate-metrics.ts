import { classOf, STATUS_CLASSES } from "../../formats/status-classes.ts";
import { messageOf } from "../../ids/result.ts";
import type { Clock, Counters, Entropy, Metrics, OriginHealth, RequestLine } from "../../ports/gateway.ts";
import { loadable } from "../../problems/loadable.ts";
import type { OriginFault } from "../../proxy/errors.ts";
import { type HealthWatch, originHealth } from "../origins/health.ts";
import { BUCKETS_MS, type MetricName, OWN, SeriesTotals, seriesKey } from "./catalogue.ts";
import { RequestShares } from "./request-shares.ts";
import type { RegionClasses } from "./steps.ts";
import type { MetricsReport, MetricsStore, OriginHint } from "./store.ts";

/** Pages alone show figures. */
const historyModule = loadable("metrics-history", () => import("./history.ts"));
const snapshotModule = loadable("metrics-snapshot", () => import("./snapshot.ts"));

export interface MetricsOptions {
  /** `undefined`: this isolate reports nothing and knows only its own counts. */
  readonly store: MetricsStore | undefined;
  readonly reportMs: number;
  /** Whether the last requests with a problem are reported. */
  readonly keepsSamples: boolean;
  readonly table: () => MetricsReport["table"];
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly pause: (ms: number) => Promise<void>;
  readonly onBreaker: HealthWatch["onStateChange"];
  readonly onReportFailure: (why: string) => void;
}

export interface IsolateMetrics extends Metrics {
  readonly originHealth: OriginHealth;
  readonly counters: Counters;
  observe(line: RequestLine, waitUntil: (work: Promise<unknown>) => void, decidedBy?: TableSide): void;
}

/** The table that decided, while a canary runs. */
type TableSide = "stable" | "canary" | undefined;

/** Limit of series of one isolate, far above names times outcomes. The rest is summed as `(other)`. */
export const ISOLATE_SERIES_MAX = 2_000;

/** The platform stops background work 30 s after a request. A report that takes longer is lost. */
const REPORT_LOST_MS = 60_000;

/** The last request's background work ends before that. */
const FLUSH_MS_MAX = 20_000;

/**
 * Counts in this isolate and reports them to the Durable Object, beside requests and one report at a time. A failed report is
 * sent again as it was, at the time of the next, so that one whose response was lost is counted once.
 */
export function isolateMetrics(options: MetricsOptions): IsolateMetrics {
  const { store, reportMs, clock, onReportFailure } = options;
  const startedAtMs = clock.nowMs();
  const cells = new IsolateCounters();
  const shares = new RequestShares(options.keepsSamples);
  /** Drained, where nothing is reported. */
  const own = new SeriesTotals(ISOLATE_SERIES_MAX);
  let dueMs = 0;
  let isUrgent = false;
  /** No second report starts before this time while one is running. */
  let busyUntilMs = 0;
  /** Nor is a second report planned. */
  let flushUntilMs = 0;

  const health = originHealth({
    attempts: cells,
    onStateChange(region, url, state) {
      if (state === "open") cells.count("breaker_openings_total", region);
      isUrgent = true;
      options.onBreaker(region, url, state);
    },
  });

  const failed = (error: unknown): undefined => void onReportFailure(messageOf(error));

  const sendNext = numberedReports(options, () => {
    const sums = new SeriesTotals(ISOLATE_SERIES_MAX);
    const classes = cells.classes();
    sums.addAll(cells.drain());
    return {
      sums: new Map(sums),
      origins: health.drainUpdates(),
      table: options.table(),
      classes,
      ...shares.drain(),
    };
  });

  const send = async (to: MetricsStore): Promise<boolean> => {
    isUrgent = false;
    dueMs = clock.nowMs() + reportMs;
    try {
      health.learn(await sendNext(to));
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  };

  const sendAlone = async (to: MetricsStore): Promise<void> => {
    busyUntilMs = clock.nowMs() + REPORT_LOST_MS;
    const isSent = await send(to);
    busyUntilMs = 0;
    if ((isUrgent || !isSent) && clock.nowMs() >= flushUntilMs) await flush(to);
  };

  const flush = async (to: MetricsStore): Promise<void> => {
    const fromMs = clock.nowMs();
    flushUntilMs = dueMs + REPORT_LOST_MS;
    await options.pause(Math.min(dueMs - fromMs, FLUSH_MS_MAX));
    // A request may have sent a report meanwhile: what came after it waits for the next.
    const leftMs = Math.min(dueMs, fromMs + FLUSH_MS_MAX) - clock.nowMs();
    if (leftMs > 0) await options.pause(leftMs);
    flushUntilMs = 0;
    // The running report lacks what was counted since: its end plans the next.
    if (clock.nowMs() < busyUntilMs) isUrgent = true;
    else await sendAlone(to);
  };

  return {
    originHealth: health,
    counters: { count: (name, ...labels) => cells.count(`${name}_total`, ...labels) },

    observe(line, waitUntil, decidedBy) {
      const isAsked = line.outcome !== "own" && line.isOwn !== true;
      cells.request(line, isAsked);
      if (decidedBy !== undefined && isAsked) cells.beside(decidedBy, line);
      if (store === undefined) return;
      if (isAsked) shares.add(line);
      if (line.atMs < dueMs && !isUrgent) {
        // A burst is reported although no request may come after it.
        if (line.atMs >= flushUntilMs && dueMs - line.atMs <= FLUSH_MS_MAX) waitUntil(flush(store));
        return;
      }
      if (line.atMs >= busyUntilMs) waitUntil(sendAlone(store));
    },

    async snapshot(served) {
      const { snapshotOf } = await snapshotModule.load();
      const context = { served, nowMs: clock.nowMs(), own: health };
      if (store === undefined) {
        own.addAll(cells.drain());
        const totals = { sinceMs: startedAtMs, sums: new Map(own), origins: new Map() };
        return snapshotOf({ ...context, source: "isolate", totals });
      }
      // Not the running report of another request: what belongs to that cannot be waited for here.
      const totals = (await send(store)) ? await store.totals().catch(failed) : undefined;
      return snapshotOf({ ...context, source: totals ? "all" : "isolate", totals });
    },

    ...storedFigures(async (read) =>
      store !== undefined && (await send(store)) ? read(store).catch(failed) : undefined,
    ),
  };
}

/** `ask`: reads the store, with all that this isolate has counted; `undefined` if it cannot be read. */
const storedFigures = (
  ask: <Value>(read: (from: MetricsStore) => Promise<Value>) => Promise<Value | undefined>,
): Pick<Metrics, "history" | "problem" | "events"> => ({
  history: async (span, from) =>
    (await ask((store) => store.history(span, from))) ?? (await historyModule.load()).noHistory(span),
  problem: async (slug) =>
    (await ask((store) => store.problem(slug))) ?? { source: "none", slug, keptSeconds: 0, samples: [] },
  events: (query) => ask((store) => store.events(query)),
});

/** Sends what was counted since. A report that failed is sent before it, as it was and by its number. */
function numberedReports({ entropy }: Pick<MetricsOptions, "entropy">, drain: () => MetricsReport) {
  const isolate = [entropy.word(), entropy.word()].map((word) => word.toString(16)).join("-");
  let number = 0;
  /** The last report, until the object is known to have it. */
  let unheard: MetricsReport | undefined;

  const send = async (to: MetricsStore, report: MetricsReport): Promise<readonly OriginHint[]> => {
    const hints = await to.report(report);
    if (unheard === report) unheard = undefined;
    return hints;
  };

  return async (to: MetricsStore): Promise<readonly OriginHint[]> => {
    let hints: readonly OriginHint[] | undefined;
    // The next number comes after the one before it was heard.
    while (unheard !== undefined) hints = await send(to, unheard);
    const next = drain();
    if (hints !== undefined && next.sums.size + next.origins.length === 0) return hints;
    number++;
    unheard = { ...next, from: { isolate, number } };
    return send(to, unheard);
  };
}

/** The outcome of a response is the class of its status: index 1 is 1xx. */
const CLASSES = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** A client's act is no error of a table. */
const isError = ({ outcome, status }: RequestLine): boolean =>
  outcome === "answered" ? status >= 500 : outcome !== "client-left";

/** Problems of own pages keep their outcome, and are told from those of clients by this. */
const OWN_PAGE = { entity: OWN, region: undefined };

class Histogram {
  readonly buckets: number[] = new Array(BUCKETS_MS.length + 1).fill(0);
  sumMs = 0;
}

class RegionCells {
  readonly request = new Histogram();
  readonly origin = new Histogram();
  readonly entities = new Map<string | undefined, Map<string, number>>();
  /** In the order of `STATUS_CLASSES`; of requests for entities. */
  readonly classes: number[] = STATUS_CLASSES.map(() => 0);
  attempts = 0;
  retries = 0;
}

/** Cells are in maps by the names of a request line, so that counting allocates no string and no object. */
class IsolateCounters {
  #regions = new Map<string | undefined, RegionCells>();
  #events = new Map<string, number>();
  #tables = new Map<string, Histogram>();

  /** `isAsked`: for no page of the gateway's own. */
  request(line: RequestLine, isAsked: boolean): void {
    const { outcome, status, ms, originMs, attempts } = line;
    const { entity, region } = line.isOwn === true ? OWN_PAGE : line;
    const cells = this.#regions.get(region) ?? added(this.#regions, region, new RegionCells());
    const outcomes = cells.entities.get(entity) ?? added(cells.entities, entity, new Map());
    const ending = outcome === "answered" ? (CLASSES[Math.floor(status / 100)] ?? "0xx") : outcome;
    outcomes.set(ending, (outcomes.get(ending) ?? 0) + 1);
    observe(cells.request, ms);
    if (originMs !== undefined) observe(cells.origin, originMs);
    if (isAsked) {
      const place = STATUS_CLASSES.indexOf(classOf(line));
      cells.classes[place] = (cells.classes[place] as number) + 1;
    }
    const retries = attempts - (line.asked ?? 1);
    if (retries > 0) cells.retries += retries;
  }

  /** For the comparison of a canary: only while one runs. */
  beside(table: string, line: RequestLine): void {
    this.count("canary_requests_total", table, isError(line) ? "error" : "good");
    this.count("canary_responses_total", table, classOf(line));
    observe(this.#tables.get(table) ?? added(this.#tables, table, new Histogram()), line.ms);
  }

  attempt(region: string, fault: OriginFault | undefined): void {
    (this.#regions.get(region) ?? added(this.#regions, region, new RegionCells())).attempts++;
    if (fault !== undefined) this.count("origin_faults_total", region, fault);
  }

  count(name: MetricName, ...labels: readonly string[]): void {
    const key = seriesKey(name, ...labels);
    this.#events.set(key, (this.#events.get(key) ?? 0) + 1);
  }

  /** Counts of answers since the last `drain`. */
  classes(): RegionClasses {
    return Array.from(this.#regions, ([region = "", { classes }]) => [region, classes] as const).filter(([, counts]) =>
      counts.some((count) => count > 0),
    );
  }

  /** Returns all counts as series and resets them. */
  *drain(): IterableIterator<readonly [key: string, by: number]> {
    const regions = this.#regions;
    const events = this.#events;
    const tables = this.#tables;
    this.#regions = new Map();
    this.#events = new Map();
    this.#tables = new Map();
    yield* events;
    for (const [table, times] of tables) yield* histogramSeries("canary_duration_seconds", table, times);
    for (const [region = "", { request, origin, entities, attempts, retries }] of regions) {
      for (const [entity = "", outcomes] of entities) {
        for (const [outcome, count] of outcomes) yield [seriesKey("requests_total", entity, region, outcome), count];
      }
      yield [seriesKey("origin_attempts_total", region), attempts];
      yield [seriesKey("origin_retries_total", region), retries];
      yield* histogramSeries("request_duration_seconds", region, request);
      yield* histogramSeries("origin_duration_seconds", region, origin);
    }
  }
}

function* histogramSeries(name: MetricName, label: string, { buckets, sumMs }: Histogram) {
  for (const [index, count] of buckets.entries()) yield [seriesKey(name, label, String(index)), count] as const;
  yield [seriesKey(name, label, "sum"), sumMs] as const;
}

function added<Key, Value>(to: Map<Key, Value>, key: Key, value: Value): Value {
  to.set(key, value);
  return value;
}

function observe(into: Histogram, ms: number): void {
  let index = 0;
  while (index < BUCKETS_MS.length && ms > (BUCKETS_MS[index] as number)) index++;
  into.buckets[index] = (into.buckets[index] as number) + 1;
  // A clock may step back; a counter must not.
  if (ms > 0) into.sumMs += ms;
}
