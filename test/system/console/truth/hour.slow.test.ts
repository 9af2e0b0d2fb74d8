import type { CDPSession, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { HistorySeries, MetricsHistory } from "../../../../src/formats/console-api.ts";
import { type ConsoleStack, startConsole, TOKENS } from "../console.ts";
import { FIGURES, type FrozenPage, NOW, openFrozen } from "../states/frozen.ts";

/** An hour of live updates, one a second by the page's clock: a minute. */

const UPDATES = 3_600;
/** One answer of the stream has so many; the browser then opens it anew at once. */
const AT_ONCE = 120;
const STEP_SECONDS = 10;
const MIB = 2 ** 20;
/** Figures of an hour more do not grow it, for older ones leave; code that the engine compiles on the way does. */
const GROWTH_BYTES_MAX = 3 * MIB;

let stack: ConsoleStack;
let own: FrozenPage;
beforeAll(async () => {
  stack = await startConsole();
  own = await openFrozen(stack, TOKENS.operator);
});
afterAll(() => stack?.stop());

const requestsAt = (second: number): number => 100 + (second % 50);

/** The step that is not over, and the one before it, as the stream tells them. */
function newsAt(second: number): MetricsHistory {
  const now = NOW / 1000 + second;
  const last = Math.floor(now / STEP_SECONDS) * STEP_SECONDS;
  const at = [last - STEP_SECONDS, last];
  const counts = at.map(() => requestsAt(second));
  const none = at.map(() => 0);
  const times = at.map(() => 4);
  const series: HistorySeries = {
    requests: counts,
    errors: none,
    refused: none,
    faults: none,
    busyMs: counts,
    p50: times,
    p99: times,
    originP50: times,
    originP99: times,
  };
  return {
    ...FIGURES,
    at,
    total: series,
    regions: { eu: series, us: series, ap: series },
    problems: { "unknown-entity": counts },
  };
}

const heldBytes = async (session: CDPSession): Promise<number> => {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
};

const nodesOf = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll("*").length);

it("the overview takes an hour of updates, shows the last one, and holds no more than before", async () => {
  const { page, context, faults } = own;
  let told = 0;
  const stream = async (route: Route) => {
    const seconds = Array.from({ length: Math.min(AT_ONCE, UPDATES - told) }, (_, at) => told + at);
    told += seconds.length;
    await page.clock.setFixedTime(NOW + told * 1000);
    const events = seconds.map((second) => `event: traffic\ndata: ${JSON.stringify(newsAt(second))}\n\n`).join("");
    // The last answer stays what it is: a stream that says nothing more.
    const retryMs = told < UPDATES ? 200 : 600_000;
    await route.fulfill({ contentType: "text/event-stream", body: `retry: ${retryMs}\n\n${events}` });
  };
  await page.route("**/-/events", stream);
  await page.goto("about:blank");
  await page.goto(`${stack.consoleUrl}/-/console#/overview`);
  const session = await context.newCDPSession(page);
  await expect.poll(() => told, { timeout: 60_000 }).toBeGreaterThanOrEqual(UPDATES / 6);
  const [before, nodes] = [await heldBytes(session), await nodesOf(page)];
  await expect.poll(() => told, { timeout: 240_000, interval: 200 }).toBe(UPDATES);
  // The steps of the last minute are over but for one.
  await expect
    .poll(() => page.locator(".tile .big").first().textContent(), { timeout: 30_000 })
    .toMatch(/^1\d\.?\d* ?\/ s$/);
  // The last answers of the stream leave a moment later; a leak never does.
  await expect
    .poll(async () => (await heldBytes(session)) - before, { timeout: 30_000, interval: 1_000 })
    .toBeLessThan(GROWTH_BYTES_MAX);
  expect(Math.abs((await nodesOf(page)) - nodes)).toBeLessThan(nodes / 10);
  expect(faults).toEqual([]);
}, 400_000);
