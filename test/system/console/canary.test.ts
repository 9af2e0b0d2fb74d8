import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** A canary from sign-in until its table is in force, or is not: with live figures of both tables. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole(undefined, { REPORT_SECONDS: "1" });
}, 60_000);
afterAll(() => stack?.stop());

/** Orders of Kazakhstan, which the first route sends to `eu`. */
const ORDERS = Array.from({ length: 200 }, (_, at) => `0192f0c1-7a30-8005-8040-8f3b2a1c${String(at).padStart(4, "0")}`);

async function expectSound(own: OpenPage): Promise<void> {
  expect((await violations(own)).join("\n")).toBe("");
  expect(own.faults).toEqual([]);
}

/** Requests of clients until the page says what is waited for. */
async function withTraffic<Value>(until: () => Promise<Value>): Promise<Value> {
  let isOver = false;
  const traffic = (async () => {
    for (let at = 0; !isOver; at++) {
      await fetch(`${stack.url}/orders/${ORDERS[at % ORDERS.length]}`).then((answer) => answer.arrayBuffer());
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  try {
    return await until();
  } finally {
    isOver = true;
    await traffic;
  }
}

const tableText = async (): Promise<string> =>
  (await fetch(`${stack.url}/-/table`, { headers: { authorization: `Bearer ${TOKENS.operator}` } })).text();

/** Writes the table with these orders in another region, and starts it as a canary by the slider. */
async function startCanary(own: OpenPage, region: string, share: number): Promise<number> {
  const { page } = own;
  const table = JSON.parse(await tableText());
  table.routes[0].region = region;
  await page.goto(`${stack.consoleUrl}/-/console#/table`);
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(JSON.stringify(table, null, 2));
  await page.getByText("no fault").waitFor();
  await page.getByRole("button", { name: "Try as a canary" }).click();
  await page.getByRole("slider", { name: "Share in percent" }).fill(String(share));
  expect(await page.getByLabel("Share in percent, as a number").inputValue()).toBe(String(share));
  await page.getByRole("button", { name: "Look at the difference" }).click();
  await page
    .getByRole("dialog")
    .getByText(/^order.*\(iuid\).*country KZ/)
    .first()
    .waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  const said = page.getByText(/Revision \d+ is in force here/);
  await said.waitFor();
  const revision = Number(/\d+/.exec((await said.textContent()) ?? "")?.[0]);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("heading", { name: `Revision ${revision} runs as a canary` }).waitFor();
  await page.getByText(`${share} % of the IDs`).waitFor();
  return revision;
}

async function end(page: Page, verb: "Promote" | "Abort"): Promise<void> {
  await page.getByRole("button", { name: verb }).click();
  await page.getByRole("dialog").getByRole("button", { name: verb }).click();
  await page.getByText(/is in force here after/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await page.getByText("No canary runs: all IDs are decided by the table in force.").waitFor();
}

/** The row of a figure: of the table in force, and of the canary. */
const figures = (page: Page, name: string): Promise<readonly string[]> =>
  page
    .getByRole("row", { name: new RegExp(`^${name} `) })
    .getByRole("cell")
    .allTextContents();

const FIGURES_MS = 90_000;

it("shows both tables beside each other while it runs, and is promoted", { timeout: 150_000 }, async () => {
  const own = await stack.open("");
  const { page } = own;
  await signIn(own, "operator");
  const revision = await startCanary(own, "ap", 50);
  // Support reads what it means for one ID.
  const support = await stack.open(`#/look-up?id=${ORDERS[0]}`);
  await signIn(support, "support");
  await support.page.getByRole("button", { name: "Ask where it goes" }).click();
  const said = support.page.getByText(
    /^Revision \d+ \((?:canary|in force)\) decides.*has 50 % of the IDs, this one from [\d.]+ %/,
  );
  await said.waitFor();
  const isCanary = /\(canary\) decides/.test((await said.textContent()) ?? "");
  await support.page.locator(".region strong", { hasText: isCanary ? "ap" : "eu" }).waitFor();
  await expectSound(support);
  await support.context.close();
  await withTraffic(() =>
    page
      .getByText("No kind of failure is more frequent than in force, beyond chance.")
      .waitFor({ timeout: FIGURES_MS }),
  );
  for (const requests of await figures(page, "Requests")) {
    expect(Number(requests.replaceAll(",", ""))).toBeGreaterThanOrEqual(100);
  }
  expect(await figures(page, "5xx")).toEqual(["0 (0 %)", "0 (0 %)"]);
  for (const time of await figures(page, "p99")) expect(time).toMatch(/^[\d.]+ (?:ms|s)$/);
  await expectSound(own);
  await end(page, "Promote");
  expect(JSON.parse(await tableText()).routes[0].region).toBe("ap");
  const answer = await fetch(`${stack.url}/orders/${ORDERS[1]}`, {
    headers: { "waybill-debug": `Bearer ${TOKENS.viewer}` },
  });
  expect(answer.headers.get("waybill-table")).toContain(`rev=${revision + 1};`);
  await own.context.close();
});

it("shows that a canary makes more errors, and is aborted", { timeout: 150_000 }, async () => {
  const own = await stack.open("");
  const { page } = own;
  await signIn(own, "operator");
  await stack.origins[1]?.stop();
  const before = await tableText();
  await startCanary(own, "us", 40);
  // Changes that the canary would make, against the requests of the test before.
  for (const name of ["Keys", "Countries", "Key space", "Requests, at most"]) {
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  }
  await page.getByRole("row", { name: /^order \(iuid\) country KZ.* [\d.]+ % 1 1 of 7 0.39 %$/ }).waitFor();
  await page.getByText("They are counted by region and not by key").waitFor();
  const verdict = /^Do not promote: [\d.]+ % get 5xx, 0 % in force\.$/;
  await withTraffic(() => page.getByText(verdict).waitFor({ timeout: FIGURES_MS }));
  const [stable, canary] = await figures(page, "5xx");
  expect(stable).toBe("0 (0 %)");
  expect(Number.parseInt(canary ?? "", 10)).toBeGreaterThan(5);
  // It can be promoted all the same, by those who say so.
  await page.getByRole("button", { name: "Promote" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(verdict).waitFor();
  const promote = dialog.getByRole("button", { name: "Promote" });
  expect(await promote.isDisabled()).toBe(true);
  await dialog.getByLabel("Promote it all the same").check();
  expect(await promote.isDisabled()).toBe(false);
  await dialog.getByRole("button", { name: "Close" }).click();
  await expectSound(own);
  await end(page, "Abort");
  expect(await tableText()).toBe(before);
  await own.context.close();
});
