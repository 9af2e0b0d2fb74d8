import type { MetricsSnapshot, OriginStatus, Sample, ServedTable } from "../../ports.ts";
import { groupBy } from "../../routing/layouts/plan.ts";
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
    [
      "origin_up",
      origins.flatMap((one) => (one.lastCheck ? originSample("origin_up", one, one.lastCheck.isGood) : [])),
    ],
    ["breaker_open", origins.map((one) => originSample("breaker_open", one, one.breaker === "open"))],
    ["counters_reachable", [sample("counters_reachable", [], totals === undefined ? 0 : 1)]],
  ]);
  if (served !== undefined) {
    const ageSeconds = Math.max(0, (nowMs - served.confirmedAtMs) / 1000);
    samples.set("table_revision", [sample("table_revision", [], served.table.revision)]);
    samples.set("table_age_seconds", [sample("table_age_seconds", [], ageSeconds)]);
  }
  return {
    source,
    sinceMs: totals?.sinceMs ?? nowMs,
    // In the order of the catalogue; a metric without a value is left out.
    metrics: (Object.keys(METRICS) as MetricName[]).flatMap((name) => {
      const { type, help } = METRICS[name];
      const found = samples.get(name) ?? [];
      return found.length === 0 ? [] : [{ name: exportedName(name), type, help, samples: found }];
    }),
    origins,
    requests: requestsByRegion(series.get("requests_total")),
  };
}

interface Row {
  readonly name: MetricName;
  /** Of the series' key, after the name. */
  readonly parts: readonly string[];
  readonly sum: number;
}

/** Leaves out metrics of other versions of the gateway. */
function seriesByMetric(totals: MetricsTotals | undefined): ReadonlyMap<MetricName, readonly Row[]> {
  const rows = [...(totals?.sums ?? [])].flatMap(([key, sum]) => {
    const [name = "", ...parts] = keyParts(key);
    return isMetricName(name) ? [{ name, parts, sum }] : [];
  });
  return groupBy(rows, ({ name }) => name);
}

const exportedName = (name: MetricName, suffix = ""): string => `waybill_${name}${suffix}`;

const labelsOf = (name: MetricName, parts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(METRICS[name].labels.map((label, index) => [label, parts[index] ?? ""]));

function samplesOf(name: MetricName, rows: readonly Row[]): readonly Sample[] {
  if (METRICS[name].type === "histogram") return histogramSamples(name, rows);
  return rows.map(({ parts, sum }) => sample(name, parts, sum));
}

const sample = (name: MetricName, parts: readonly string[], value: number): Sample => ({
  name: exportedName(name),
  labels: labelsOf(name, parts),
  value,
});

/** Exported buckets are cumulative: each counts all durations up to its bound. */
function histogramSamples(name: MetricName, rows: readonly Row[]): readonly Sample[] {
  const byLabels = groupBy(rows, ({ parts }) => parts.slice(0, -1).join("\n"));
  return [...byLabels.values()].flatMap((own) => {
    const labels = labelsOf(name, own[0]?.parts.slice(0, -1) ?? []);
    const sums = new Map(own.map(({ parts, sum }) => [parts.at(-1), sum]));
    let count = 0;
    const buckets = [...BUCKETS_MS, Number.POSITIVE_INFINITY].map((boundMs, index): Sample => {
      count += sums.get(String(index)) ?? 0;
      const le = boundMs === Number.POSITIVE_INFINITY ? "+Inf" : String(boundMs / 1000);
      return { name: exportedName(name, "_bucket"), labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { name: exportedName(name, "_sum"), labels, value: (sums.get("sum") ?? 0) / 1000 },
      { name: exportedName(name, "_count"), labels, value: count },
    ];
  });
}

const originSample = (name: MetricName, { region, host, index }: OriginStatus, isSo: boolean): Sample =>
  sample(name, [region, host, String(index)], isSo ? 1 : 0);

const originsOf = ({ table }: ServedTable, stateOf: (url: string) => Partial<OriginState> | undefined, nowMs: number) =>
  [...table.regions.values()].flatMap(({ name, health, breaker: policy, origins }) =>
    origins.map(({ url, weight }, index) => {
      const state = stateOf(url) ?? {};
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
    }),
  );

/** As its last change left it. After its time, a response in any isolate closes it. */
function breakerState({ breaker, answeredAtMs = 0 }: Partial<OriginState>, nowMs: number): OriginStatus["breaker"] {
  if (breaker === undefined || breaker.untilMs === 0) return "closed";
  if (nowMs < breaker.untilMs) return "open";
  return answeredAtMs > breaker.atMs ? "closed" : "half-open";
}

function requestsByRegion(rows: readonly Row[] = []): ReadonlyMap<string, number> {
  const requests = new Map<string, number>();
  const at = METRICS.requests_total.labels.indexOf("region");
  for (const { parts, sum } of rows) {
    const region = parts[at] ?? "";
    if (region !== "") requests.set(region, (requests.get(region) ?? 0) + sum);
  }
  return requests;
}
