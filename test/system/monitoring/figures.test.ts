import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { MetricsHistory, ProblemSamples } from "../../../src/formats/console-api.ts";
import { startOrigin } from "../machines/serving.ts";
import { startMachines } from "../machines/unclustered.ts";

/** The figures of the console against a load: two edges and the state node that sums them up, each a process. */

const order = (country: number, serial = 1) =>
  `/orders/01990f04-d900-80${country.toString(16).padStart(2, "0")}-8040-${serial.toString(16).padStart(12, "0")}`;

const tableOf = (url: string) => ({
  regions: { eu: { origins: [{ url }] }, us: { origins: [{ url: `${url}/us` }] } },
  countries: { KZ: 5, BR: 7, DE: 9, AQ: 200 },
  entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } },
  routes: [
    { when: { layout: "iuid", country: "KZ" }, region: "eu" },
    { when: { layout: "iuid", country: "BR" }, region: "us" },
    { when: { layout: "iuid", country: "DE" }, region: "us", canary: { region: "eu", percent: 50 } },
  ],
});

let machines: Awaited<ReturnType<typeof startMachines>>;
let origin: Awaited<ReturnType<typeof startOrigin>>;

beforeAll(async () => {
  origin = await startOrigin();
  machines = await startMachines(tableOf(origin.url), 2);
});

afterAll(async () => {
  await machines?.stop();
  origin?.server.closeAllConnections();
  origin?.server.close();
});

const get = async <Body>(url: string, path: string): Promise<Body> => (await (await fetch(url + path)).json()) as Body;
const sum = (counts: readonly number[] = []) => counts.reduce((all, one) => all + one, 0);

/** An edge's figures, once all that was sent is counted. */
async function counted(url: string, span: string, requests: number): Promise<MetricsHistory> {
  const untilMs = Date.now() + 20_000;
  for (;;) {
    const history = await get<MetricsHistory>(url, `/-/metrics/history?span=${span}`);
    if (sum(history.total.requests) >= requests || Date.now() > untilMs) return history;
    await delay(250);
  }
}

const sent = { "/routes/0": 60, "/routes/1": 44, "/routes/2": 0, "/routes/2/canary": 0, "(none)": 12 };
const OF_DE = 80;
const ALL = 60 + 44 + 12 + OF_DE;

it("count each request once, at what decided it, over all isolates", async () => {
  const paths = [
    ...Array.from({ length: sent["/routes/0"] }, () => order(5)),
    ...Array.from({ length: sent["/routes/1"] }, () => order(7)),
    ...Array.from({ length: OF_DE }, (_, serial) => order(9, serial)),
    ...Array.from({ length: sent["(none)"] }, () => `${order(200)}?secret=1`),
  ];
  await Promise.all(
    paths.map(async (path, at) => {
      await (await fetch(machines.edges[at % 2] + path)).arrayBuffer();
    }),
  );
  for (const url of machines.edges)
    for (const span of ["hour", "day", "month"]) {
      const { total, regions, routes = [], problems } = await counted(url, span, ALL);
      const {
        "/routes/2": own,
        "/routes/2/canary": canary,
        ...shown
      } = Object.fromEntries(routes.map(({ pointer, requests }) => [pointer, requests]));
      expect([span, sum(total.requests), sum(routes.map(({ requests }) => requests))]).toEqual([span, ALL, ALL]);
      expect(shown).toEqual({ "/routes/0": 60, "/routes/1": 44, "(none)": 12 });
      expect((own ?? 0) + (canary ?? 0)).toBe(OF_DE);
      // Whose region an ID in the canary's share has is what the gateway answered.
      expect(sum(regions["eu"]?.requests)).toBe(60 + (canary ?? 0));
      expect([sum(regions["us"]?.classes?.["2xx"]), sum(total.classes?.["404"])]).toEqual([44 + (own ?? 0), 12]);
      expect(sum(problems["unassigned-key"])).toBe(12);
      expect(new Set(routes.map(({ revision }) => revision)).size).toBe(1);
    }
  const answered = await Promise.all(
    Array.from({ length: OF_DE }, async (_, serial) => {
      const response = await fetch(machines.edges[0] + order(9, serial));
      await response.arrayBuffer();
      return response.headers.get("waybill-region");
    }),
  );
  const { routes = [] } = await counted(machines.edges[1] as string, "hour", ALL + OF_DE);
  const inCanary = routes.find(({ pointer }) => pointer === "/routes/2/canary")?.requests;
  expect(inCanary).toBe(2 * answered.filter((region) => region === "eu").length);
});

it("are there after the state node began anew, and so are the paths of problems", async () => {
  // It writes within 8 s.
  await delay(9_000);
  await machines.killState();
  await machines.startState();
  const [url = ""] = machines.edges;
  await expect
    .poll(async () => (await get<MetricsHistory>(url, "/-/metrics/history")).source, { timeout: 20_000 })
    .toBe("all");
  const { total, routes = [] } = await counted(url, "month", ALL + OF_DE);
  expect([sum(total.requests), sum(routes.map(({ requests }) => requests))]).toEqual([ALL + OF_DE, ALL + OF_DE]);
  const { source, samples } = await get<ProblemSamples>(url, "/-/metrics/problems/unassigned-key");
  expect([source, samples.length]).toEqual(["all", 5]);
  expect(new Set(samples.map(({ path, status, region }) => `${path} ${status} ${region}`))).toEqual(
    new Set([`${order(200)} 404 null`]),
  );
});
