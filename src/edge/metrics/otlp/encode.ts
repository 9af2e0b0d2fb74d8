import { attributesOf, nanosOf, resourceOf, SCOPE } from "../../../formats/otlp/protocol.ts";
import type { Metric, Sample } from "../../../ports/gateway.ts";
import { groupBy } from "../../../routing/layouts/plan.ts";

interface Times {
  /** Beginning of all sums. */
  readonly sinceMs: number;
  readonly nowMs: number;
}

interface Resource {
  readonly instance: string;
  readonly attributes: string;
}

/** Data points of one request: its body stays below 1 MB, which every collector takes. */
export const POINTS_MAX = 2_000;

/** Sums since `sinceMs`: the temporality that Prometheus has too. */
const CUMULATIVE = 2;

/** The requests (`ExportMetricsServiceRequest`) that carry what `/-/metrics` shows, under the same names. */
export function metricsRequests(metrics: readonly Metric[], times: Times, { instance, attributes }: Resource) {
  const resource = resourceOf(instance, attributes);
  return batches(metrics.flatMap((metric) => splitMetric(metric, times))).map((batch) => ({
    resourceMetrics: [{ resource, scopeMetrics: [{ scope: SCOPE, metrics: batch }] }],
  }));
}

type Encoded = ReturnType<typeof encodeMetric>;

interface Part {
  readonly metric: Encoded;
  readonly points: number;
}

function splitMetric(metric: Metric, times: Times): readonly Part[] {
  const points = metric.type === "histogram" ? histogramPoints(metric, times) : numberPoints(metric, times);
  const parts = Array.from({ length: Math.ceil(points.length / POINTS_MAX) }, (_, index) =>
    points.slice(index * POINTS_MAX, (index + 1) * POINTS_MAX),
  );
  return parts.map((part) => ({ metric: encodeMetric(metric, part), points: part.length }));
}

function batches(parts: readonly Part[]): readonly (readonly Encoded[])[] {
  const all: Encoded[][] = [];
  let left = 0;
  for (const { metric, points } of parts) {
    if (points > left) {
      all.push([]);
      left = POINTS_MAX;
    }
    all.at(-1)?.push(metric);
    left -= points;
  }
  return all;
}

/** A name that ends in its unit or in `_total` gets no second one where Prometheus takes OTLP. */
const encodeMetric = ({ name, type, help }: Metric, dataPoints: readonly object[]) => ({
  name,
  description: help,
  unit: name.endsWith("_seconds") ? "s" : "",
  ...(type === "histogram"
    ? { histogram: { aggregationTemporality: CUMULATIVE, dataPoints } }
    : type === "counter"
      ? { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } }
      : { gauge: { dataPoints } }),
});

const numberPoints = ({ type, samples }: Metric, { sinceMs, nowMs }: Times): readonly object[] =>
  samples.map(({ labels, value }) => ({
    attributes: attributesOf(Object.entries(labels)),
    ...(type === "counter" ? { startTimeUnixNano: nanosOf(sinceMs) } : {}),
    timeUnixNano: nanosOf(nowMs),
    ...(type === "counter" && Number.isSafeInteger(value) ? { asInt: String(value) } : { asDouble: value }),
  }));

/** Buckets of OTLP count for themselves, those of Prometheus include all below. */
function histogramPoints({ name, samples }: Metric, { sinceMs, nowMs }: Times): readonly object[] {
  const byLabels = groupBy(samples, ({ labels: { le: _, ...own } }) => JSON.stringify(own));
  return Array.from(byLabels, ([labels, own]) => {
    const figure = (suffix: string) => own.find((sample) => sample.name === name + suffix)?.value ?? 0;
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    return {
      attributes: attributesOf(Object.entries<string>(JSON.parse(labels))),
      startTimeUnixNano: nanosOf(sinceMs),
      timeUnixNano: nanosOf(nowMs),
      count: String(figure("_count")),
      sum: figure("_sum"),
      bucketCounts: buckets.map(({ value }, index) => String(value - (buckets[index - 1]?.value ?? 0))),
      explicitBounds: boundsOf(buckets),
    };
  });
}

/** The last bucket has no upper bound. */
const boundsOf = (buckets: readonly Sample[]): readonly number[] =>
  buckets.slice(0, -1).map(({ labels }) => Number(labels["le"]));
