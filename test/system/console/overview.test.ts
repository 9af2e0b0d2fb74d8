import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeCanary } from "../../../src/formats/canary-verdict.ts";
import type { MetricsHistory } from "../../../src/formats/console-api.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** Operators watch, in a real browser: figures of a real gateway, and figures that would take it an hour to have. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole((table) => table, { REPORT_SECONDS: "1" });
});
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
  it("counts the requests that were sent, and has them in words, as lines and as tables", async () => {
    const id = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
    for (let turn = 0; turn < 6; turn++)
      await fetch(`${stack.url}/orders/none-${turn}`).then((answer) => answer.text());
    for (let turn = 0; turn < 14; turn++) await fetch(`${stack.url}/orders/${id}`).then((answer) => answer.text());
    const own = await openOverview();
    const { page, context } = own;
    const problem = page
      .getByRole("list", { name: "Problems" })
      .getByRole("listitem")
      .filter({ hasText: "malformed-id" });
    await expect.poll(() => problem.locator(".num > span").textContent(), { timeout: 25_000 }).toBe("6");
    for (const name of [
      "Requests a second",
      "Errors a second",
      "Time to the response",
      "Refused a second",
      "Requests in progress",
      "Problems a second",
    ]) {
      await page.getByRole("figure", { name, exact: true }).waitFor();
    }
    const requests = page.getByRole("figure", { name: "Requests a second" });
    await requests.getByText("Values as a table").click();
    // Those without an ID went to no region; a step has ten seconds.
    const counted = async () => {
      const cells = await requests.getByRole("cell").allTextContents();
      return Math.round(cells.reduce((sum, cell) => sum + (Number(cell) || 0), 0) * 10);
    };
    await expect.poll(counted, { timeout: 25_000 }).toBe(14);
    await page.getByRole("button", { name: "1 of 1 instance" }).click();
    const isolate = page.getByRole("dialog").getByRole("row", { name: /^[0-9a-f]{8}/ });
    expect((await isolate.getByRole("cell").allTextContents())[0]?.trim()).toBe("1");
    await page.getByText("1 instance has reported lately").waitFor();
    await page.keyboard.press("Escape");
    await problem.getByRole("button").click();
    await problem.getByRole("list", { name: "The last requests that had it" }).waitFor();
    expect(await problem.getByRole("link", { name: "/orders/none-5" }).getAttribute("href")).toContain("#/look-up?id=");
    await expectSound(own);
    await context.close();
  });

  it("says shares, and how often a problem came before and after a publication", async () => {
    const own = await openOverview(withFigures);
    const { page, context } = own;
    const cells = rowIn(page, "Figures of the regions", /^eu/).getByRole("cell");
    await cells.first().waitFor();
    expect((await cells.allTextContents()).slice(2, 5)).toEqual(["10 %", "4 ms", "40 ms"]);
    expect(await page.locator(".tile .big").allTextContents()).toEqual(["4 / s", "5 %", "0 %", "40 ms", "1"]);
    await page
      .getByRole("alert")
      .getByText(/^eu fails 10 % of its requests since .*: 0.3 requests a second get 5xx$/)
      .waitFor();
    const problem = page.getByRole("list", { name: "Problems" }).getByRole("listitem");
    await problem.getByText("No route takes the ID").click();
    await problem.getByText("A minute before 2").waitFor();
    expect(await problem.locator("dd").allTextContents()).toEqual(["404", "0", "12"]);
    await expectSound(own);
    await context.close();
  });

  it("has one cursor and one zoom for all charts, by pointer and by keyboard, and lines that can be switched off", async () => {
    const own = await openOverview(withFigures);
    const { page, context } = own;
    const sliderOf = (name: string) => page.getByRole("slider", { name });
    const saidOf = (name: string) => sliderOf(name).getAttribute("aria-valuetext");
    await sliderOf("Requests a second").waitFor();
    expect(await saidOf("Requests a second")).toBe("now: eu 3, us 1");
    await sliderOf("Requests a second").hover({ position: { x: 200, y: 60 } });
    const at = /^(\d\d:\d\d:\d\d): eu 3, us 1$/.exec((await saidOf("Requests a second")) ?? "")?.[1];
    expect(at).toBeDefined();
    expect(await saidOf("Time to the response")).toBe(`${at}: p50 4 ms, p99 40 ms`);
    await page.getByText(`Values at ${at}`).waitFor();
    await page.mouse.move(5, 5);
    await page.getByText("Values of now").waitFor();
    await sliderOf("Errors a second").focus();
    await page.keyboard.press("Home");
    const first = (await saidOf("Requests a second"))?.slice(0, 8);
    await page.keyboard.press("ArrowRight");
    const second = (await saidOf("Requests a second"))?.slice(0, 8);
    expect(Date.parse(`1970-01-01T${second}Z`) - Date.parse(`1970-01-01T${first}Z`)).toBe(10_000);
    await page.keyboard.press("+");
    await expect.poll(() => page.getByRole("button", { name: "Whole time" }).count()).toBe(6);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("button", { name: "Whole time" }).count()).toBe(0);
    const box = await sliderOf("Requests a second").boundingBox();
    if (box === null) throw new Error("no chart");
    await page.mouse.move(box.x + 120, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 220, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Whole time" }).first().click();
    await page.getByRole("figure", { name: "Requests a second" }).getByRole("button", { name: /^us/ }).click();
    expect(await saidOf("Requests a second")).toBe("now: eu 3");
    const flag = page
      .getByRole("figure", { name: "Requests a second" })
      .getByRole("link", { name: /revision 2 by ann/ });
    expect(await flag.getAttribute("href")).toBe("#/history?revision=2");
    await expectSound(own);
    await context.close();
  });

  it("shows isolates that are behind, and says where the counters cannot be read", async () => {
    const headers = { authorization: `Bearer ${TOKENS.viewer}` };
    const status = await (await fetch(`${stack.url}/-/table/status`, { headers })).json();
    const newest = { ...status, controlPlane: { ...status.controlPlane, revision: 2 } };
    const own = await openOverview(async (page) => {
      await withFigures(page);
      await page.route("**/-/table/status", (route) => route.fulfill({ json: newest }));
    });
    const { page, context } = own;
    await page.reload();
    await page.getByRole("button", { name: "299 of 300 instances" }).click();
    await page.getByText("300 instances have reported lately; these 2 are the furthest behind").waitFor();
    await expect.poll(() => rowIn(page, "Tables by instance", /^a1/).getByText("10 minutes ago").count()).toBe(1);
    await page.keyboard.press("Escape");
    await page.route("**/-/metrics/history?*", (route) => route.fulfill({ json: { ...FIGURES, source: "none" } }));
    await page.getByText("24 h", { exact: true }).click();
    await page.getByText("The counters cannot be read: figures of now are not known").waitFor();
    expect((await page.locator(".tile .big").allTextContents()).slice(0, 4)).toEqual(["–", "–", "–", "–"]);
    await context.close();
  });

  it("says that breakers are known of one isolate alone where the counters cannot be read", async () => {
    const headers = { authorization: `Bearer ${TOKENS.viewer}` };
    const regions = await (await fetch(`${stack.url}/-/regions`, { headers })).json();
    const [origin] = regions.regions.eu.origins;
    const check = { at: new Date().toISOString(), good: false, status: 503, fault: null };
    const eu = {
      state: "down",
      basis: "Its origin failed its last check.",
      origins: [{ ...origin, lastCheck: check }],
    };
    const alone = { ...regions, source: "this isolate", regions: { ...regions.regions, eu } };
    const own = await openOverview(async (page) => {
      await page.route("**/-/regions", (route) => route.fulfill({ json: alone }));
    });
    const { page, context } = own;
    await page.getByText("States are of one isolate alone").waitFor();
    await page
      .getByRole("region", { name: "Figures of the regions" })
      .getByText(/check failed \(503\)/)
      .waitFor();
    await context.close();
  });

  it("never shows states as those of now that it could not read", async () => {
    const own = await openOverview();
    const { page, context } = own;
    await rowIn(page, "Figures of the regions", /^eu/).waitFor();
    await page.route("**/-/regions", (route) => route.fulfill({ status: 503, json: { title: "Module unavailable" } }));
    await page.getByText(/^States were last read at \d\d:\d\d:\d\d: how the regions are now is not known$/).waitFor();
    await rowIn(page, "Figures of the regions", /^eu/)
      .getByText(/^Not known, at \d\d:\d\d: /)
      .waitFor();
    expect(await page.locator(".regions .state.good, .regions .origins .good").count()).toBe(0);
    await context.close();
  });
});
