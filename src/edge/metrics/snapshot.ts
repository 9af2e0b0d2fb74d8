import type { Metric, MetricsSnapshot, OriginStatus, Sample, ServedTable } from "../../ports.ts";
import type { Origin, Region } from "../../routing/table.ts";
import type { IsolateHealth } from "../origins/health.ts";
import { BUCKETS_MS, isMetricName, keyParts, METRICS, type MetricName } from "./catalogue.ts";
import type { MetricsTotals, OriginState } from "./store.ts";

interface MetricsSources {
  readonly source: MetricsSnapshot["source"];
  /** `undefined` if unreadable. Then counters are left out: a 0 would look like a restart. */
  readonly totals: MetricsTotals | undefined;
  readonly served: ServedTable | undefined;
  readonly nowMs: number;
  readonly own: IsolateHealth;
}

/** The metrics and origins for operators. Only origins of the current table are shown. */
export function snapshotOf({ source, totals, served, nowMs, own }: MetricsSources): MetricsSnapshot {
  const series = seriesByMetric(totals);
  const stateOf = (url: string) => (source === "all" ? totals?.origins.get(url) : own.stateOf(url));
  const origins = served === undefined ? [] : originsOf(served, stateOf, nowMs);
  const samples = new Map<MetricName, readonly Sample[]>([
    ...[...series].map(([name, rows]) => [name, samplesOf(name, rows)] as const),
    ["origin_up", origins.flatMap(upSample)],
    ["breaker_open", origins.map((origin) => originSample("breaker_open", origin, origin.breaker === "open"))],
    ["counters_reachable", [gauge("counters_reachable", totals === undefined ? 0 : 1)]],
  ]);
  if (served !== undefined) {
    const ageSeconds = Math.max(0, (nowMs - served.confirmedAtMs) / 1000);
    samples.set("table_revision", [gauge("table_revision", served.table.revision)]);
    samples.set("table_age_seconds", [gauge("table_age_seconds", ageSeconds)]);
  }
  return {
    source,
    sinceMs: totals?.sinceMs ?? nowMs,
    metrics: metricsOf(samples),
    origins,
    requests: requestsByRegion(series.get("requests_total")),
  };
}

/** The parts of a series key after the metric's name, and its sum. */
type Row = readonly [parts: readonly string[], sum: number];

/** Leaves out metrics of other versions of the gateway. */
function seriesByMetric(totals: MetricsTotals | undefined): ReadonlyMap<MetricName, readonly Row[]> {
  const found = new Map<MetricName, Row[]>();
  for (const [key, sum] of totals?.sums ?? []) {
    const [name = "", ...parts] = keyParts(key);
    if (!isMetricName(name)) continue;
    const rows = found.get(name);
    if (rows === undefined) found.set(name, [[parts, sum]]);
    else rows.push([parts, sum]);
  }
  return found;
}

/** In the order of the catalogue; a metric without a value is left out. */
function metricsOf(samples: ReadonlyMap<MetricName, readonly Sample[]>): readonly Metric[] {
  return (Object.keys(METRICS) as MetricName[]).flatMap((name) => {
    const { type, help } = METRICS[name];
    const found = samples.get(name) ?? [];
    return found.length === 0 ? [] : [{ name: exportedName(name), type, help, samples: found }];
  });
}

const exportedName = (name: MetricName, suffix = ""): string => `waybill_${name}${suffix}`;

function labelsOf(name: MetricName, parts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(METRICS[name].labels.map((label, index) => [label, parts[index] ?? ""]));
}

function samplesOf(name: MetricName, rows: readonly Row[]): readonly Sample[] {
  if (METRICS[name].type === "histogram") return histogramSamples(name, rows);
  return rows.map(([parts, value]) => ({ name: exportedName(name), labels: labelsOf(name, parts), value }));
}

interface HistogramSums {
  readonly labels: Readonly<Record<string, string>>;
  readonly buckets: number[];
  sumMs: number;
}

function histogramSamples(name: MetricName, rows: readonly Row[]): readonly Sample[] {
  const histograms = new Map<string, HistogramSums>();
  for (const [parts, sum] of rows) {
    const of = parts.slice(0, -1);
    const key = of.join("\n");
    const histogram = histograms.get(key) ?? {
      labels: labelsOf(name, of),
      buckets: new Array<number>(BUCKETS_MS.length + 1).fill(0),
      sumMs: 0,
    };
    histograms.set(key, histogram);
    const part = parts.at(-1) ?? "";
    if (part === "sum") histogram.sumMs += sum;
    else if (Number(part) in histogram.buckets) histogram.buckets[Number(part)] = sum;
  }
  return [...histograms.values()].flatMap((histogram) => exportedHistogram(name, histogram));
}

/** Exported buckets are cumulative: each counts all durations up to its bound. */
function exportedHistogram(name: MetricName, { labels, buckets, sumMs }: HistogramSums): readonly Sample[] {
  let count = 0;
  const shown = buckets.map((own, index): Sample => {
    count += own;
    const bound = BUCKETS_MS[index];
    const le = bound === undefined ? "+Inf" : String(bound / 1000);
    return { name: exportedName(name, "_bucket"), labels: { ...labels, le }, value: count };
  });
  return [
    ...shown,
    { name: exportedName(name, "_sum"), labels, value: sumMs / 1000 },
    { name: exportedName(name, "_count"), labels, value: count },
  ];
}

const gauge = (name: MetricName, value: number): Sample => ({ name: exportedName(name), labels: {}, value });

const originSample = (name: MetricName, { region, host, index }: OriginStatus, isSo: boolean): Sample => ({
  name: exportedName(name),
  labels: labelsOf(name, [region, host, String(index)]),
  value: isSo ? 1 : 0,
});

const upSample = (origin: OriginStatus): readonly Sample[] =>
  origin.lastCheck === undefined ? [] : [originSample("origin_up", origin, origin.lastCheck.isGood)];

function originsOf(
  { table }: ServedTable,
  stateOf: (url: string) => Partial<OriginState> | undefined,
  nowMs: number,
): readonly OriginStatus[] {
  return [...table.regions.values()].flatMap((region) =>
    region.origins.map((origin, index) => originStatus(region, origin, index, stateOf(origin.url), nowMs)),
  );
}

function originStatus(
  { name, health, breaker: policy }: Region,
  { url, weight }: Origin,
  index: number,
  state: Partial<OriginState> = {},
  nowMs: number,
): OriginStatus {
  const breaker = policy === undefined ? "closed" : breakerState(state, nowMs);
  return {
    region: name,
    index,
    host: new URL(url).host,
    weight,
    breaker,
    openUntilMs: breaker === "open" ? state.breaker?.untilMs : undefined,
    lastFault: state.fault,
    lastAnswerAtMs: state.answeredAtMs,
    lastCheck: health && state.checks?.[health.path],
  };
}

/** As its last change left it. After its time, a response in any isolate closes it. */
function breakerState({ breaker, answeredAtMs = 0 }: Partial<OriginState>, nowMs: number): OriginStatus["breaker"] {
  if (breaker === undefined || breaker.untilMs === 0) return "closed";
  if (nowMs < breaker.untilMs) return "open";
  return answeredAtMs > breaker.atMs ? "closed" : "half-open";
}

function requestsByRegion(rows: readonly Row[] = []): ReadonlyMap<string, number> {
  const requests = new Map<string, number>();
  const at = METRICS.requests_total.labels.indexOf("region");
  for (const [parts, sum] of rows) {
    const region = parts[at] ?? "";
    if (region !== "") requests.set(region, (requests.get(region) ?? 0) + sum);
  }
  return requests;
}
