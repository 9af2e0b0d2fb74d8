import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { BUCKETS_MS, seriesKey } from "../../../src/edge/metrics/catalogue.ts";
import { type HistoryRow, TrafficHistory } from "../../../src/edge/metrics/history.ts";
import { isolateMetrics } from "../../../src/edge/metrics/isolate-metrics.ts";
import { durableMetrics, type MetricsReport } from "../../../src/edge/metrics/store.ts";
import { pooledEntropy } from "../../../src/edge/platform.ts";
import type { RequestLine } from "../../../src/ports/gateway.ts";

const { TRAFFIC } = env as Env;
const START_MS = Date.UTC(2026, 10, 23, 10);

const requests = (region: string, outcome: string) => seriesKey("requests_total", "order", region, outcome);
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe("the history of the traffic", () => {
  it("has every step up to now, and counts a report in the step of its arrival", () => {
    const history = new TrafficHistory();
    history.add([[requests("eu", "2xx"), 3]], START_MS + 9_999);
    history.add(
      [
        [requests("eu", "5xx"), 2],
        [requests("us", "origin-timeout"), 1],
      ],
      START_MS + 10_000,
    );
    history.add(
      [
        [requests("", "malformed-id"), 4],
        [seriesKey("origin_faults_total", "us", "x"), 6],
      ],
      START_MS + 30_000,
    );
    const { at, total, regions, problems } = history.read("hour", { nowMs: START_MS + 45_000, sinceMs: START_MS });
    expect(at).toEqual([0, 10, 20, 30, 40].map((seconds) => START_MS / 1000 + seconds));
    expect(total).toMatchObject({ requests: [3, 3, 0, 4, 0], errors: [0, 3, 0, 0, 0], refused: [0, 0, 0, 4, 0] });
    expect(Object.keys(regions)).toEqual(["eu", "us"]);
    expect(regions["eu"]).toMatchObject({ requests: [3, 2, 0, 0, 0], errors: [0, 2, 0, 0, 0] });
    expect(regions["us"]).toMatchObject({ requests: [0, 1, 0, 0, 0], faults: [0, 0, 0, 6, 0] });
    expect(problems).toEqual({ "origin-timeout": [0, 1, 0, 0, 0], "malformed-id": [0, 0, 0, 4, 0] });
  });

  it.each(["loop-detected", "client-left", "malformed-id"])(
    "a client's own doing is no error of a region: %s",
    (slug) => {
      const history = new TrafficHistory();
      history.add([[requests("eu", slug), 9]], START_MS);
      const { regions } = history.read("hour", { nowMs: START_MS, sinceMs: START_MS });
      expect(regions["eu"]).toMatchObject({ requests: [9], errors: [0], refused: [9] });
    },
  );

  it("has the traffic of the last minute by region, without what is older", () => {
    const history = new TrafficHistory();
    history.add([[requests("eu", "5xx"), 9]], START_MS);
    history.add(
      [
        [requests("eu", "2xx"), 3],
        [requests("eu", "origin-timeout"), 1],
        [seriesKey("origin_duration_seconds", "eu", "0"), 3],
        [seriesKey("origin_faults_total", "eu", "x"), 2],
      ],
      START_MS + 70_000,
    );
    history.add([[requests("us", "5xx"), 1]], START_MS + 79_999);
    expect(history.recent(START_MS + 79_999)).toEqual(
      new Map([
        ["eu", { requests: 4, errors: 1, faults: 2, answers: 3 }],
        ["us", { requests: 1, errors: 1, faults: 0, answers: 0 }],
      ]),
    );
    expect([...history.recent(START_MS + 140_000).keys()]).toEqual([]);
  });

  it("leaves out the gateway's own pages, which the console asks for", () => {
    const history = new TrafficHistory();
    history.add(
      [
        [requests("", "own"), 5],
        [seriesKey("requests_total", "(own)", "", "malformed-id"), 5],
        [seriesKey("request_duration_seconds", "", "0"), 5],
      ],
      START_MS,
    );
    expect(sum(history.read("hour", { nowMs: START_MS, sinceMs: START_MS }).total.requests)).toBe(0);
  });

  it("says how long requests took together, after an upgrade and before one too", () => {
    const history = new TrafficHistory();
    history.add(
      [
        [requests("eu", "2xx"), 2],
        [seriesKey("request_duration_seconds", "eu", "sum"), 1_500.25],
        [seriesKey("origin_duration_seconds", "eu", "sum"), 900],
        [seriesKey("request_duration_seconds", "", "sum"), 70],
      ],
      START_MS,
    );
    const times = { nowMs: START_MS, sinceMs: START_MS };
    expect(history.read("hour", times).regions["eu"]?.busyMs).toEqual([1_500.25]);
    const { rows } = history.takeChanges(START_MS);
    const { regions, busy, ...others } = JSON.parse(rows[0]?.step ?? "");
    expect([busy, regions[0][1].length]).toEqual([[["eu", 1_500]], 4 + 2 * (BUCKETS_MS.length + 1)]);
    const read = (step: object) => new TrafficHistory([{ ...rows[0], step: JSON.stringify(step) } as HistoryRow]);
    expect(read({ regions, busy, ...others }).read("hour", times).regions["eu"]).toMatchObject({ busyMs: [1_500] });
    // As a former version wrote it.
    const former = read({ regions, ...others }).read("hour", times).regions["eu"];
    expect(former).toMatchObject({ requests: [2], busyMs: [0] });
  });

  it("says times within their bucket, and none where nothing was measured", () => {
    const history = new TrafficHistory();
    const bucket = (index: number, by: number) =>
      [seriesKey("request_duration_seconds", "eu", String(index)), by] as const;
    history.add([[requests("eu", "2xx"), 100], bucket(0, 50), bucket(3, 49), bucket(12, 1)], START_MS);
    const { total } = history.read("hour", { nowMs: START_MS + 10_000, sinceMs: START_MS });
    expect(total.p50).toEqual([BUCKETS_MS[0], null]);
    expect(total.p99).toEqual([BUCKETS_MS[3], null]);
    expect(total.originP50).toEqual([null, null]);
  });

  it("tells the table in force from the canary, of all steps together", () => {
    const history = new TrafficHistory();
    const canary = (...parts: string[]) => seriesKey("canary_requests_total", ...parts);
    const answers = (...parts: string[]) => seriesKey("canary_responses_total", ...parts);
    const times = (table: string, bucket: number) => seriesKey("canary_duration_seconds", table, String(bucket));
    history.add([[canary("canary", "good"), 7]], START_MS);
    history.add(
      [
        [canary("canary", "error"), 3],
        [canary("stable", "good"), 90],
        [canary("(other)", "(other)"), 5],
        [answers("canary", "404"), 120],
        [answers("canary", "2xx"), 80],
        [answers("stable", "2xx"), 900],
        [answers("stable", "9xx"), 1],
        [answers("(other)", "(other)"), 1],
        [times("stable", 0), 90],
        [times("stable", BUCKETS_MS.length + 5), 90],
        [requests("eu", "2xx"), 100],
      ],
      START_MS + 10_000,
    );
    const asked = { nowMs: START_MS + 10_000, sinceMs: START_MS };
    const none = { "2xx": 0, "3xx": 0, "404": 0, "421": 0, "4xx": 0, "5xx": 0, elsewhere: 0, left: 0 };
    const classes = { stable: { ...none, "2xx": 900 }, canary: { ...none, "2xx": 80, "404": 120 } };
    expect(history.read("hour", asked)).toMatchObject({
      tables: {
        stable: { requests: 90, errors: 0, classes: classes.stable, p50: 2.5, p99: 5 },
        canary: { requests: 10, errors: 3, classes: classes.canary, p50: null, p99: null },
      },
      canaryVerdict: { verdict: "worse", words: "Do not promote: 60 % get 404, 0 % in force." },
    });
    const { conditions } = history.read("hour", { ...asked, nowMs: START_MS + 1_810_000 }).canaryVerdict;
    expect(conditions?.slice(0, 3)).toEqual([
      { name: "requests", holds: true, value: 200, bound: 100 },
      // Since the step of its first answer.
      { name: "time", holds: true, value: 1_800, bound: 1_800 },
      { name: "classes", holds: false, value: 1, bound: 0 },
    ]);
    const again = new TrafficHistory(history.takeChanges(START_MS).rows);
    const later = again.read("hour", { ...asked, from: START_MS / 1000 + 10 });
    expect(later.tables.canary).toMatchObject({ requests: 3, errors: 3, classes: classes.canary });
  });

  it("is that of a list of all reports, and stays within its bounds", () => {
    const report = fc.record({
      afterMs: fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 0, max: 7_200_000 })),
      region: fc.constantFrom("eu", "us", "ap", ""),
      outcome: fc.constantFrom("2xx", "4xx", "5xx", "own", "origin-timeout", "unknown-id", "client-left"),
      by: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(report, { maxLength: 60 }), (reports) => {
        const history = new TrafficHistory();
        let nowMs = START_MS;
        const all = reports.map(({ afterMs, ...one }) => {
          nowMs += afterMs;
          history.add([[requests(one.region, one.outcome), one.by]], nowMs);
          return { ...one, atMs: nowMs };
        });
        for (const [span, stepSeconds, steps] of [
          ["hour", 10, 360],
          ["day", 300, 288],
        ] as const) {
          const read = history.read(span, { nowMs, sinceMs: 0 });
          expect(read.at).toHaveLength(steps);
          for (const [index, start] of read.at.entries()) {
            const own = all.filter(
              ({ atMs, outcome }) => outcome !== "own" && Math.floor(atMs / 1000 / stepSeconds) * stepSeconds === start,
            );
            const isError = ({ outcome }: { outcome: string }) => ["5xx", "origin-timeout"].includes(outcome);
            expect(read.total.requests[index]).toBe(sum(own.map(({ by }) => by)));
            expect(read.total.errors[index]).toBe(sum(own.filter(isError).map(({ by }) => by)));
          }
        }
      }),
    );
  });

  it("has the same space whatever is reported: regions, problems, time", () => {
    const history = new TrafficHistory();
    for (let at = 0; at < 2_000; at++) {
      const names = Array.from({ length: 50 }, (_, index) => `r${index}`);
      history.add(
        names.map((name, index) => [requests(name, `problem-${index}`), 1] as const),
        START_MS + at * 10_000,
      );
    }
    const times = { nowMs: START_MS + 20_000_000, sinceMs: START_MS };
    const { regions, at, total } = history.read("hour", times);
    expect([at.length, Object.keys(regions).length]).toEqual([360, 33]);
    // Regions beyond the bound are counted all the same.
    expect(total.requests.at(-2)).toBe(50);
    const { rows, keptFrom } = history.takeChanges(times.nowMs);
    expect(rows.length).toBeLessThanOrEqual(360 + 288);
    expect(keptFrom.hour).toBeGreaterThan(START_MS / 1000);
    expect(Math.max(...rows.map(({ step }) => step.length))).toBeLessThan(12_000);
  });

  it("is the same after it was stored, and leaves out what it cannot read", () => {
    const history = new TrafficHistory();
    history.add([[requests("eu", "2xx"), 3]], START_MS);
    const { rows } = history.takeChanges(START_MS);
    const times = { nowMs: START_MS, sinceMs: START_MS };
    const foreign = [
      { span: "week", at: 0, step: "{}" },
      { span: "hour", at: 0, step: '{"regions":[["eu",[1]]],"problems":[]}' },
    ];
    expect(new TrafficHistory([...rows, ...foreign]).read("hour", times)).toEqual(history.read("hour", times));
    expect(history.takeChanges(START_MS).rows).toEqual([]);
  });
});

describe("the history of all isolates", () => {
  beforeEach(() => reset());

  const line = (outcome: string): RequestLine => ({
    atMs: Date.now(),
    method: "GET",
    path: "/",
    entity: "order",
    layout: "iuid",
    region: "eu",
    revision: 1,
    status: 200,
    outcome,
    ms: 7,
    originMs: 6,
    attempts: 1,
    trace: undefined,
  });

  it("loses no request and counts none twice, when reports fail, and outlives the object", async () => {
    const real = durableMetrics(TRAFFIC);
    let isDown = true;
    const store = {
      ...real,
      report: (report: MetricsReport) => (isDown ? Promise.reject(new Error("overloaded")) : real.report(report)),
    };
    const isolate = isolateMetrics({
      store,
      reportMs: 3_600_000,
      keepsSamples: true,
      entropy: pooledEntropy(),
      clock: { nowMs: Date.now },
      pause: () => new Promise(() => undefined),
      onBreaker: () => undefined,
      table: () => undefined,
      onReportFailure: () => undefined,
    });
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < 5; at++) isolate.observe(line("answered"), () => undefined);
      expect(await isolate.history("hour")).toMatchObject({ source: "none", at: [], total: { requests: [] } });
    }
    isDown = false;
    expect(sum((await isolate.history("hour")).total.requests)).toBe(15);
    isolate.observe(line("origin-timeout"), () => undefined);
    const { total, problems, regions } = await isolate.history("day");
    expect([sum(total.requests), sum(total.errors), sum(problems["origin-timeout"] ?? [])]).toEqual([16, 1, 1]);
    expect(regions["eu"]?.p50.at(-1)).toBeGreaterThan(5);
    await real.totals();
    const stub = TRAFFIC.get(TRAFFIC.idFromName("all"));
    await evictDurableObject(stub);
    expect(sum((await real.history("hour")).total.requests)).toBe(16);
    const rows = await runInDurableObject(stub, (_, { storage }) => [...storage.sql.exec("SELECT span FROM history")]);
    expect(rows.length).toBeLessThanOrEqual(4);
  });

  it("is asked for from a step on", async () => {
    const { at } = await durableMetrics(TRAFFIC).history("hour", Math.floor(Date.now() / 1000));
    expect(at.length).toBeLessThanOrEqual(2);
  });
});
