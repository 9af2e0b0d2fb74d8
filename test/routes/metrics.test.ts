import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { formatMetrics } from "../../routes/metrics.ts";
import type { Env } from "../../src/edge/env.ts";
import { isolateMetrics } from "../../src/edge/metrics/isolate-metrics.ts";
import { durableMetrics, type MetricsStore } from "../../src/edge/metrics/store.ts";
import { pooledEntropy } from "../../src/edge/platform.ts";
import type { ProblemSamples } from "../../src/formats/console-api.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { type Family, readExposition } from "./exposition.ts";
import { IDS, problemOf, setUp, slug } from "./harness.ts";

const { TRAFFIC } = env as Env;

const UNREACHABLE: MetricsStore = {
  report: () => Promise.reject(new Error("overloaded")),
  totals: () => Promise.reject(new Error("overloaded")),
  history: () => Promise.reject(new Error("overloaded")),
  problem: () => Promise.reject(new Error("overloaded")),
  events: () => Promise.reject(new Error("overloaded")),
};

const declared = {
  ...DECLARED_TABLE,
  regions: {
    ...DECLARED_TABLE.regions,
    eu: { origins: [{ url: "http://eu.test/secret-base" }], breaker: { failures: 1 }, health: { path: "/healthz" } },
    // One host twice: the origins are told apart all the same.
    us: { origins: [{ url: "http://us.test/a" }, { url: "http://us.test/b", weight: 0 }] },
  },
};

/** An isolate of its own that reports with its first request, and then at each scrape. */
function isolate(store: MetricsStore = durableMetrics(TRAFFIC), options: Parameters<typeof setUp>[0] = {}) {
  const failures: string[] = [];
  let onPause = (): void => undefined;
  const metrics = isolateMetrics({
    store,
    reportMs: 3_600_000,
    keepsSamples: true,
    table: () => undefined,
    entropy: pooledEntropy(),
    clock: { nowMs: Date.now },
    pause: () => {
      onPause();
      return new Promise(() => undefined);
    },
    onBreaker: () => undefined,
    onReportFailure: (why) => failures.push(why),
  });
  const background: Promise<unknown>[] = [];
  const gateway = {
    metrics,
    counters: metrics.counters,
    originHealth: metrics.originHealth,
    observe: (line: Parameters<typeof metrics.observe>[0]) => {
      const paused = new Promise<void>((resolve) => {
        onPause = resolve;
      });
      metrics.observe(line, (work) => background.push(Promise.race([work, paused])));
    },
  };
  const { request: ask } = setUp({ declared, ...options, gateway });
  const request = async (...what: Parameters<typeof ask>) => {
    const response = await ask(...what);
    await Promise.all(background.splice(0));
    return response;
  };
  const scrape = async () => readExposition(await (await request("/-/metrics")).text());
  return { request, scrape, failures, traffic: metrics };
}

const valueIn = (families: ReadonlyMap<string, Family>, name: string, labels: Record<string, string> = {}) =>
  families.get(name)?.samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;

beforeEach(() => reset());

describe("/-/metrics", () => {
  it("is text that a strict reader takes, with what was counted up to now", async () => {
    const { request, scrape } = isolate(undefined, {
      origin: ({ url }) => {
        if (url.includes("eu.test")) throw new Error("Network connection lost.");
        return new Response("", { status: url.includes("us.test") ? 404 : 200 });
      },
    });
    for (let count = 0; count < 3; count++) await request(`/orders/${IDS.orderKz}`);
    await request(`/orders/${IDS.orderBr}`);
    await request(`/orders/${IDS.orderDe}`);
    await request("/orders/17");
    const response = await request("/-/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const families = readExposition(await response.text());
    const requests = (entity: string, region: string, outcome: string) =>
      valueIn(families, "waybill_requests_total", { entity, region, outcome });
    expect(requests("order", "ap", "2xx")).toBe(3);
    expect(requests("order", "us", "4xx")).toBe(1);
    expect(requests("order", "eu", "origin-unreachable")).toBe(1);
    expect(requests("order", "", "malformed-id")).toBe(1);
    expect(valueIn(families, "waybill_origin_attempts_total", { region: "ap" })).toBe(3);
    expect(valueIn(families, "waybill_origin_faults_total", { region: "eu", fault: "connection_terminated" })).toBe(1);
    expect(valueIn(families, "waybill_breaker_openings_total", { region: "eu" })).toBe(1);
    expect(valueIn(families, "waybill_request_duration_seconds_count", { region: "ap" })).toBeUndefined();
    expect(
      families.get("waybill_request_duration_seconds")?.samples.find(({ labels, name }) => {
        return labels["region"] === "ap" && name.endsWith("_count");
      })?.value,
    ).toBe(3);
    expect(valueIn(families, "waybill_table_revision")).toBe(0);
    expect(valueIn(families, "waybill_table_age_seconds")).toBeGreaterThanOrEqual(0);
    expect(valueIn(families, "waybill_counters_reachable")).toBe(1);
    const open = families
      .get("waybill_breaker_open")
      ?.samples.map(({ labels, value }) => [...Object.values(labels), value]);
    expect(open).toEqual([
      ["eu", "eu.test", "0", 1],
      ["us", "us.test", "0", 0],
      ["us", "us.test", "1", 0],
      ["ap", "ap-1.test", "0", 0],
      ["ap", "ap-2.test", "1", 0],
    ]);
    expect(valueIn(await scrape(), "waybill_requests_total", { entity: "", region: "", outcome: "own" })).toBe(1);
  });

  it("adds up what isolates have counted, and never goes back", async () => {
    const first = isolate();
    const second = isolate();
    await first.request(`/orders/${IDS.orderKz}`);
    await second.request(`/orders/${IDS.orderKz}`);
    await second.scrape();
    const labels = { entity: "order", region: "ap", outcome: "2xx" };
    expect(valueIn(await first.scrape(), "waybill_requests_total", labels)).toBe(2);
    await second.request(`/orders/${IDS.orderKz}`);
    expect(valueIn(await second.scrape(), "waybill_requests_total", labels)).toBe(3);
  });

  it("says whether an origin's check was good", async () => {
    const { scrape } = isolate({
      report: () => Promise.resolve([]),
      history: UNREACHABLE.history,
      problem: UNREACHABLE.problem,
      events: UNREACHABLE.events,
      totals: () => {
        const check = { atMs: 5, isGood: false, status: 503, fault: undefined };
        const state = { heardAtMs: 5, checks: { "/healthz": check, "/other": { ...check, isGood: true } } };
        return Promise.resolve({
          sinceMs: 1,
          sums: new Map([["nonsense\u001fx", 5]]),
          origins: new Map([["http://eu.test/secret-base", state]]),
        });
      },
    });
    const families = await scrape();
    expect(families.get("waybill_origin_up")?.samples).toEqual([
      { name: "waybill_origin_up", labels: { region: "eu", origin: "eu.test", index: "0" }, value: 0 },
    ]);
    expect([...families.keys()].some((name) => name.includes("nonsense"))).toBe(false);
  });

  it("is JSON where that is asked for", async () => {
    const { request } = isolate();
    await request(`/orders/${IDS.orderKz}`);
    const response = await request("/-/metrics", { headers: { accept: "application/json" } });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toMatchObject({
      source: "all",
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      metrics: expect.arrayContaining([
        {
          name: "waybill_requests_total",
          type: "counter",
          help: expect.any(String),
          samples: [
            {
              name: "waybill_requests_total",
              labels: { entity: "order", region: "ap", outcome: "2xx" },
              value: 1,
            },
          ],
        },
      ]),
    });
  });

  it.each([
    "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
    "*/*",
    "text/html",
  ])("is text for %s", async (accept) => {
    const response = await isolate().request("/-/metrics", { headers: { accept } });
    expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  });

  it("has no counters, and says so, while the sums cannot be read", async () => {
    const { request, scrape, failures } = isolate(UNREACHABLE);
    await request(`/orders/${IDS.orderKz}`);
    const families = await scrape();
    expect([...families.values()].every(({ type }) => type === "gauge")).toBe(true);
    expect(valueIn(families, "waybill_counters_reachable")).toBe(0);
    // The first request reports by itself.
    expect(failures).toEqual(["overloaded", "overloaded"]);
  });

  it("is there without a table, too", async () => {
    const families = await isolate(undefined, { declared: {} }).scrape();
    expect(families.has("waybill_table_revision")).toBe(false);
    expect(valueIn(families, "waybill_counters_reachable")).toBe(1);
  });

  it("escapes what a help or a label may not hold as it is", () => {
    const labels = { a: 'x"\\\n', b: "{},=" };
    const help = "back\\slash\nline";
    const text = formatMetrics([{ name: "m", type: "gauge", help, samples: [{ name: "m", labels, value: 1.5e-7 }] }]);
    expect(readExposition(text).get("m")).toEqual({
      type: "gauge",
      help,
      samples: [{ name: "m", labels, value: 1.5e-7 }],
    });
  });
});

describe("/-/regions", () => {
  it("shows every origin by its host, its breaker, its last fault, and the region's share", async () => {
    const { request } = isolate(undefined, {
      origin: ({ url }) => {
        if (url.includes("eu.test")) throw new Error("Network connection lost.");
        return new Response("");
      },
    });
    for (const id of [IDS.orderDe, IDS.orderKz, IDS.orderKz, IDS.orderBr]) await request(`/orders/${id}`);
    const text = await (await request("/-/regions")).text();
    expect(text).not.toContain("secret-base");
    expect(JSON.parse(text)).toMatchObject({
      source: "durable object",
      regions: {
        eu: {
          requests: 1,
          share: 0.25,
          origins: [
            {
              host: "eu.test",
              breaker: "open",
              openUntil: expect.stringMatching(/Z$/),
              lastFault: { fault: "connection_terminated", at: expect.stringMatching(/Z$/) },
              lastAnswer: null,
              lastCheck: null,
            },
          ],
        },
        us: { share: 0.25, origins: [{ breaker: "closed", lastFault: null }, { weight: 0 }] },
        ap: { share: 0.5 },
      },
    });
  });

  it("is this isolate's own view, and says so, when the others cannot be asked", async () => {
    const { request } = isolate(UNREACHABLE, {
      origin: () => {
        throw new Error("Network connection lost.");
      },
    });
    await request(`/orders/${IDS.orderDe}`);
    expect(await (await request("/-/regions")).json()).toMatchObject({
      source: "this isolate",
      regions: { eu: { origins: [{ breaker: "open", lastFault: { fault: "connection_terminated" } }] } },
    });
  });
});

describe.each(["/-/metrics", "/-/regions"])("%s", (path) => {
  it("takes HEAD, and nothing that would change something", async () => {
    const { request } = isolate();
    const head = await request(path, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await request(path, { method });
      expect([slug(await problemOf(response)), response.headers.get("allow")]).toEqual([
        "method-not-allowed",
        "GET, HEAD",
      ]);
    }
  });
});

describe("the entity of a request whose ID cannot be read", () => {
  it.each([
    ["/orders/17", "order", "malformed-id"],
    ["/v2/rides/x/y", "ride", "malformed-id"],
    ["/any/17", undefined, "malformed-id"],
    ["/orders", undefined, "unrouted-path"],
    ["/nothing/17", undefined, "unrouted-path"],
  ])("%s is of the owner of its path, in the log as in metrics: %s", async (path, entity, outcome) => {
    const logged = setUp();
    await logged.request(path);
    expect([logged.lines.at(-1)?.entity, logged.lines.at(-1)?.outcome]).toEqual([entity, outcome]);
    const { request, scrape } = isolate();
    await request(path);
    expect(valueIn(await scrape(), "waybill_requests_total", { entity: entity ?? "", region: "", outcome })).toBe(1);
  });
});

describe("the figures of the console", () => {
  const order = (country: number, serial: number) =>
    `01990f04-d900-80${country.toString(16).padStart(2, "0")}-8040-${serial.toString(16).padStart(12, "0")}`;
  const moved = order(5, 0xaaaa);
  const moving = order(5, 0xbbbb);
  const counted = {
    ...DECLARED_TABLE,
    withoutId: { search: { path: "/search", sources: [{ region: "us" }] } },
    moved: { [moved]: { region: "us", epoch: 1 } },
    moves: { [moving]: { from: "eu", to: "us", state: "started", epoch: 1 } },
    routes: [
      { when: { layout: "iuid", country: "BR" }, split: { by: "hash", parts: 2, regions: ["us", "ap"] } },
      { when: { layout: "iuid", country: "KZ" }, region: "ap", canary: { region: "us", percent: 50 } },
      { when: { entity: "person" }, region: "eu" },
    ],
    default: "eu",
  };

  it("have each request at what decided it, whichever isolate it came to", async () => {
    const isolates = [0, 1, 2].map(() => isolate(undefined, { declared: counted }));
    const send = async (path: string, times: number) => {
      for (let at = 0; at < times; at++) await isolates[at % 3]?.request(path);
    };
    await send(`/orders/${order(7, 1)}`, 4);
    await send(`/orders/${order(7, 2)}`, 3);
    await send(`/orders/${order(9, 1)}`, 5);
    await send(`/orders/${moved}`, 2);
    await send(`/any/${moving}`, 1);
    await send("/search", 3);
    await send("/orders/nothing", 6);
    await send("/-/health", 9);
    for (let serial = 0; serial < 40; serial++) await send(`/orders/${order(5, serial)}`, 1);
    for (const { traffic } of isolates) await traffic.history("hour");
    const { routes = [], total, regions } = await (isolates[0] as ReturnType<typeof isolate>).traffic.history("hour");
    const shown = Object.fromEntries(routes.map(({ pointer, requests }) => [pointer, requests]));
    const { "/routes/1": own = 0, "/routes/1/canary": canary = 0, ...others } = shown;
    expect(others).toEqual({
      "/routes/0": 7,
      "/default": 5,
      "/moved": 2,
      "/moves": 1,
      "/withoutId": 3,
      "(none)": 6,
    });
    expect(own + canary).toBe(40);
    expect(Math.min(own, canary)).toBeGreaterThan(5);
    const all = total.requests.reduce((sum, one) => sum + one, 0);
    expect([all, routes.reduce((sum, { requests }) => sum + requests, 0)]).toEqual([64, 64]);
    const ofUs = regions["us"]?.classes?.["2xx"]?.reduce((sum, one) => sum + one, 0) ?? 0;
    expect(ofUs).toBe(regions["us"]?.requests.reduce((sum, one) => sum + one, 0));
    expect(total.classes?.["4xx"]?.reduce((sum, one) => sum + one, 0)).toBe(6);
  });

  it("have the last paths of a problem, for viewers, without queries", async () => {
    const { request } = isolate(undefined, { declared: counted });
    for (const id of ["a", "b", "c", "d", "e", "f"]) await request(`/orders/${id}?secret=1`);
    const answer = await request("/-/metrics/problems/malformed-id");
    const { source, slug: of, samples } = (await answer.json()) as ProblemSamples;
    expect([source, of, samples.map(({ path }) => path)]).toEqual([
      "all",
      "malformed-id",
      ["/orders/f", "/orders/e", "/orders/d", "/orders/c", "/orders/b"],
    ]);
    expect(samples[0]).toMatchObject({ method: "GET", status: 400, region: null });
    expect(await (await request("/-/metrics/problems/client-left")).json()).toMatchObject({ samples: [] });
    for (const unknown of ["nothing", "constructor", "malformed-id%00", "Malformed-id"])
      expect((await request(`/-/metrics/problems/${unknown}`)).status).toBe(404);
    const alone = isolate(UNREACHABLE);
    expect(await (await alone.request("/-/metrics/problems/malformed-id")).json()).toEqual({
      source: "none",
      slug: "malformed-id",
      keptSeconds: 0,
      samples: [],
    });
  });
});
