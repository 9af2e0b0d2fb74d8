import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, startConsole, TOKENS } from "../console.ts";

/** How long a person waits. Other work on the machine makes a turn longer, never shorter: the best of some turns counts. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const TURNS = 4;

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
});
afterAll(() => stack?.stop());

type Act = (page: Page) => Promise<unknown>;

async function bestMs(prepare: (own: OpenPage) => Promise<unknown>, act: Act): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const own = await stack.open("", { permissions: ["clipboard-read", "clipboard-write"] });
    await own.page.getByLabel("Token").waitFor();
    await own.page.evaluate((id) => navigator.clipboard.writeText(id), ID);
    await prepare(own);
    const begin = performance.now();
    await act(own.page);
    times.push(performance.now() - begin);
    await own.context.close();
  }
  return Math.min(...times);
}

async function pasteAs(page: Page, who: "viewer" | "support"): Promise<void> {
  await page.getByRole("button", { name: who, exact: true }).waitFor();
  await page.keyboard.press("Control+v");
}

const seeRegion = (page: Page) => page.getByRole("heading", { name: "Goes to eu" }).waitFor();

it.each<readonly [how: string, act: Act]>([
  [
    "keyboard",
    async (page) => {
      await page.keyboard.insertText(TOKENS.viewer);
      await page.keyboard.press("Enter");
      await pasteAs(page, "viewer");
      await seeRegion(page);
    },
  ],
  [
    "mouse, of the gateway",
    async (page) => {
      await page.getByLabel("Token").fill(TOKENS.support);
      await page.getByRole("button", { name: "Sign in" }).click();
      await pasteAs(page, "support");
      await page.getByRole("button", { name: "Ask the gateway" }).click();
      await seeRegion(page);
    },
  ],
])("from the token to the region of an ID takes at most 2 s by %s", async (_, act) => {
  expect(await bestMs(({ page }) => page.getByLabel("Token").focus(), act)).toBeLessThan(2_000);
});

it("the first page takes text within 1 s on a processor that is four times slower", async () => {
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const { page, context } = await stack.open("");
    await page.goto("about:blank");
    const session = await context.newCDPSession(page);
    // The time of the page's own thread: other work on the machine adds little.
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    await page.goto(`${stack.consoleUrl}/-/console#/look-up`);
    await page.getByLabel("ID, short key, URL").waitFor();
    const { metrics } = await session.send("Performance.getMetrics");
    const secondsOf = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    // Without the commands of this test.
    times.push(1_000 * (secondsOf("TaskDuration") - secondsOf("DevToolsCommandDuration")));
    await context.close();
  }
  expect(4 * Math.min(...times)).toBeLessThan(1_000);
});
