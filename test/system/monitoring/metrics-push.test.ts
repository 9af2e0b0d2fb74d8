import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, startCollector } from "./collector.ts";
import { labelsOf, type MetricsRequest, metricsRequest, type Series, seriesOf } from "./otlp-messages.ts";
import { startTraffic } from "./traffic.ts";

/** Metrics that a real gateway pushes; a push is due every second. */

const WAIT_MS = 40_000;

/** Gauges of the isolate that answers, and figures that rise by each look. Looks themselves have no region. */
const OWN = /^waybill_(?:table_age_seconds|reports_total|otlp_pushes_total)$/;
const OF_REGIONS = /^waybill_request/;

const keyOf = ({ name, labels }: Series): string => {
  const pairs = Object.entries(labels).filter(([, value]) => value !== "");
  return `${name}${JSON.stringify(pairs.sort(([one], [other]) => one.localeCompare(other)))}`;
};

const figuresOf = (all: readonly Series[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    all
      .filter(({ name, labels }) => !OWN.test(name) && (!OF_REGIONS.test(name) || (labels["region"] ?? "") !== ""))
      .map((one) => [keyOf(one), one.value]),
  );

async function until<Value>(look: () => Value | undefined | false): Promise<Value> {
  const endMs = Date.now() + WAIT_MS;
  for (;;) {
    const value = look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > endMs) throw new Error("it did not come");
    await delay(100);
  }
}

describe("a gateway with a collector", () => {
  let answer: Answer = { status: 200, body: {} };
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let traffic: Awaited<ReturnType<typeof startTraffic>>;

  beforeAll(async () => {
    collector = await startCollector(() => answer);
    traffic = await startTraffic({
      OTLP_METRICS_URL: `${collector.url}/v1/metrics?tenant=a`,
      OTLP_METRICS_HEADERS: "authorization=Bearer%20a%2Cb%3D, x-scope=1",
      OTLP_METRICS_SECONDS: "1",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=edge%20gateway",
      GATEWAY_NAME: "eu-edge",
    });
    await traffic.round();
    await traffic.round();
  });

  afterAll(async () => {
    await traffic.stop();
    collector.stop();
  });

  const failures = () => traffic.gateway.lines.filter((line) => line.includes("metrics-push-failed"));

  it("sends the protocol's messages to the URL, with its headers and resource", async () => {
    await until(() => collector.taken.length > 1);
    for (const { path, headers, body } of collector.taken) {
      expect(path).toBe("/v1/metrics?tenant=a");
      expect(headers).toMatchObject({ authorization: "Bearer a,b=", "x-scope": "1", "user-agent": "waybill-otlp" });
      expect(v.safeParse(metricsRequest, body).issues).toBeUndefined();
      const [{ resource }] = (body as MetricsRequest).resourceMetrics;
      expect(labelsOf(resource.attributes)).toEqual({
        "service.name": "edge gateway",
        "service.instance.id": "eu-edge",
        "deployment.environment.name": "test",
      });
    }
  });

  it("sends the figures of /-/metrics", async () => {
    // A breaker may turn between the two looks: then both look again.
    await vi.waitFor(
      async () => {
        const { metrics } = JSON.parse(await traffic.metrics());
        const shown = figuresOf(metrics.flatMap(({ samples }: { samples: Series[] }) => samples));
        expect(Object.keys(shown).length).toBeGreaterThan(50);
        const before = collector.taken.length;
        await until(() => collector.taken.length > before);
        const last = v.parse(metricsRequest, collector.taken.at(-1)?.body);
        expect(figuresOf(seriesOf(last))).toEqual(shown);
      },
      { timeout: WAIT_MS },
    );
    // All sums began when the object did, and no later point has another beginning.
    const text = JSON.stringify(collector.taken.map(({ body }) => body));
    expect(new Set(text.match(/"startTimeUnixNano":"\d+"/g)).size).toBe(1);
  });

  it("counts a collector's faults, logs one once, and answers requests as before", async () => {
    answer = { status: 503, headers: { "retry-after": "1" }, body: { code: 14, message: "too\nbusy" } };
    const from = collector.taken.length;
    await until(() => collector.taken.length >= from + 2);
    expect(await traffic.round()).toEqual(expect.arrayContaining([200]));
    await until(() => failures().length > 0);
    expect(failures().map((line) => JSON.parse(line).why)).toEqual(["status 503: too busy"]);

    answer = { status: 200, body: { partialSuccess: { rejectedDataPoints: "3", errorMessage: "too old" } } };
    const rejected = collector.taken.length;
    await until(() => collector.taken.length > rejected + 1);
    answer = { status: 200 };
    const good = collector.taken.length;
    await until(() => collector.taken.length > good + 1);
    expect(await traffic.metrics("text/plain")).toMatch(/waybill_otlp_pushes_total\{outcome="unavailable"\} [1-9]/);
    expect(await traffic.metrics("text/plain")).toMatch(/waybill_otlp_pushes_total\{outcome="partial"\} [1-9]/);
    expect(await traffic.metrics("text/plain")).toMatch(/waybill_otlp_pushes_total\{outcome="taken"\} [1-9]/);

    answer = { status: 401, body: { message: "who are you" } };
    await until(() => failures().length > 1);
    expect(JSON.parse(failures().at(-1) ?? "").why).toBe("status 401: who are you");
  });
});
