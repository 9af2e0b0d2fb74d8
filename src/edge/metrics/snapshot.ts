import type { MetricsSnapshot, OriginStatus, Sample, ServedTable } from "../../ports/gateway.ts";
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
  const counted = countedRows(totals);
  const stateOf = (url: string) => (source === "all" ? totals?.origins.get(url) : own.stateOf(url));
  const origins = served === undefined ? [] : originsOf(served, stateOf, nowMs);
  const ageSeconds = served && Math.max(0, (nowMs - served.confirmedAtMs) / 1000);
  const rows = new Map<MetricName, readonly Row[]>([
    ...counted,
    ["origin_up", origins.flatMap((one) => (one.lastCheck ? [originRow(one, one.lastCheck.isGood)] : []))],
    ["breaker_open", origins.map((one) => originRow(one, one.breaker === "open"))],
    ["counters_reachable", rowOf(totals === undefined ? 0 : 1)],
    ["table_revision", rowOf(served?.table.revision)],
    ["table_age_seconds", rowOf(ageSeconds)],
  ]);
  return {
    source,
    sinceMs: totals?.sinceMs ?? nowMs,
    // In the order of the catalogue; a metric without a value is left out.
    metrics: (Object.keys(METRICS) as MetricName[]).flatMap((name) => {
      const { type, help } = METRICS[name];
      const samples = samplesOf(name, rows.get(name) ?? []);
      return samples.length === 0 ? [] : [{ name: exportedName(name), type, help, samples }];
    }),
    origins,
    requests: requestsByRegion(counted.get("requests_total")),
    recent: totals?.recent,
  };
}

interface Row {
  /** Values of the labels; of a histogram then what `seriesKey` says. */
  readonly parts: readonly string[];
  readonly sum: number;
}

/** Leaves out metrics of other versions of the gateway. */
function countedRows(totals: MetricsTotals | undefined): ReadonlyMap<MetricName, readonly Row[]> {
  const rows = [...(totals?.sums ?? [])].flatMap(([key, sum]) => {
    const [name = "", ...parts] = keyParts(key);
    return isMetricName(name) ? [{ name, parts, sum }] : [];
  });
  return groupBy(rows, ({ name }) => name);
}

const rowOf = (sum: number | undefined): readonly Row[] => (sum === undefined ? [] : [{ parts: [], sum }]);

const originRow = ({ region, host, index }: OriginStatus, isSo: boolean): Row => ({
  parts: [region, host, String(index)],
  sum: isSo ? 1 : 0,
});

const exportedName = (name: MetricName, suffix = ""): string => `waybill_${name}${suffix}`;

const labelsOf = (name: MetricName, parts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(METRICS[name].labels.map((label, index) => [label, parts[index] ?? ""]));

function samplesOf(name: MetricName, rows: readonly Row[]): readonly Sample[] {
  if (METRICS[name].type === "histogram") return histogramSamples(name, rows);
  return rows.map(({ parts, sum }) => ({ name: exportedName(name), labels: labelsOf(name, parts), value: sum }));
}

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
