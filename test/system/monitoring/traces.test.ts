import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportTraces } from "../../../src/host/traces.ts";
import { type Answer, startCollector } from "./collector.ts";
import { labelsOf, tracesRequest } from "./otlp-messages.ts";

/** Spans of `waybill serve`, and of its exporter alone. */

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const ORDER = "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

type Collector = Awaited<ReturnType<typeof startCollector>>;

/** All spans that a collector got, each message checked. */
const spansOf = ({ taken }: Collector) =>
  taken.flatMap(({ body }) => v.parse(tracesRequest, body).resourceSpans[0].scopeSpans[0].spans);

async function until(isSo: () => boolean, ms = 30_000): Promise<void> {
  const endMs = Date.now() + ms;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error("it did not come");
    await delay(50);
  }
}

describe("waybill serve --otlp-traces", () => {
  const root = mkdtempSync(join(tmpdir(), "waybill-traces-"));
  const seen: IncomingHttpHeaders[] = [];
  const origin = createServer((request, response) => {
    seen.push(request.headers);
    response.statusCode = request.url?.endsWith("/broken") ? 500 : 200;
    response.end("{}");
  });
  let collector: Collector;
  let served: ChildProcess;
  let url = "";
  let printed = "";

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(url + path, { headers }).then((response) => response.text());
  const lastParent = () => String(seen.at(-1)?.["traceparent"]);

  beforeAll(async () => {
    collector = await startCollector();
    await once(origin.listen(0, "127.0.0.1"), "listening");
    const address = origin.address();
    const regions = {
      eu: { origins: [{ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }] },
    };
    const entities = { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } };
    writeFileSync(join(root, "table.json"), JSON.stringify({ regions, entities, routes: [], default: "eu" }));
    const build = ["src/cli/waybill.mjs", "build", join(root, "table.json"), "--out", join(root, "build")];
    expect(spawnSync(process.execPath, build, { encoding: "utf8" }).stderr).toBe("");
    const args = ["serve", join(root, "build"), "--state", join(root, "state"), "--listen", "127.0.0.1:0"];
    served = spawn(process.execPath, ["src/cli/waybill.mjs", ...args, "--otlp-traces", `${collector.url}/v1/traces`], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, GATEWAY_NAME: "eu-edge", OTLP_TRACES_HEADERS: "x-scope=1", TRACE_SHARE: "1" },
    });
    served.stderr?.on("data", (chunk) => {
      printed += chunk;
    });
    await until(() => printed.includes("ready "));
    url = /ready (http:\S+),/.exec(printed)?.[1] ?? "";
  });

  afterAll(() => {
    served.kill("SIGKILL");
    origin.closeAllConnections();
    origin.close();
    collector.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it("is a span between its client's and the origin's", async () => {
    await get(`${ORDER}/items`, { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "acme=1" });
    const [, trace, span, flags] = lastParent().split("-");
    expect([trace, flags, seen.at(-1)?.["tracestate"]]).toEqual([TRACE, "01", "acme=1"]);
    expect(span).not.toBe(PARENT);
    await until(() => spansOf(collector).some(({ traceId }) => traceId === TRACE));
    const [sent] = spansOf(collector).filter(({ traceId }) => traceId === TRACE);
    expect(sent).toMatchObject({ spanId: span, parentSpanId: PARENT, name: "GET order" });
    expect(labelsOf(sent?.attributes ?? [])).toMatchObject({
      "http.request.method": "GET",
      "url.path": `${ORDER}/items`,
      "http.response.status_code": "200",
      "waybill.entity": "order",
      "waybill.region": "eu",
      "waybill.outcome": "answered",
      "waybill.attempts": "1",
    });
    const { headers, path, body } = collector.taken.at(-1) ?? {};
    expect([path, headers?.["x-scope"]]).toEqual(["/v1/traces", "1"]);
    const [{ resource }] = v.parse(tracesRequest, body).resourceSpans;
    expect(labelsOf(resource.attributes)).toEqual({ "service.name": "waybill", "service.instance.id": "eu-edge" });
  });

  it("begins traces, and leaves those alone that are not sampled", async () => {
    await get(ORDER, { tracestate: "of=another" });
    const begun = lastParent();
    expect(begun).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(seen.at(-1)?.["tracestate"]).toBeUndefined();
    const unsampled = `00-${TRACE.replace("0a", "0b")}-${PARENT}-00`;
    await get(ORDER, { traceparent: unsampled });
    expect(lastParent()).toBe(unsampled);
    await get(`${ORDER}/broken`);
    await get("/-/health");
    await get("/nothing/here");
    await until(() => spansOf(collector).some(({ name }) => name === "GET"));
    const spans = spansOf(collector);
    expect(spans.find(({ traceId }) => traceId === begun.slice(3, 35))).toMatchObject({ spanId: begun.slice(36, 52) });
    expect(spans.some(({ traceId }) => traceId.startsWith("0b"))).toBe(false);
    const broken = spans.find(({ attributes }) => labelsOf(attributes)["url.path"]?.endsWith("/broken"));
    expect(broken).toMatchObject({ status: { code: 2 } });
    expect(labelsOf(broken?.attributes ?? [])).toMatchObject({ "error.type": "500" });
    expect(spans.filter(({ attributes }) => labelsOf(attributes)["url.path"] === "/-/health")).toEqual([]);
  });

  it("sends the last spans when it stops", async () => {
    await get(`${ORDER}/last`);
    const ended = once(served, "exit");
    served.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
    const paths = spansOf(collector).map(({ attributes }) => labelsOf(attributes)["url.path"]);
    expect(paths).toContain(`${ORDER}/last`);
    expect(printed).not.toContain("dropped");
  });
});

describe("the exporter", () => {
  const line = (at: number) =>
    JSON.stringify({
      event: "request",
      time: "2026-11-24T12:00:00.250Z",
      method: "GET",
      path: `/${at}`,
      status: 200,
      outcome: "answered",
      ms: 3,
      attempts: 1,
      trace: TRACE,
      span: (at + 1).toString(16).padStart(16, "0"),
    });

  async function exporting(answer: () => Answer) {
    const collector = await startCollector(answer);
    const reports: string[] = [];
    const traces = exportTraces({
      collector: { url: `${collector.url}/v1/traces`, headers: "", resource: "" },
      instance: "eu",
      report: (text) => void reports.push(text),
    });
    return { collector, reports, traces };
  }

  it("takes no other line for a span", async () => {
    const { collector, traces, reports } = await exporting(() => ({ status: 200 }));
    const { span: _, ...unsampled } = JSON.parse(line(1));
    for (const text of ['"span":', '{"span":"1"}', "null", JSON.stringify(unsampled), '{"event":"request","span":7}'])
      traces.onLine(text);
    traces.onLine(line(2));
    await traces.stop();
    expect(spansOf(collector)).toHaveLength(1);
    expect(spansOf(collector)[0]).toMatchObject({
      startTimeUnixNano: "1795521600247000000",
      endTimeUnixNano: "1795521600250000000",
    });
    expect(reports).toEqual([]);
    collector.stop();
  });

  it("sends in batches, and again after a 503, each span once", async () => {
    let turns = 0;
    const { collector, traces, reports } = await exporting(() => ({
      status: turns++ === 0 ? 503 : 200,
      headers: { "retry-after": "1" },
    }));
    for (let at = 0; at < 1_200; at++) traces.onLine(line(at));
    await until(() => collector.taken.length === 4);
    await traces.stop();
    expect(
      collector.taken.map(({ body }) => v.parse(tracesRequest, body).resourceSpans[0].scopeSpans[0].spans.length),
    ).toEqual([512, 512, 512, 176]);
    expect(new Set(spansOf(collector).map(({ spanId }) => spanId)).size).toBe(1_200);
    expect(reports).toEqual([expect.stringMatching(/: unavailable: status 503$/)]);
    collector.stop();
  });

  it("drops refused spans and says so, and keeps no more than it may", async () => {
    const { collector, traces, reports } = await exporting(() => ({ status: 400, body: { message: "no" } }));
    for (let at = 0; at < 10_000; at++) traces.onLine(line(at));
    await traces.stop();
    expect(spansOf(collector).length).toBe(8_192);
    expect(reports).toEqual([expect.stringMatching(/refused: status 400: no$/), "traces: 10000 spans were dropped"]);
    collector.stop();
  });

  it("does not wait long for a collector that is away, when it stops", async () => {
    const { collector, traces, reports } = await exporting(() => ({ status: 200 }));
    collector.stop();
    traces.onLine(line(1));
    await traces.stop();
    expect(reports).toEqual([expect.stringMatching(/: unavailable: /), "traces: 1 spans were dropped"]);
  });

  it("reads no more of an answer than a sentence", async () => {
    let bytes = 0;
    const endless = createServer((_, response) => {
      const chunk = Buffer.alloc(65_536, "a");
      const write = (): void => {
        while (!response.destroyed && response.write(chunk)) bytes += chunk.length;
      };
      response.writeHead(200).on("drain", write);
      write();
    });
    await once(endless.listen(0, "127.0.0.1"), "listening");
    const address = endless.address();
    const reports: string[] = [];
    const traces = exportTraces({
      collector: {
        url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`,
        headers: "",
        resource: "",
      },
      instance: "eu",
      report: (text) => void reports.push(text),
    });
    traces.onLine(line(1));
    await traces.stop();
    endless.closeAllConnections();
    endless.close();
    expect(reports).toEqual([]);
    expect(bytes).toBeLessThan(64 * 1024 * 1024);
  });

  it("prints a collector's words in one line, without a terminal's codes", async () => {
    const message = "no\r\ntraces: all is well \u001b[2J\u009b\u202e";
    const { collector, traces, reports } = await exporting(() => ({ status: 400, body: { message } }));
    traces.onLine(line(1));
    await traces.stop();
    expect(reports[0]).toMatch(/refused: status 400: no {2}traces: all is well {2}\[2J {2}$/);
    collector.stop();
  });
});
