import { describe, expect, it } from "vitest";
import { keyParts } from "../../../src/edge/metrics/catalogue.ts";
import { ISOLATE_SERIES_MAX, isolateMetrics } from "../../../src/edge/metrics/isolate-metrics.ts";
import type { ReportedTable } from "../../../src/edge/metrics/isolates.ts";
import type { MetricsReport, OriginHint } from "../../../src/edge/metrics/store.ts";
import { pooledEntropy } from "../../../src/edge/platform.ts";
import type { RequestLine } from "../../../src/ports/gateway.ts";
import type { Region } from "../../../src/routing/table.ts";
import { REQUEST_LINE } from "../../fixtures/request-line.ts";

const ORIGIN = { url: "http://eu.test", weight: 1, binding: undefined };
const REGION: Region = {
  name: "eu",
  origins: [ORIGIN],
  servers: [ORIGIN],
  failover: [],
  failoverWrites: false,
  deadlines: { firstByteMs: undefined, idleMs: undefined, totalMs: undefined },
  wholeAnswers: undefined,
  breaker: { failures: 1, openMs: 10_000 },
  health: undefined,
};

/** A store that records reports, fails or hangs, and a clock that only the test moves. */
function setUp({ isOff = false } = {}) {
  const state = {
    nowMs: 1_000_000,
    fault: "none" as "none" | "throws" | "hangs" | "waits",
    hints: [] as OriginHint[],
    table: undefined as ReportedTable | undefined,
  };
  const reports: MetricsReport[] = [];
  const failures: string[] = [];
  /** Ends the reports that wait. */
  const answer: (() => void)[] = [];
  const pauses: { readonly endMs: number; readonly resolve: () => void }[] = [];
  const store = {
    report: (report: MetricsReport) => {
      reports.push(report);
      if (state.fault === "throws") return Promise.reject(new Error("overloaded"));
      if (state.fault === "waits")
        return new Promise<OriginHint[]>((resolve) => answer.push(() => resolve(state.hints)));
      return state.fault === "hangs" ? new Promise<never>(() => undefined) : Promise.resolve(state.hints);
    },
    totals: () => Promise.resolve({ sinceMs: 5, sums: reports.at(-1)?.sums ?? new Map(), origins: new Map() }),
    history: () => Promise.reject(new Error("not asked")),
    problem: () => Promise.reject(new Error("not asked")),
    events: () => Promise.reject(new Error("not asked")),
  };
  const traffic = isolateMetrics({
    store: isOff ? undefined : store,
    reportMs: 10_000,
    keepsSamples: true,
    table: () => state.table,
    entropy: pooledEntropy(),
    clock: { nowMs: () => state.nowMs },
    pause: (ms) => {
      const endMs = state.nowMs + ms;
      return new Promise((resolve) => pauses.push({ endMs, resolve }));
    },
    onBreaker: () => undefined,
    onReportFailure: (why) => failures.push(why),
  });
  const background: Promise<unknown>[] = [];
  const observe = (line: Partial<RequestLine> = {}) =>
    traffic.observe({ atMs: state.nowMs, ...REQUEST_LINE, ...line }, (work) => background.push(work));
  /** All that is not waiting for the clock. */
  const settle = async () => {
    const due = pauses.filter(({ endMs }) => endMs <= state.nowMs);
    for (const { resolve } of due) resolve();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  const sumOf = (report: MetricsReport | undefined, ...parts: readonly string[]) =>
    [...(report?.sums ?? [])].find(([key]) => keyParts(key).join(" ") === parts.join(" "))?.[1];
  return { state, reports, failures, traffic, answer, observe, settle, sumOf, background };
}

const OK = ["requests_total", "order", "eu", "2xx"];

describe("the reports of an isolate", () => {
  it("begin with the first request, and then wait for their time", async () => {
    const { state, reports, observe, settle, sumOf } = setUp();
    observe();
    await settle();
    for (let count = 0; count < 7; count++) observe();
    await settle();
    expect(reports.length).toBe(1);
    state.nowMs += 10_000;
    observe();
    await settle();
    expect(reports.map((report) => sumOf(report, ...OK))).toEqual([1, 8]);
  });

  it("name the table in force and its age", async () => {
    const { state, reports, observe, settle } = setUp();
    observe();
    await settle();
    const table = { isolate: "this", revision: 41, canary: undefined, ageMs: 12_000, everyMs: 10_000 };
    state.table = table;
    state.nowMs += 10_000;
    observe();
    await settle();
    expect(reports.map((report) => report.table)).toEqual([undefined, table]);
  });

  it("carry a burst that no request follows", async () => {
    const { state, reports, observe, settle, sumOf } = setUp();
    observe();
    await settle();
    for (let count = 0; count < 7; count++) observe();
    state.nowMs += 9_999;
    await settle();
    expect(reports.length).toBe(1);
    state.nowMs += 1;
    await settle();
    expect(reports.map((report) => sumOf(report, ...OK))).toEqual([1, 7]);
  });

  it("carry what came after a request's own report, too", async () => {
    const { state, reports, observe, settle, sumOf } = setUp();
    observe();
    await settle();
    observe();
    state.nowMs += 10_000;
    observe();
    observe();
    await settle();
    state.nowMs += 10_000;
    await settle();
    expect(reports.map((report) => sumOf(report, ...OK))).toEqual([1, 2, 1]);
  });

  it("hold what was counted by entity, region and outcome, and the times as buckets and sums", async () => {
    const { state, reports, observe, settle, traffic } = setUp();
    observe();
    await settle();
    observe({ status: 404 });
    observe({ outcome: "origin-timeout", status: 504, originMs: undefined, attempts: 3, ms: 60_000 });
    observe({ outcome: "own", entity: undefined, region: undefined, originMs: undefined, attempts: 0, ms: 0 });
    // Lists: each region once, and one of them again.
    for (const attempts of [3, 4])
      observe({ outcome: "own", region: undefined, originMs: undefined, attempts, asked: 3, ms: 0 });
    traffic.originHealth.report(REGION, ORIGIN, undefined, state.nowMs);
    traffic.counters.count("broken_bodies", "order", "idle");
    await traffic.snapshot(undefined);
    const sums = Object.fromEntries(
      [...(reports.at(-1)?.sums ?? [])].map(([key, by]) => [keyParts(key).join(" "), by]),
    );
    expect(sums).toEqual({
      "requests_total order eu 4xx": 1,
      "requests_total order eu origin-timeout": 1,
      "requests_total   own": 1,
      "requests_total order  own": 2,
      "origin_attempts_total eu": 1,
      "origin_retries_total eu": 2,
      "origin_retries_total ": 1,
      "broken_bodies_total order idle": 1,
      "request_duration_seconds eu 3": 1,
      "request_duration_seconds eu 12": 1,
      "request_duration_seconds eu sum": 60_040,
      "request_duration_seconds  0": 3,
      "origin_duration_seconds eu 3": 1,
      "origin_duration_seconds eu sum": 30,
    });
  });

  it("carry what came beside one that outlasts its time, although no request follows", async () => {
    const { state, reports, answer, observe, settle, sumOf } = setUp();
    state.fault = "waits";
    observe();
    for (let count = 0; count < 7; count++) observe();
    state.nowMs += 10_000;
    await settle();
    expect(reports.length).toBe(1);
    state.fault = "none";
    answer[0]?.();
    await settle();
    state.nowMs += 10_000;
    await settle();
    expect(reports.map((report) => sumOf(report, ...OK))).toEqual([1, 7]);
  });

  it("are one at a time, and one that never ends does not block for ever", async () => {
    const { state, reports, observe } = setUp();
    state.fault = "hangs";
    observe();
    state.nowMs += 20_000;
    observe();
    expect(reports.length).toBe(1);
    state.nowMs += 60_000;
    observe();
    expect(reports.length).toBe(2);
  });

  it("that fail are sent again as they were, at their time only, and then what came since", async () => {
    const { state, reports, failures, traffic, observe, settle, sumOf } = setUp();
    state.fault = "throws";
    traffic.originHealth.report(REGION, ORIGIN, undefined, state.nowMs);
    for (let count = 0; count < 5; count++) {
      observe();
      await settle();
    }
    expect([reports.length, failures]).toEqual([1, ["overloaded"]]);
    state.nowMs += 10_000;
    state.fault = "none";
    observe();
    await settle();
    expect(reports[1]).toBe(reports[0]);
    expect(reports.map((report) => [report.from?.number, sumOf(report, ...OK), report.origins.length])).toEqual([
      [1, 1, 1],
      [1, 1, 1],
      [2, 5, 0],
    ]);
  });

  it("that fail are tried again although no request comes after them", async () => {
    const { state, reports, observe, settle, sumOf } = setUp();
    state.fault = "throws";
    observe();
    for (const fault of ["throws", "none", "none"] as const) {
      await settle();
      state.fault = fault;
      state.nowMs += 10_000;
    }
    await settle();
    expect(reports.map((report) => sumOf(report, ...OK))).toEqual([1, 1, 1]);
  });

  it("stay small, however many series there are, and lose no count", async () => {
    const { state, reports, observe, settle } = setUp();
    observe();
    await settle();
    state.nowMs += 10_000;
    for (let entity = 0; entity < ISOLATE_SERIES_MAX + 500; entity++) {
      observe({ entity: `e${entity}`, originMs: undefined, region: undefined });
    }
    await settle();
    state.nowMs += 10_000;
    observe();
    await settle();
    const all = reports.flatMap(({ sums }) => [...sums]);
    expect(Math.max(...reports.map(({ sums }) => sums.size))).toBeLessThan(ISOLATE_SERIES_MAX + 10);
    const requests = all.filter(([key]) => key.startsWith("requests_total"));
    expect(requests.reduce((sum, [, by]) => sum + by, 0)).toBe(ISOLATE_SERIES_MAX + 502);
    expect(requests.some(([key]) => key.includes("(other)"))).toBe(true);
  });

  it("do not wait when a breaker has turned", async () => {
    const { state, reports, traffic, observe, settle, sumOf } = setUp();
    observe();
    await settle();
    traffic.originHealth.report(REGION, ORIGIN, "connection_terminated", state.nowMs);
    observe();
    await settle();
    expect(reports[1]?.origins).toMatchObject([{ url: ORIGIN.url, breaker: { untilMs: state.nowMs + 10_000 } }]);
    expect(sumOf(reports[1], "breaker_openings_total", "eu")).toBe(1);
    expect(sumOf(reports[1], "origin_faults_total", "eu", "connection_terminated")).toBe(1);
    observe();
    await settle();
    expect(reports.length).toBe(2);
  });

  it("bring back what others have found", async () => {
    const { state, traffic, observe, settle } = setUp();
    state.hints = [{ url: ORIGIN.url, seenAtMs: state.nowMs }];
    observe();
    await settle();
    expect(traffic.originHealth.admit(ORIGIN, REGION.breaker, state.nowMs).state).toBe("probe");
  });

  it("are none when they are off: nothing is ever sent, and this isolate's own counts are shown", async () => {
    const { reports, background, observe, traffic } = setUp({ isOff: true });
    observe();
    observe();
    const first = await traffic.snapshot(undefined);
    const again = await traffic.snapshot(undefined);
    expect([reports.length, background.length]).toEqual([0, 0]);
    for (const { source, requests } of [first, again]) expect([source, requests.get("eu")]).toEqual(["isolate", 2]);
  });
});

describe("what is shown when the others cannot be asked", () => {
  it("has no counters: one that began again at 0 would be read as a restart", async () => {
    const { state, traffic, observe } = setUp();
    state.fault = "throws";
    observe();
    const { source, metrics } = await traffic.snapshot(undefined);
    expect(source).toBe("isolate");
    expect(metrics.map(({ name }) => name)).toEqual(["waybill_counters_reachable"]);
    expect(metrics[0]?.samples[0]?.value).toBe(0);
  });
});
