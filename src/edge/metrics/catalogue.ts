import type { CountedEvents, Metric } from "../../ports/gateway.ts";

/** `labels`: their names, in the order in which series are keyed. */
const kind =
  <Type extends Metric["type"]>(type: Type) =>
  <const Labels extends readonly string[]>(labels: Labels) => ({ type, labels });
const counter = kind("counter");
const histogram = kind("histogram");
const gauge = kind("gauge");

/** Metrics by name without `waybill_`. Counters and histograms are sums of all isolates. Dashboards depend on names and labels. */
export const METRICS = {
  requests_total: counter(["entity", "region", "outcome"]),
  request_duration_seconds: histogram(["region"]),
  origin_duration_seconds: histogram(["region"]),
  origin_attempts_total: counter(["region"]),
  origin_retries_total: counter(["region"]),
  origin_faults_total: counter(["region", "fault"]),
  breaker_openings_total: counter(["region"]),
  broken_bodies_total: counter(["entity", "reason"]),
  answers_elsewhere_total: counter(["decided", "answered"]),
  mirrored_reads_total: counter(["region", "outcome"]),
  copy_reads_total: counter(["region", "outcome"]),
  hops_sent_total: counter(["region", "outcome"]),
  hops_taken_total: counter(["entry", "outcome"]),
  unlisted_values_total: counter(["entity", "source"]),
  canary_requests_total: counter(["table", "result"]),
  canary_responses_total: counter(["table", "class"]),
  canary_duration_seconds: histogram(["table"]),
  sequence_blocks_total: counter(["sequence", "percent"]),
  directory_lookups_total: counter(["directory", "outcome"]),
  directory_comparisons_total: counter(["directory", "outcome"]),
  directory_updates_total: counter(["directory", "kind", "outcome"]),
  refused_callers_total: counter(["reason"]),
  reports_total: counter([]),
  otlp_pushes_total: counter(["outcome"]),
  origin_up: gauge(["region", "origin", "index"]),
  breaker_open: gauge(["region", "origin", "index"]),
  table_revision: gauge([]),
  table_age_seconds: gauge([]),
  counters_reachable: gauge([]),
  mirror_age_seconds: gauge([]),
  mirror_revision: gauge([]),
  state_node_up: gauge(["node"]),
  edge_behind: gauge(["edge"]),
  edge_mirror_age_seconds: gauge(["edge"]),
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
