import * as v from "valibot";

/**
 * The messages of OTLP 1.x in the JSON mapping of the protocol: names in camel case and no others, 64-bit integers as decimal
 * texts, enumerations as numbers, IDs in hex (opentelemetry-proto, docs/specs/otlp "JSON Protobuf Encoding").
 */

const uint64 = v.pipe(v.string(), v.regex(/^(?:0|[1-9]\d{0,19})$/));
const int64 = v.pipe(v.string(), v.regex(/^(?:0|-?[1-9]\d{0,18})$/));
const nanos = v.pipe(v.string(), v.regex(/^1[789]\d{17}$/));
const text = v.pipe(v.string(), v.minLength(1));

const anyValue = v.union([v.strictObject({ stringValue: v.string() }), v.strictObject({ intValue: int64 })]);
const attributes = v.pipe(
  v.array(v.strictObject({ key: text, value: anyValue })),
  v.check((all) => new Set(all.map(({ key }) => key)).size === all.length, "keys are unique"),
);
const resource = v.strictObject({ attributes });
const scope = v.strictObject({ name: text });

const numberPoint = v.union([
  v.strictObject({ attributes, startTimeUnixNano: v.optional(nanos), timeUnixNano: nanos, asInt: int64 }),
  v.strictObject({ attributes, startTimeUnixNano: v.optional(nanos), timeUnixNano: nanos, asDouble: v.number() }),
]);

const histogramPoint = v.pipe(
  v.strictObject({
    attributes,
    startTimeUnixNano: nanos,
    timeUnixNano: nanos,
    count: uint64,
    sum: v.number(),
    bucketCounts: v.array(uint64),
    explicitBounds: v.array(v.number()),
  }),
  v.check(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1, "one bucket more"),
  v.check(({ explicitBounds: b }) => b.every((one, i) => i === 0 || one > (b[i - 1] ?? 0)), "bounds rise"),
  v.check(
    ({ bucketCounts, count }) => bucketCounts.reduce((sum, one) => sum + Number(one), 0) === Number(count),
    "sum",
  ),
);

const points = <Point extends v.GenericSchema>(point: Point) => v.pipe(v.array(point), v.minLength(1));
const named = { name: text, description: text, unit: v.string() };
const cumulative = { aggregationTemporality: v.literal(2) };
const metric = v.union([
  v.strictObject({
    ...named,
    sum: v.strictObject({ ...cumulative, isMonotonic: v.literal(true), dataPoints: points(numberPoint) }),
  }),
  v.strictObject({ ...named, gauge: v.strictObject({ dataPoints: points(numberPoint) }) }),
  v.strictObject({ ...named, histogram: v.strictObject({ ...cumulative, dataPoints: points(histogramPoint) }) }),
]);

export const metricsRequest = v.strictObject({
  resourceMetrics: v.tuple([
    v.strictObject({ resource, scopeMetrics: v.tuple([v.strictObject({ scope, metrics: v.array(metric) })]) }),
  ]),
});

export type MetricsRequest = v.InferOutput<typeof metricsRequest>;

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The series of Prometheus that a backend makes of a request. */
export function seriesOf({ resourceMetrics: [{ scopeMetrics }] }: MetricsRequest): readonly Series[] {
  return scopeMetrics[0].metrics.flatMap((one): readonly Series[] => {
    const { name } = one;
    if ("histogram" in one)
      return one.histogram.dataPoints.flatMap((point) => {
        const labels = labelsOf(point.attributes);
        let below = 0;
        const buckets = point.bucketCounts.map((count, index) => {
          below += Number(count);
          return {
            name: `${name}_bucket`,
            labels: { ...labels, le: String(point.explicitBounds[index] ?? "+Inf") },
            value: below,
          };
        });
        return [
          ...buckets,
          { name: `${name}_sum`, labels, value: point.sum },
          { name: `${name}_count`, labels, value: Number(point.count) },
        ];
      });
    const { dataPoints } = "sum" in one ? one.sum : one.gauge;
    return dataPoints.map((point) => ({
      name,
      labels: labelsOf(point.attributes),
      value: "asInt" in point ? Number(point.asInt) : point.asDouble,
    }));
  });
}

export const labelsOf = (pairs: v.InferOutput<typeof attributes>): Readonly<Record<string, string>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, "stringValue" in value ? value.stringValue : value.intValue]));

const hex = (digits: number) => v.pipe(v.string(), v.regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`)));

const span = v.pipe(
  v.strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: v.optional(hex(16)),
    name: text,
    kind: v.literal(2),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes,
    status: v.optional(v.strictObject({ code: v.literal(2) })),
  }),
  v.check(({ startTimeUnixNano: from, endTimeUnixNano: to }) => BigInt(from) <= BigInt(to), "ends after its start"),
);

export const tracesRequest = v.strictObject({
  resourceSpans: v.tuple([
    v.strictObject({ resource, scopeSpans: v.tuple([v.strictObject({ scope, spans: points(span) })]) }),
  ]),
});
