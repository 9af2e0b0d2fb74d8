import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportTraces } from "../../src/host/traces.ts";
import { startCollector } from "../system/monitoring/collector.ts";
import { startTraffic } from "../system/monitoring/traffic.ts";

/**
 * The messages for collectors, read by Google's protobuf with OpenTelemetry's own definitions (PyPI, opentelemetry-proto 1.45.0): it
 * refuses unknown names and wrong types. Some 40 s. Skipped where Python has no venv.
 */

const PACKAGE = "opentelemetry-proto==1.45.0";
const hasPython = spawnSync("python3", ["-m", "venv", "--help"]).status === 0;

/** Reads a JSON list of requests, and prints how many points or spans each has. OTLP has IDs in hex, and protobuf in base64. */
const READER = `
import base64, json, sys
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

def with_bytes(value):
    if isinstance(value, list): return [with_bytes(one) for one in value]
    if not isinstance(value, dict): return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {key: base64.b64encode(bytes.fromhex(one)).decode() if key in ids else with_bytes(one) for key, one in value.items()}

counts = []
for request in json.load(sys.stdin):
    if "resourceMetrics" in request:
        read = Parse(json.dumps(request), ExportMetricsServiceRequest())
        metrics = [m for r in read.resource_metrics for s in r.scope_metrics for m in s.metrics]
        counts.append(sum(len(getattr(m, m.WhichOneof("data")).data_points) for m in metrics))
    else:
        read = Parse(json.dumps(with_bytes(request)), ExportTraceServiceRequest())
        spans = [x for r in read.resource_spans for s in r.scope_spans for x in s.spans]
        assert all(len(x.trace_id) == 16 and len(x.span_id) == 8 for x in spans)
        counts.append(len(spans))
print(json.dumps(counts))
`;

describe.skipIf(!hasPython)("OpenTelemetry's protobuf", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-otlp-"));
  const read = (requests: readonly unknown[]): number[] => {
    const input = JSON.stringify(requests);
    return JSON.parse(
      execFileSync(join(folder, "bin/python"), [join(folder, "read.py")], { input, encoding: "utf8", stdio: "pipe" }),
    );
  };

  beforeAll(() => {
    execFileSync("python3", ["-m", "venv", folder]);
    execFileSync(join(folder, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", PACKAGE]);
    writeFileSync(join(folder, "read.py"), READER);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("refuses what is none of its messages", () => {
    const wrong = { resourceMetrics: [{ resource: { attributes: [] }, scope_metrics_: [] }] };
    expect(() => read([wrong])).toThrow(/no field named/);
  });

  it("reads the metrics and the spans of a gateway under traffic", async () => {
    const collector = await startCollector();
    const traffic = await startTraffic({
      OTLP_METRICS_URL: `${collector.url}/v1/metrics`,
      OTLP_METRICS_SECONDS: "1",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=edge",
      REQUEST_LOG: "json",
      TRACE_SHARE: "1",
    });
    const traces = exportTraces({
      collector: { url: `${collector.url}/v1/traces`, headers: "", resource: "" },
      instance: "eu",
      report: (text) => expect(text).toBe(""),
    });
    await traffic.round();
    await traffic.round();
    await delay(4_000);
    for (const line of traffic.gateway.lines) traces.onLine(line);
    await traces.stop();
    const bodiesAt = (path: string) => collector.taken.filter((one) => one.path === path).map(({ body }) => body);
    const points = read(bodiesAt("/v1/metrics"));
    expect(points.length).toBeGreaterThan(1);
    expect(points.at(-1)).toBeGreaterThan(30);
    expect(read(bodiesAt("/v1/traces"))[0]).toBeGreaterThan(15);
    await traffic.stop();
    collector.stop();
  });
});
