import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { seriesKey } from "../../../src/edge/metrics/catalogue.ts";
import { TrafficReports } from "../../../src/edge/metrics/object.ts";
import { durableMetrics } from "../../../src/edge/metrics/store.ts";
import type { Rule } from "../../../src/routing/table.ts";

/** The object keeps figures beside its sums: over restarts, and from reports of former and later versions. */

const { TRAFFIC } = env as Env;
const store = durableMetrics(TRAFFIC);
const stub = () => TRAFFIC.get(TRAFFIC.idFromName("all"));

const FIRST: Rule = { kind: "route", index: 0 };
const counted = (by: number) => new Map([[seriesKey("requests_total", "order", "eu", "2xx"), by]]);
const failed = (atMs: number, path = "/orders/1") => ({ atMs, method: "GET", path, region: "eu", status: 504 });
const problems = (...requests: ReturnType<typeof failed>[]) => [["origin-timeout", requests]] as const;

const stored = () =>
  runInDurableObject(stub(), (_, { storage }) => [...storage.kv.list({ prefix: "problem:" })].map(([key]) => key));

beforeEach(() => reset());

describe("requests by route", () => {
  it("are those of all isolates, of former versions too, after the object begins anew", async () => {
    await store.report({ sums: counted(3), origins: [], routes: [[7, FIRST, 3]], classes: [["eu", [3]]] });
    await store.report({ sums: counted(2), origins: [], routes: [[8, FIRST, 2]], classes: [["eu", [0, 0, 2]]] });
    await store.report({ sums: counted(4), origins: [] });
    await store.totals();
    await evictDurableObject(stub());
    for (const span of ["hour", "day", "month"] as const) {
      const { routes, total, regions } = await store.history(span);
      expect([total.requests.at(-1), routes]).toEqual([
        9,
        [
          { revision: 7, pointer: "/routes/0", requests: 3 },
          { revision: 8, pointer: "/routes/0", requests: 2 },
        ],
      ]);
      expect([regions["eu"]?.classes?.["2xx"]?.at(-1), regions["eu"]?.classes?.["404"]?.at(-1)]).toEqual([3, 2]);
    }
  });

  it("are counted by rules that this version does not know", async () => {
    const later = { kind: "oracle", oracle: "delphi" } as unknown as Rule;
    await store.report({ sums: counted(1), origins: [], routes: [[1, later, 1]] });
    expect((await store.history("hour")).routes).toEqual([{ revision: 1, pointer: "/oracle/delphi", requests: 1 }]);
  });
});

describe("the last requests with a problem", () => {
  it("are there after the object begins anew, and are deleted after an hour", async () => {
    const nowMs = Date.now();
    await store.report({ sums: counted(1), origins: [], problems: problems(failed(nowMs - 9_000), failed(nowMs)) });
    await store.totals();
    await evictDurableObject(stub());
    const { source, samples, keptSeconds } = await store.problem("origin-timeout");
    expect([source, keptSeconds, samples.map(({ at }) => Date.parse(at))]).toEqual([
      "all",
      3_600,
      [nowMs, nowMs - 9_000],
    ]);
    expect((await store.problem("unknown-id")).samples).toEqual([]);
    expect(await stored()).toEqual(["problem:origin-timeout"]);
    // Nothing but the alarm comes: it deletes what is an hour old.
    await store.report({ sums: counted(1), origins: [], problems: [["unknown-id", [failed(nowMs - 3_599_000)]]] });
    await runDurableObjectAlarm(stub());
    expect(await stored()).toEqual(["problem:origin-timeout", "problem:unknown-id"]);
    const dueMs = await runInDurableObject(stub(), (_, { storage }) => storage.getAlarm());
    expect(dueMs).toBeLessThanOrEqual(nowMs + 20_000);
    await new Promise((resolve) => setTimeout(resolve, nowMs + 1_050 - Date.now()));
    await runDurableObjectAlarm(stub());
    expect(await stored()).toEqual(["problem:origin-timeout"]);
  });

  it("are in no row: an export leaves them out", async () => {
    await store.report({ sums: counted(1), origins: [], problems: problems(failed(Date.now(), "/orders/secret")) });
    await store.totals();
    const rows = await runInDurableObject(stub(), (_, { storage: { sql } }) => {
      const names = [...sql.exec<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")];
      const own = names.map(({ name }) => name).filter((name) => !name.startsWith("_cf_"));
      return own.flatMap((name) => [...sql.exec(`SELECT * FROM ${name}`)]);
    });
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain("secret");
  });

  it("are not kept where the setting is off, and those there are go", async () => {
    await store.report({ sums: counted(1), origins: [], problems: problems(failed(Date.now())) });
    await store.totals();
    await evictDurableObject(stub());
    await runInDurableObject(stub(), async (_, context) => {
      const off = { ...(env as Env), PROBLEM_SAMPLES: "off" };
      const object = new TrafficReports(context, off, {} as never);
      await object.report({ sums: counted(1), origins: [], problems: problems(failed(Date.now())) });
      expect(await object.problem("origin-timeout")).toMatchObject({ source: "off", samples: [] });
      await object.totals();
    });
    expect(await stored()).toEqual([]);
  });
});
