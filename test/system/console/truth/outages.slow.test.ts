import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { looks, type Mode, type Outage, type Region, type Seen, see, startOutage, watch } from "./outage.ts";

/** Each way to fail, and back: the page says so while requests fail, and no longer than a minute or so after them. */

const NOTICED_MS = 10_000;
/** States and figures are of the last minute, in steps of ten seconds. */
const RECOVERED_MS = 100_000;
const OPEN_MS = 2_000;

let outage: Outage;
let page: Page;
beforeEach(async () => {
  outage = await startOutage(OPEN_MS);
  ({ page } = await watch(outage));
}, 60_000);
afterEach(() => outage?.stop());

const setMode = (region: Region, mode: Mode, count = 3): void => {
  for (const origin of outage.origins[region].slice(0, count)) origin.mode = mode;
};

const isSound = ({ alarms, warnings, states }: Seen): boolean =>
  alarms.length + warnings.length === 0 && !/Down|Degraded|Testing/.test(states.join());

async function expectSoundStart(region: Region): Promise<void> {
  await expect.poll(async () => (await see(page)).states.join(), { timeout: 20_000 }).toContain(`${region}: Healthy`);
  expect(isSound(await see(page))).toBe(true);
}

it.each<[string, Mode, RegExp, ReadonlySet<number>]>([
  [
    "origins that answer with errors themselves",
    "errors",
    /^us fails .* of its requests since \d\d:\d\d|^us is down since/,
    new Set([500]),
  ],
  [
    "connections without an answer, and breakers that are half-open in between",
    "gone",
    /^us (?:is down|fails .* of its requests) since \d\d:\d\d/,
    new Set([502, 503]),
  ],
])(
  "tells of %s, never looks sound meanwhile, and ends when they do",
  async (_, mode, title, statuses) => {
    const hit = outage.load("us", 25);
    await expectSoundStart("us");
    setMode("us", mode);
    const before = await looks(page, NOTICED_MS, ({ alarms }) => alarms.length > 0);
    expect(before.at(-1)?.alarms[0]).toMatch(title);
    // Breakers open, half-open and open again.
    const during = await looks(page, 5 * OPEN_MS);
    for (const seen of during) {
      expect(seen.alarms[0]).toMatch(title);
      expect(seen.states[0]).toMatch(/^us: (?:Down|Degraded|Testing)/);
      expect(seen.tab).toMatch(/us/);
    }
    setMode("us", "good");
    // A share that is too small for an alarm leaves the figure later than the alarm goes.
    const after = await looks(page, RECOVERED_MS, (seen) => isSound(seen) && seen.errors === "0 %");
    expect(after.at(-1)).toMatchObject({ alarms: [], warnings: [], errors: "0 %" });
    await hit.end();
    const failed = [...hit.statuses.keys()].filter((status) => status !== 200);
    expect(failed.every((status) => statuses.has(status))).toBe(true);
    expect(failed.length).toBeGreaterThan(0);
  },
  200_000,
);

it("warns of one of three origins that is gone, while others answer its requests", async () => {
  const hit = outage.load("us", 25);
  await expectSoundStart("us");
  setMode("us", "gone", 1);
  const before = await looks(page, NOTICED_MS, ({ alarms, warnings }) => alarms.length + warnings.length > 0);
  expect(isSound(before.at(-1) as Seen)).toBe(false);
  const during = await looks(page, 3 * OPEN_MS);
  for (const seen of during) expect(isSound(seen)).toBe(false);
  await page
    .locator(".sub-rows li", { hasText: /Down|Testing|Degraded/ })
    .first()
    .waitFor();
  await expect.poll(() => page.locator(".sub-rows li").count()).toBe(3);
  setMode("us", "good");
  expect(isSound((await looks(page, RECOVERED_MS, isSound)).at(-1) as Seen)).toBe(true);
  await hit.end();
}, 200_000);

it("shows that answers take long, without a word of failure", async () => {
  const hit = outage.load("ap", 25);
  await expectSoundStart("ap");
  setMode("ap", "slow");
  await expect
    .poll(async () => page.locator(".tile", { hasText: "p99 to the response" }).locator(".big").textContent(), {
      timeout: 40_000,
    })
    .toMatch(/^[12](?:\.\d+)? s$/);
  expect((await see(page)).alarms).toEqual([]);
  await hit.end();
  expect([...hit.statuses.keys()]).toEqual([200]);
}, 120_000);
