import type { CountedEvents, Metric } from "../../ports/gateway.ts";

/** `labels`: their names, in the order in which series are keyed. */
const kind =
  <Type extends Metric["type"]>(type: Type) =>
  <const Labels extends readonly string[]>(labels: Labels, help: string) => ({ type, labels, help });
const counter = kind("counter");
const histogram = kind("histogram");
const gauge = kind("gauge");

/** Metrics by name without `waybill_`. Counters and histograms are sums of all isolates. Dashboards depend on names and labels. */
export const METRICS = {
  requests_total: counter(
    ["entity", "region", "outcome"],
    "Requests by outcome: the class of the origin's status, the slug of a problem, or own for the gateway's own pages. Problems of those have the entity (own).",
  ),
  request_duration_seconds: histogram(["region"], "Time from the request's arrival to the start of its response."),
  origin_duration_seconds: histogram(
    ["region"],
    "Time from the request's arrival to the start of the origin's response, if any.",
  ),
  origin_attempts_total: counter(["region"], "Requests sent to origins."),
  origin_retries_total: counter(["region"], "Retries, by the region of the last attempt."),
  origin_faults_total: counter(["region", "fault"], "Attempts without a response, by the error types of RFC 9209."),
  breaker_openings_total: counter(["region"], "Circuit breakers that opened, counted in each isolate."),
  broken_bodies_total: counter(["entity", "reason"], "Responses that ended early."),
  answers_elsewhere_total: counter(
    ["decided", "answered"],
    "Responses from another region than the one decided on, after failover or a move that an origin reported.",
  ),
  mirrored_reads_total: counter(
    ["region", "outcome"],
    "Reads mirrored to a shadow, by the shadow and how its response compares with the client's; dropped ones were not sent.",
  ),
  copy_reads_total: counter(
    ["region", "outcome"],
    "Reads sent to a copy, by its region; missing (404), refused (421 or 5xx) and failed ones were sent to the owner too.",
  ),
  unlisted_values_total: counter(
    ["entity", "source"],
    "Values of requests without an ID that are not listed, by the source with unlisted: next that let them go on.",
  ),
  canary_requests_total: counter(
    ["table", "result"],
    "Requests while a canary runs, by the table that decided (stable or canary): error for a 5xx or a problem, else good.",
  ),
  canary_responses_total: counter(
    ["table", "class"],
    "The same requests by what their clients got: 2xx, 3xx, 404, 421, 4xx (others), 5xx, elsewhere (by another region than the table says) or left.",
  ),
  canary_duration_seconds: histogram(["table"], "Their time from arrival to the start of the response."),
  sequence_blocks_total: counter(
    ["sequence", "percent"],
    "Blocks of LUUID keys reserved, by percent of the range used: 0, 90 or 99.",
  ),
  directory_lookups_total: counter(
    ["directory", "outcome"],
    "Look-ups in directories, by the layer that answered, or absent, unknown (absent, and the table has a region for such keys), busy (too many unknown keys) and failed. stale and default: no layer could say for certain.",
  ),
  directory_comparisons_total: counter(
    ["directory", "outcome"],
    "Requests while a directory is verified: same region, differs, unknown key or failed.",
  ),
  directory_updates_total: counter(
    ["directory", "kind", "outcome"],
    "Keys that origins registered (waybill-register) or moved (421), by outcome.",
  ),
  refused_callers_total: counter(["reason"], "Requests to the gateway's own pages that were denied, by reason."),
  reports_total: counter([], "Reports from isolates to the Durable Object: the cost of counting in calls."),
  origin_up: gauge(
    ["region", "origin", "index"],
    "1 if the last active check of the origin passed, else 0. Only regions with active checks.",
  ),
  breaker_open: gauge(
    ["region", "origin", "index"],
    "1 while an isolate's circuit breaker for the origin is open, else 0.",
  ),
  table_revision: gauge([], "Revision of the routing table in the isolate that responds."),
  table_age_seconds: gauge([], "Time since that table was last confirmed to be the published one."),
  counters_reachable: gauge([], "1 if the counters could be read, else 0; then the response has none."),
} satisfies Readonly<Record<string, object>> & Readonly<Record<`${keyof CountedEvents}_total`, object>>;

export type MetricName = keyof typeof METRICS;

export const isMetricName = (text: string): text is MetricName => Object.hasOwn(METRICS, text);

/** Upper bounds of the histograms' buckets, in milliseconds; beyond the last is infinity. */
export const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** Parts of a series' key. No name of a table, no slug and no error type has it. */
const SEPARATOR = "\u001f";

/** Replaces label values when there are too many series. Names in tables have no parentheses. */
export const OTHER = "(other)";

/** The entity of problems that the gateway's own pages answered. Names in tables have no parentheses. */
export const OWN = "(own)";

/** `name` and the values of its labels; for a histogram then `sum`, in milliseconds, or the index of the bucket. */
export const seriesKey = (name: MetricName, ...parts: readonly string[]): string => [name, ...parts].join(SEPARATOR);

export const keyParts = (key: string): readonly string[] => key.split(SEPARATOR);

export function overflowKey(key: string): string {
  const [name = "", ...parts] = keyParts(key);
  const labels = isMetricName(name) ? METRICS[name].labels.length : parts.length;
  return [name, ...parts.map((part, index) => (index < labels ? OTHER : part))].join(SEPARATOR);
}

/** Sums by series, up to a limit. Further series are summed as `(other)`, so that totals stay correct. */
export class SeriesTotals {
  readonly #sums: Map<string, number>;
  readonly #seriesMax: number;

  constructor(seriesMax: number, sums: Iterable<readonly [string, number]> = []) {
    this.#seriesMax = seriesMax;
    this.#sums = new Map(sums);
  }

  /** The key under which it was added. */
  add(key: string, by: number): string {
    const isKept = this.#sums.has(key) || this.#sums.size < this.#seriesMax;
    const counted = isKept ? key : overflowKey(key);
    this.#sums.set(counted, this.get(counted) + by);
    return counted;
  }

  addAll(others: Iterable<readonly [string, number]>): void {
    for (const [key, by] of others) if (by > 0) this.add(key, by);
  }

  get(key: string): number {
    return this.#sums.get(key) ?? 0;
  }

  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#sums[Symbol.iterator]();
  }
}
