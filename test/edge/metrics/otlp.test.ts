import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/edge/config.ts";
import { metricsRequests, POINTS_MAX } from "../../../src/edge/metrics/otlp/encode.ts";
import { pushMetrics } from "../../../src/edge/metrics/otlp/push.ts";
import { ANSWER_CHARACTERS_MAX, judge } from "../../../src/formats/otlp/protocol.ts";
import type { Fetch, Metric } from "../../../src/ports/gateway.ts";

const NOW_MS = Date.UTC(2026, 10, 24, 12);
const clock = { nowMs: () => NOW_MS };

describe("settings of a collector", () => {
  const URL = "https://otlp.acme.com/v1/metrics";
  const faultsOf = (settings: object) => readConfig(settings).faults.map(({ setting }) => setting);

  it.each([
    ["OTLP_METRICS_URL", "http://127.0.0.1:4318/v1/metrics"],
    ["OTLP_METRICS_URL", "https://otlp.acme.com:443/otlp/v1/metrics?tenant=a%20b"],
    ["OTLP_METRICS_HEADERS", "authorization=Basic%20YTpi"],
    ["OTLP_METRICS_HEADERS", "a=1, b=2 ,c=a=b"],
    ["OTLP_METRICS_HEADERS", Array.from({ length: 200 }, (_, at) => `a${at}=1`).join(",")],
    ["OTEL_RESOURCE_ATTRIBUTES", "service.name=edge,service.namespace=shop%2Cfront%20end"],
    ["OTLP_METRICS_SECONDS", "1"],
  ])("%s may be %s", (name, value) => expect(faultsOf({ [name]: value })).toEqual([]));

  it.each([
    ["OTLP_METRICS_URL", "127.0.0.1:4318"],
    ["OTLP_METRICS_URL", "http://127.0.0.1:4318"],
    ["OTLP_METRICS_URL", "http://127.0.0.1:4318/"],
    ["OTLP_METRICS_URL", "https://me:secret@otlp.acme.com/v1/metrics"],
    ["OTLP_METRICS_URL", "grpc://otlp.acme.com/v1/metrics"],
    ["OTLP_METRICS_URL", `${URL}/${"x".repeat(2_048)}`],
    ["OTLP_METRICS_HEADERS", "authorization: Bearer a"],
    ["OTLP_METRICS_HEADERS", "a=1,a=2"],
    ["OTLP_METRICS_HEADERS", "A=1,a=2"],
    ["OTLP_METRICS_HEADERS", "a=%"],
    ["OTLP_METRICS_HEADERS", "a=b%0d%0ac:d"],
    ["OTLP_METRICS_HEADERS", "a=1,"],
    ["OTLP_METRICS_HEADERS", "=1"],
    ["OTLP_METRICS_HEADERS", "Content-Type=text/plain"],
    ["OTLP_METRICS_HEADERS", "host=other.test"],
    ["OTLP_METRICS_HEADERS", "a=%ff"],
    ["OTLP_METRICS_HEADERS", "a=1,b=2, a =3"],
    ["OTLP_METRICS_HEADERS", "a=1,b=2,b=3"],
    ["OTLP_METRICS_HEADERS", "a=ü"],
    ["OTLP_METRICS_HEADERS", `a=${"x".repeat(8_192)}`],
    ["OTLP_METRICS_HEADERS", `${"a,".repeat(50_000)}`],
    ["OTLP_METRICS_HEADERS", `${"a=1,".repeat(2_000)}`],
    ["OTEL_RESOURCE_ATTRIBUTES", "service.name=a,service.name=b"],
    ["OTEL_RESOURCE_ATTRIBUTES", "a=b,"],
    ["OTEL_RESOURCE_ATTRIBUTES", "a=b\nc=d"],
    ["OTEL_RESOURCE_ATTRIBUTES", "service.name"],
    ["OTEL_RESOURCE_ATTRIBUTES", "service.name="],
    ["OTEL_RESOURCE_ATTRIBUTES", "a=b%00c"],
    ["OTLP_METRICS_SECONDS", "0"],
    ["OTLP_METRICS_SECONDS", "1.5"],
  ])("%s must not be %s", (name, value) => expect(faultsOf({ [name]: value })).toEqual([name]));

  it.each([
    ["without credentials that can be read", { OTLP_METRICS_HEADERS: "x" }],
    ["under a name that cannot be read", { OTEL_RESOURCE_ATTRIBUTES: "x" }],
    ["without reports", { REPORT_SECONDS: "0" }],
  ])("nothing is sent %s", (_, more) => {
    expect(readConfig({ OTLP_METRICS_URL: URL }).metricsPush?.OTLP_METRICS_URL).toBe(URL);
    const { metricsPush, faults } = readConfig({ OTLP_METRICS_URL: URL, ...more });
    expect([metricsPush, faults.length]).toEqual([undefined, 1]);
  });
});

describe("a collector's answer", () => {
  const judged = (status: number, body: string, retryAfter: string | null = null) =>
    judge({ status, body, retryAfter }, "rejectedDataPoints", NOW_MS);

  it.each([
    [200, "", { outcome: "taken" }],
    [200, "{}", { outcome: "taken" }],
    [202, "not JSON", { outcome: "taken" }],
    [200, '{"partialSuccess":{}}', { outcome: "taken" }],
    [200, '{"partialSuccess":{"rejectedDataPoints":"0","errorMessage":""}}', { outcome: "taken" }],
    [200, '{"partialSuccess":{"errorMessage":"soon gone"}}', { outcome: "taken", why: "soon gone" }],
    [
      200,
      '{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"old"}}',
      { outcome: "partial", why: "2 not taken: old" },
    ],
    [200, '{"partialSuccess":{"rejectedDataPoints":2}}', { outcome: "partial", why: "2 not taken: " }],
    [200, '{"partialSuccess":null}', { outcome: "taken" }],
    [400, '{"code":3,"message":"bad"}', { outcome: "refused", why: "status 400: bad" }],
    [404, "<html>", { outcome: "refused", why: "status 404" }],
    [301, "", { outcome: "refused", why: "status 301" }],
    [500, "", { outcome: "refused", why: "status 500" }],
    [429, "", { outcome: "unavailable", why: "status 429", afterMs: 0 }],
    [502, "", { outcome: "unavailable", why: "status 502", afterMs: 0 }],
    [503, "[]", { outcome: "unavailable", why: "status 503", afterMs: 0 }],
    [504, "null", { outcome: "unavailable", why: "status 504", afterMs: 0 }],
  ])("%i with %s", (status, body, expected) => expect(judged(status, body)).toEqual(expected));

  it.each([
    ["30", 30_000],
    ["0", 0],
    ["86400", 3_600_000],
    ["9".repeat(12), 3_600_000],
    ["9".repeat(400), 3_600_000],
    [new Date(NOW_MS + 90_000).toUTCString(), 90_000],
    [new Date(NOW_MS - 90_000).toUTCString(), 0],
    ["soon", 0],
    ["-5", 0],
  ])("retry-after: %s is heeded", (text, afterMs) => expect(judged(429, "", text)).toMatchObject({ afterMs }));

  it("has a reason of bounded length", () => {
    const { why = "" } = judged(400, JSON.stringify({ message: "x".repeat(10_000) }));
    expect(why.length).toBe(300);
  });
});

const COUNTER = (series: number): Metric => ({
  name: "waybill_requests_total",
  type: "counter",
  help: "Requests.",
  samples: Array.from({ length: series }, (_, at) => ({
    name: "waybill_requests_total",
    labels: { entity: `entity-with-a-name-of-some-length-${at}`, region: "", outcome: "2xx" },
    value: at,
  })),
});

const requestsOf = (metrics: readonly Metric[]) =>
  metricsRequests(
    metrics,
    { sinceMs: NOW_MS - 1000, nowMs: NOW_MS },
    { instance: "eu", attributes: "service.name=edge" },
  );

describe("the messages", () => {
  it("carry a sum, with what a series has of labels", () => {
    expect(requestsOf([COUNTER(1)])).toEqual([
      {
        resourceMetrics: [
          {
            resource: {
              attributes: [
                { key: "service.name", value: { stringValue: "edge" } },
                { key: "service.instance.id", value: { stringValue: "eu" } },
              ],
            },
            scopeMetrics: [
              {
                scope: { name: "waybill" },
                metrics: [
                  {
                    name: "waybill_requests_total",
                    description: "Requests.",
                    unit: "",
                    sum: {
                      aggregationTemporality: 2,
                      isMonotonic: true,
                      dataPoints: [
                        {
                          attributes: [
                            { key: "entity", value: { stringValue: "entity-with-a-name-of-some-length-0" } },
                            { key: "outcome", value: { stringValue: "2xx" } },
                          ],
                          startTimeUnixNano: "1795521599000000000",
                          timeUnixNano: "1795521600000000000",
                          asInt: "0",
                        },
                      ],
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
    ]);
  });

  it("are of bounded size however many series there are, and leave none out", () => {
    const requests = requestsOf([COUNTER(20_000), COUNTER(1), COUNTER(POINTS_MAX - 1)]);
    expect(requests.length).toBe(11);
    for (const request of requests) expect(JSON.stringify(request).length).toBeLessThan(1_000_000);
    const points = JSON.stringify(requests).match(/"asInt"/g) ?? [];
    expect(points.length).toBe(20_000 + POINTS_MAX);
  });

  it("there are none without metrics", () => expect(requestsOf([])).toEqual([]));
});

describe("a push", () => {
  const collector = { url: "http://collector.test/v1/metrics", headers: "x-scope=1", resource: "" };
  const push = (fetch: Fetch) => pushMetrics([{ a: 1 }, { a: 2 }], collector, { fetch, clock });
  const answering = (...answers: readonly Response[]) => {
    const sent: RequestInit[] = [];
    const fetch: Fetch = async (_, init = {}) => {
      sent.push(init);
      return answers[sent.length - 1] ?? new Response("{}");
    };
    return { sent, fetch };
  };

  it("sends each request, and follows no redirect", async () => {
    const { sent, fetch } = answering();
    expect(await push(fetch)).toEqual({ outcome: "taken" });
    expect(sent.map(({ body, redirect }) => [body, redirect])).toEqual([
      ['{"a":1}', "manual"],
      ['{"a":2}', "manual"],
    ]);
    expect(sent[0]?.headers).toEqual({
      "x-scope": "1",
      "content-type": "application/json",
      "user-agent": "waybill-otlp",
    });
  });

  it.each([[429], [503], [400], [401]])("ends at a %i", async (status) => {
    const { sent, fetch } = answering(new Response("", { status }));
    expect(await push(fetch)).toMatchObject({ why: `status ${status}` });
    expect(sent.length).toBe(1);
  });

  it("remembers a partial success", async () => {
    const { sent, fetch } = answering(Response.json({ partialSuccess: { rejectedDataPoints: "1" } }));
    expect(await push(fetch)).toMatchObject({ outcome: "partial" });
    expect(sent.length).toBe(2);
  });

  it("is unavailable without a connection", async () => {
    const fetch: Fetch = () => Promise.reject(new Error("refused to connect"));
    expect(await push(fetch)).toEqual({ outcome: "unavailable", why: "refused to connect", afterMs: 0 });
  });

  it("reads no endless answer", async () => {
    let chunks = 0;
    const chunk = new Uint8Array(16_384);
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks++;
        controller.enqueue(chunk);
      },
    });
    const { fetch } = answering(new Response(body, { status: 400 }));
    expect(await push(fetch)).toMatchObject({ outcome: "refused" });
    expect(chunks * chunk.length).toBeLessThan(ANSWER_CHARACTERS_MAX * 2);
  });
});
