import type { MetricsSnapshot, OriginStatus, Sample, ServedTable } from "../../ports/gateway.ts";
import { groupBy } from "../../routing/layouts/plan.ts";
import { BUCKETS_MS, isMetricName, keyParts, METRICS, type MetricName } from "./catalogue.ts";
import { originsOf } from "./origin-states.ts";
import type { MetricsTotals, OriginState } from "./store.ts";

interface MetricsSources {
  readonly source: MetricsSnapshot["source"];
  /** `undefined` if unreadable. Then counters are left out: a 0 would look like a restart. */
  readonly totals: MetricsTotals | undefined;
  readonly served: ServedTable | undefined;
  readonly nowMs: number;
  readonly own: { stateOf(url: string): Partial<OriginState> | undefined };
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
      const { type } = METRICS[name];
      const help = HELP[name];
      const samples = samplesOf(name, rows.get(name) ?? []);
      return samples.length === 0 ? [] : [{ name: exportedName(name), type, help, samples }];
    }),
    origins,
    requests: requestsByRegion(counted.get("requests_total")),
    recent: totals?.recent,
    states: totals?.states,
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

export const exportedName = (name: MetricName, suffix = ""): string => `waybill_${name}${suffix}`;

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

function requestsByRegion(rows: readonly Row[] = []): ReadonlyMap<string, number> {
  const requests = new Map<string, number>();
  const at = METRICS.requests_total.labels.indexOf("region");
  for (const { parts, sum } of rows) {
    const region = parts[at] ?? "";
    if (region !== "") requests.set(region, (requests.get(region) ?? 0) + sum);
  }
  return requests;
}

/** Each metric in words. They stand here since a start loads the catalogue. */
export const HELP: Readonly<Record<MetricName, string>> = {
  requests_total:
    "Requests by outcome: the class of the origin's status, the slug of a problem, or own for the gateway's own pages. Problems of those have the entity (own).",
  request_duration_seconds: "Time from the request's arrival to the start of its response.",
  origin_duration_seconds: "Time from the request's arrival to the start of the origin's response, if any.",
  origin_attempts_total: "Requests sent to origins.",
  origin_retries_total: "Retries, by the region of the last attempt.",
  origin_faults_total: "Attempts without a response, by the error types of RFC 9209.",
  breaker_openings_total: "Circuit breakers that opened, counted in each isolate.",
  broken_bodies_total: "Responses that ended early.",
  answers_elsewhere_total:
    "Responses from another region than the one decided on, after failover or a move that an origin reported.",
  mirrored_reads_total:
    "Reads mirrored to a shadow, by the shadow and how its response compares with the client's; dropped ones were not sent.",
  copy_reads_total:
    "Reads sent to a copy, by its region; missing (404), refused (421 or 5xx) and failed ones were sent to the owner too.",
  hops_sent_total:
    "Requests that another gateway of the mesh was asked for: answered by an origin, failed there, refused (tables, settings or clocks differ) or unreachable.",
  hops_taken_total:
    "Requests of other gateways of the mesh, by the gateway that the client asked: answered by an origin, or the slug of a problem.",
  unlisted_values_total:
    "Values of requests without an ID that are not listed, by the source with unlisted: next that let them go on.",
  canary_requests_total:
    "Requests while a canary runs, by the table that decided (stable or canary): error for a 5xx or a problem, else good.",
  canary_responses_total:
    "The same requests by what their clients got: 2xx, 3xx, 404, 421, 4xx (others), 5xx, elsewhere (by another region than the table says) or left.",
  canary_duration_seconds: "Their time from arrival to the start of the response.",
  sequence_blocks_total: "Blocks of LUUID keys reserved, by percent of the range used: 0, 90 or 99.",
  directory_lookups_total:
    "Look-ups in directories, by the layer that answered, or absent, unknown (absent, and the table has a region for such keys), busy (too many unknown keys) and failed. stale and default: no layer could say for certain.",
  directory_comparisons_total: "Requests while a directory is verified: same region, differs, unknown key or failed.",
  directory_updates_total: "Keys that origins registered (waybill-register) or moved (421), by outcome.",
  refused_callers_total: "Requests to the gateway's own pages that were denied, by reason.",
  reports_total: "Reports from isolates to the Durable Object: the cost of counting in calls.",
  otlp_pushes_total:
    "Pushes of these metrics to a collector: taken, partial (it left some out), refused, or unavailable (temporarily).",
  origin_up: "1 if the last active check of the origin passed, else 0. Only regions with active checks.",
  breaker_open: "1 while an isolate's circuit breaker for the origin is open, else 0.",
  table_revision: "Revision of the routing table in the isolate that responds.",
  table_age_seconds: "Time since that table was last confirmed to be the published one.",
  counters_reachable: "1 if the counters could be read, else 0; then the response has none.",
  mirror_age_seconds: "On an edge: time since a state node said that its mirror is what is published.",
  mirror_revision: "On an edge: revision of the routing table in its mirror; 0 for none.",
  state_node_up: "On an edge: 1 if the state node answers it, else 0.",
  edge_behind:
    "1 if the mirror of the edge is behind what is published, else 0. Edges that asked in the last 10 minutes.",
  edge_mirror_age_seconds: "Age of the mirror of each of these edges, as the control plane heard of it.",
};
