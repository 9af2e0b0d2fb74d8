import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { OTHER, seriesKey } from "../../../src/edge/metrics/catalogue.ts";
import { isolateMetrics } from "../../../src/edge/metrics/isolate-metrics.ts";
import { durableMetrics, type OriginUpdate, scheduleChecks } from "../../../src/edge/metrics/store.ts";
import { pooledEntropy } from "../../../src/edge/platform.ts";
import { bodyKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const { TABLE_KV, TRAFFIC } = env as Env;
const store = durableMetrics(TRAFFIC);
const { default: worker } = exports as unknown as {
  readonly default: { scheduled(controller: { readonly cron: string }): Promise<void> };
};
const stub = () => TRAFFIC.get(TRAFFIC.idFromName("all"));

const OK = seriesKey("requests_total", "order", "eu", "2xx");
const EU = "http://eu.test";
const NONE = new Map<string, number>();

const counted = (by: number, key = OK) => store.report({ sums: new Map([[key, by]]), origins: [] });
const news = (origin: Partial<OriginUpdate>) =>
  store.report({
    sums: NONE,
    origins: [{ url: EU, answeredAtMs: undefined, fault: undefined, breaker: undefined, ...origin }],
  });

async function publish(regions: object): Promise<void> {
  const text = JSON.stringify({ ...DECLARED_TABLE, regions: { ...DECLARED_TABLE.regions, ...regions } });
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const digest = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  await TABLE_KV.put(bodyKey(digest), text);
  await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 1, digest }));
}

const alarmAt = () => runInDurableObject(stub(), (_, context) => context.storage.getAlarm());

/** Waits for the first round of checks to be over; it begins within a second or so. */
/** The log of events waits ten seconds for a state to stay, by an alarm of its own. */
const checked = (isOver: () => Promise<void>) => vi.waitFor(isOver, { timeout: 30_000, interval: 50 });

beforeEach(() => reset());

describe("the sums of all isolates", () => {
  it("add up, and are still there when the object begins anew", async () => {
    await Promise.all([counted(2), counted(3), counted(4)]);
    const before = await store.totals();
    expect(before.sums.get(OK)).toBe(9);
    await evictDurableObject(stub());
    await counted(1);
    const after = await store.totals();
    expect([after.sums.get(OK), after.sums.get(seriesKey("reports_total"))]).toEqual([10, 4]);
    expect(after.sinceMs).toBe(before.sinceMs);
  });

  it("come with the tables of the isolates that report", async () => {
    const table = (isolate: string, revision: number) => ({
      isolate,
      revision,
      canary: undefined,
      ageMs: 2_000,
      everyMs: 10_000,
    });
    await store.report({ sums: NONE, origins: [], table: table("one", 41) });
    await store.report({ sums: NONE, origins: [], table: table("two", 40) });
    // A former version.
    await store.report({ sums: NONE, origins: [] });
    const { isolates } = await store.history("hour");
    expect(isolates).toMatchObject({ count: 2, shown: [{ isolate: "two", revision: 40 }, { isolate: "one" }] });
    const [{ confirmedAt = "", reportedAt = "" } = {}] = isolates.shown;
    expect(Date.parse(reportedAt) - Date.parse(confirmedAt)).toBe(2_000);
  });

  it("have each report once, however often it comes", async () => {
    const from = (isolate: string, number: number) => ({ isolate, number });
    const report = (of: { readonly isolate: string; readonly number: number } | undefined) =>
      store.report({ sums: new Map([[OK, 1]]), origins: [], ...(of && { from: of }) });
    const sent = [from("a", 1), from("a", 1), from("b", 1), from("a", 2), from("a", 1), from("a", 2)];
    // The last two are of a former version.
    for (const of of [...sent, undefined, undefined]) await report(of);
    expect((await store.totals()).sums.get(OK)).toBe(5);
  });

  it("that nobody has seen are written by the alarm, within seconds", async () => {
    await counted(5);
    expect(await alarmAt()).toBeLessThanOrEqual(Date.now() + 10_000);
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    await evictDurableObject(stub());
    expect((await store.totals()).sums.get(OK)).toBe(5);
  });

  it("are written before the platform forgets the object, which it may after 10 s without a call", async () => {
    await publish({});
    await scheduleChecks(TRAFFIC);
    // No check is due soon, which would write them too.
    await checked(async () => expect(await alarmAt()).toBeNull());
    await counted(5);
    const calledMs = Date.now();
    expect(await alarmAt()).toBeLessThan(calledMs + 9_000);
  });

  it("are at most 20,000 series; the rest is summed as one", async () => {
    for (let part = 0; part < 11; part++) {
      const keys = Array.from({ length: 2_000 }, (_, index) =>
        seriesKey("requests_total", `e${part}-${index}`, "eu", "2xx"),
      );
      await store.report({ sums: new Map(keys.map((key) => [key, 1])), origins: [] });
    }
    const { sums } = await store.totals();
    expect(sums.size).toBeLessThanOrEqual(20_001);
    expect(sums.get(seriesKey("requests_total", OTHER, OTHER, OTHER))).toBeGreaterThanOrEqual(2_000);
    const requests = [...sums].filter(([key]) => key.startsWith("requests_total"));
    expect(requests.reduce((all, [, count]) => all + count, 0)).toBe(22_000);
  });
});

describe("what isolates have found of origins", () => {
  const nowMs = Date.now();
  const opened = { atMs: nowMs, untilMs: nowMs + 10_000 };

  it("reaches the others as a hint, until one of them has had an answer", async () => {
    expect(await news({ breaker: opened })).toEqual([{ url: EU, seenAtMs: nowMs }]);
    expect(await counted(1)).toEqual([{ url: EU, seenAtMs: nowMs }]);
    expect(await news({ answeredAtMs: nowMs + 1 })).toEqual([]);
  });

  it("lets the breaker of another isolate try the origin before it relies on it", async () => {
    const options = {
      store,
      reportMs: 10_000,
      keepsSamples: true,
      clock: { nowMs: Date.now },
      pause: () => new Promise<void>(() => undefined),
      onBreaker: () => undefined,
      table: () => undefined,
      entropy: pooledEntropy(),
    };
    const failed: string[] = [];
    const isolate = () => isolateMetrics({ ...options, onReportFailure: (why) => failed.push(why) });
    const first = isolate();
    const second = isolate();
    const table = loadTable(DECLARED_TABLE, 1);
    const region = table.ok ? table.value.regions.get("eu") : undefined;
    const [origin] = region?.origins ?? [];
    if (region?.breaker === undefined || origin === undefined) throw new Error("the table of the test has no breaker");
    for (let count = 0; count < region.breaker.failures; count++) {
      first.originHealth.report(region, origin, "connection_terminated", Date.now());
    }
    await first.snapshot(undefined);
    await second.snapshot(undefined);
    const admit = () => second.originHealth.admit(origin, region.breaker, Date.now()).state;
    expect([admit(), admit()]).toEqual(["probe", "open"]);
    second.originHealth.report(region, origin, undefined, Date.now());
    expect([admit(), admit(), failed]).toEqual(["closed", "closed", []]);
  });

  it("is judged by when it was seen, not by when it was told", async () => {
    await news({ answeredAtMs: nowMs + 5, breaker: { atMs: nowMs + 4, untilMs: 0 } });
    expect(await news({ breaker: opened, fault: { fault: "dns_error", atMs: nowMs } })).toEqual([]);
    const { origins } = await store.totals();
    expect(origins.get(EU)).toMatchObject({
      answeredAtMs: nowMs + 5,
      breaker: { untilMs: 0 },
      fault: { fault: "dns_error", atMs: nowMs },
    });
  });

  it("is forgotten a day after it was last heard of", async () => {
    await news({ answeredAtMs: nowMs });
    await store.totals();
    await runInDurableObject(stub(), (_, { storage }) => {
      const old = JSON.stringify({ heardAtMs: Date.now() - 86_400_001 });
      storage.sql.exec("INSERT OR REPLACE INTO origins (url, state) VALUES (?, ?)", "http://old.test", old);
    });
    await evictDurableObject(stub());
    expect([...(await store.totals()).origins.keys()]).toEqual([EU]);
    await evictDurableObject(stub());
    expect([...(await store.totals()).origins.keys()]).toEqual([EU]);
  });
});

describe("the active checks", () => {
  it("ask every origin of the regions that want it, and go on by themselves", async () => {
    const health = { path: "/healthz" };
    await publish({ ap: { ...DECLARED_TABLE.regions.ap, health } });
    await scheduleChecks(TRAFFIC);
    await checked(async () => {
      const { origins } = await store.totals();
      expect([...origins.keys()]).toEqual(["http://ap-1.test", "http://ap-2.test"]);
      // Nothing leaves the machine in tests: the network answers with 599.
      expect(origins.get("http://ap-1.test")?.checks).toMatchObject({ "/healthz": { isGood: false, status: 599 } });
      expect(await alarmAt()).toBeGreaterThan(Date.now() + 10_000);
    });
    expect(await alarmAt()).toBeLessThan(Date.now() + 20_000);
  });

  it("are set going by the platform's timer", async () => {
    await publish({ eu: { origins: [{ url: EU }], health: { path: "/" } } });
    await worker.scheduled({ cron: "* * * * *" });
    await checked(async () => expect((await store.totals()).origins.has(EU)).toBe(true));
  });

  it("are none, and no alarm is left, where no region wants them", async () => {
    await publish({});
    await scheduleChecks(TRAFFIC);
    expect(await alarmAt()).not.toBeNull();
    await checked(async () => expect(await alarmAt()).toBeNull());
    expect((await store.totals()).origins.size).toBe(0);
  });

  it("look again for a table when the first one was the last resort", async () => {
    await scheduleChecks(TRAFFIC);
    await checked(async () => expect(await alarmAt()).toBeGreaterThan(Date.now() + 10_000));
  });

  it("begin where there is traffic and no timer of the platform", async () => {
    await publish({ eu: { origins: [{ url: EU }], health: { path: "/" } } });
    await counted(1);
    await checked(async () => expect((await store.totals()).origins.has(EU)).toBe(true));
  });
});
