import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeCanary } from "../../../src/formats/canary-verdict.ts";
import type { MetricsHistory } from "../../../src/formats/console-api.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** Operators watch, in a real browser: figures of a real gateway, and figures that would take it an hour to have. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
}, 60_000);
afterAll(() => stack?.stop());

async function openOverview(prepare: (page: Page) => Promise<void> = async () => undefined): Promise<OpenPage> {
  const own = await stack.open("");
  await signIn(own, "viewer");
  await prepare(own.page);
  await own.page.goto(`${stack.consoleUrl}/-/console#/overview`);
  return own;
}

async function expectSound(own: OpenPage): Promise<void> {
  expect((await violations(own)).join("\n")).toBe("");
  expect(own.faults).toEqual([]);
}

const rowIn = (page: Page, table: string, name: RegExp) =>
  page.getByRole("region", { name: table }).getByRole("row", { name });

const NOW_SECONDS = Math.floor(Date.now() / 10_000) * 10;
const STEPS = 60;
const all = (value: number): number[] => Array.from({ length: STEPS }, () => value);

const series = (requests: number, errors: number) => ({
  requests: all(requests),
  errors: all(errors),
  refused: all(0),
  faults: all(0),
  busyMs: all(5_000),
  p50: all(4),
  p99: all(40),
  originP50: all(3),
  originP99: all(30),
});
const NO_CLASSES = { "2xx": 0, "3xx": 0, "404": 0, "421": 0, "4xx": 0, "5xx": 0, elsewhere: 0, left: 0 };
const NONE = { requests: 0, errors: 0, classes: NO_CLASSES, p50: null, p99: null };

const FIGURES: MetricsHistory = {
  source: "all",
  span: "hour",
  stepSeconds: 10,
  since: new Date((NOW_SECONDS - 600) * 1000).toISOString(),
  at: Array.from({ length: STEPS }, (_, at) => NOW_SECONDS - (STEPS - 1 - at) * 10),
  total: series(40, 2),
  regions: { eu: series(30, 3), us: series(10, 0) },
  // Five minutes ago it began.
  problems: { "unassigned-key": Array.from({ length: STEPS }, (_, at) => (at < 30 ? 0 : 2)) },
  tables: { stable: NONE, canary: NONE },
  canaryVerdict: judgeCanary(NO_CLASSES, NO_CLASSES),
  isolates: { count: 0, shown: [] },
};

/** Their ages are shown in minutes, so they are as of the time of the answer. */
const isolatesAt = (nowMs: number): MetricsHistory["isolates"] => ({
  count: 300,
  shown: [
    ["a1", 1, 600],
    ["b2", 2, 9],
  ].map(([isolate, revision, seconds]) => ({
    isolate: String(isolate),
    revision: Number(revision),
    canary: null,
    confirmedAt: new Date(nowMs - Number(seconds) * 1000).toISOString(),
    reportedAt: new Date(nowMs).toISOString(),
  })),
});

/** Instead of the gateway's own; and no stream that would bring those. */
const withFigures = async (page: Page): Promise<void> => {
  await page.route("**/-/events", (route) => route.abort());
  await page.route("**/-/metrics/history?*", (route) =>
    route.fulfill({ json: { ...FIGURES, isolates: isolatesAt(Date.now()) } }),
  );
  const published = { kind: "publish", bytes: 1, author: "ann", note: "", basedOn: 1, digest: "0".repeat(64) };
  const time = new Date((NOW_SECONDS - 295) * 1000).toISOString();
  const revisions = { revisions: [{ ...published, revision: 2, time }] };
  await page.route("**/-/table/revisions?*", (route) => route.fulfill({ json: revisions }));
};

describe("the overview", () => {
  it("has the four golden signals, regions now and over the hour, and the table of each isolate", async () => {
    const id = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
    for (let turn = 0; turn < 5; turn++) await fetch(`${stack.url}/orders/${id}`).then((answer) => answer.text());
    const own = await openOverview();
    const { page, context } = own;
    const isolate = rowIn(page, "Tables by isolate", /^[0-9a-f]{8}/);
    await isolate.waitFor();
    expect((await isolate.getByRole("cell").allTextContents())[0]?.trim()).toBe("1");
    await page.getByText("1 isolate has reported lately").waitFor();
    for (const name of ["Requests a second", "Errors a second", "Time to the response", "Requests in progress"]) {
      await page.getByRole("figure", { name, exact: true }).waitFor();
    }
    await page.getByText(/^origin p99: now/).waitFor();
    await rowIn(page, "Figures of the regions", /^eu/).getByText("no active check").waitFor();
    await page
      .locator("figcaption")
      .getByText(/in the last hour .* requests a second, 0 % errors/)
      .waitFor();
    await expectSound(own);
    await context.close();
  });

  it("says what each region had over the hour, on the map too, and which problems came with a publication", async () => {
    const own = await openOverview(withFigures);
    const { page, context } = own;
    const cells = rowIn(page, "Figures of the regions", /^eu/).getByRole("cell");
    await cells.first().waitFor();
    expect((await cells.allTextContents()).slice(1, 6)).toEqual(["10 %", "3", "10 %", "3", "4 ms, 40 ms"]);
    await page
      .locator("figcaption")
      .getByText("now 3 requests a second, 10 % errors; in the last hour 3 requests a second, 10 % errors")
      .waitFor();
    const problem = rowIn(page, "Problems", /^unassigned-key/);
    expect(await problem.getByRole("cell").allTextContents()).toEqual(["60", "0", "12"]);
    expect(await page.getByRole("columnheader", { name: "Per minute" }).allTextContents()).toEqual([
      "Per minute before 2",
      "Per minute after 2",
    ]);
    expect(await page.getByText("eu: now 0.5, at most 0.5").count()).toBe(1);
    await expectSound(own);
    await context.close();
  });

  it("shows isolates that are behind, and says where the others are not known", async () => {
    const own = await openOverview(withFigures);
    const { page, context } = own;
    await page.getByText("300 isolates have reported lately; these 2 are the furthest behind").waitFor();
    expect(await rowIn(page, "Tables by isolate", /^a1/).getByText("10 minutes ago").count()).toBe(1);
    await page.route("**/-/metrics/history?*", (route) => route.fulfill({ json: { ...FIGURES, source: "none" } }));
    await page.getByLabel("Over", { exact: true }).selectOption("day");
    await page.getByText("the counters cannot be read").waitFor();
    await page
      .getByText("Each isolate has its own copy; this is the one that answered. The others are not known.")
      .waitFor();
    await context.close();
  });

  it("says that breakers are known of one isolate alone where the counters cannot be read", async () => {
    const headers = { authorization: `Bearer ${TOKENS.viewer}` };
    const regions = await (await fetch(`${stack.url}/-/regions`, { headers })).json();
    const [origin] = regions.regions.eu.origins;
    const halfOpen = {
      ...origin,
      breaker: "half-open",
      lastCheck: { at: regions.since, good: false, status: 503, fault: null },
    };
    const alone = { ...regions, source: "this isolate", regions: { ...regions.regions, eu: { origins: [halfOpen] } } };
    const own = await openOverview(async (page) => {
      await page.route("**/-/regions", (route) => route.fulfill({ json: alone }));
    });
    const { page, context } = own;
    await page.getByText("figures of one isolate alone").waitFor();
    await rowIn(page, "Figures of the regions", /^eu/)
      .getByText(/breaker half-open; check failed \(503\)/)
      .waitFor();
    await context.close();
  });
});
