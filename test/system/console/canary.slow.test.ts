import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { figuresFrom } from "../../../src/formats/canary-verdict.ts";
import type { TableRevision } from "../../../src/formats/table-api.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** A canary from the draft until its table is in force, or is not: its figures and verdict against the requests of the test. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole(undefined, { REPORT_SECONDS: "1" });
});
afterAll(() => stack?.stop());

/** Orders of Kazakhstan, which the first route sends to `eu`. */
const ORDERS = Array.from({ length: 300 }, (_, at) => `0192f0c1-7a30-8005-8040-8f3b2a1c${String(at).padStart(4, "0")}`);

const asOperator = { authorization: `Bearer ${TOKENS.operator}` };

async function expectSound(own: OpenPage): Promise<void> {
  expect((await violations(own)).join("\n")).toBe("");
  expect(own.faults).toEqual([]);
}

const tableText = async (): Promise<string> => (await fetch(`${stack.url}/-/table`, { headers: asOperator })).text();

/** The regions of these names have the orders. */
function store(...regions: readonly string[]): void {
  for (const { region, documents } of stack.origins) {
    for (const id of ORDERS) {
      if (regions.includes(region)) documents.set(`/orders/${id}`, {});
      else documents.delete(`/orders/${id}`);
    }
  }
}

/** Writes the table with these orders in another region, and starts it as a canary for half of the IDs. */
async function startCanary(own: OpenPage, region: string): Promise<number> {
  const { page } = own;
  const table = JSON.parse(await tableText());
  table.routes[0].region = region;
  await page.goto(`${stack.consoleUrl}/-/console#/editor`);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(JSON.stringify(table, null, 2));
  await page.evaluate("location.hash = '#/canary'");
  await page.getByRole("heading", { name: "Your draft as a canary" }).waitFor();
  await page.getByRole("button", { name: "50 %" }).press("Enter");
  await page.getByText("For 50 % of the IDs").waitFor();
  await expectSound(own);
  await page.getByRole("button", { name: "Look at the difference" }).press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Note").fill("half of them first");
  await dialog.getByRole("button", { name: "Start" }).press("Enter");
  const said = dialog.getByText(/Revision \d+ is in force here after/);
  await said.waitFor();
  const revision = Number(/\d+/.exec((await said.textContent()) ?? "")?.[0]);
  await dialog.getByRole("button", { name: "Close" }).last().press("Enter");
  await page.getByText(`Revision ${revision} decides about 50 % of the IDs.`).waitFor();
  await page.getByText("Its note says: half of them first").waitFor();
  return revision;
}

interface Counted {
  readonly requests: number;
  readonly notFound: number;
}

/** Every order once, after the figures of the canary began: how many each table decided, as the answers say. */
async function sendAll(revision: number): Promise<Readonly<Record<"inForce" | "canary", Counted>>> {
  const answer = await fetch(`${stack.url}/-/table/revisions?limit=1&before=${revision + 1}`, { headers: asOperator });
  const { revisions } = (await answer.json()) as { revisions: readonly TableRevision[] };
  const from = figuresFrom(revisions[0]?.time ?? "");
  await expect.poll(() => Date.now() / 1000 > from + 1, { timeout: 40_000, interval: 500 }).toBe(true);
  const counted = { inForce: { requests: 0, notFound: 0 }, canary: { requests: 0, notFound: 0 } };
  for (const id of ORDERS) {
    const { status, headers } = await fetch(`${stack.url}/orders/${id}`, {
      headers: { "waybill-debug": `Bearer ${TOKENS.viewer}` },
    });
    const side = headers.get("waybill-table")?.includes("canary") ? counted.canary : counted.inForce;
    side.requests++;
    if (status === 404) side.notFound++;
  }
  return counted;
}

/** Cells of the row of a figure: in force, canary, difference, points, words. */
const cells = ({ page }: OpenPage, name: string): Promise<readonly string[]> =>
  page
    .getByRole("region", { name: "Canary and table in force" })
    .getByRole("row", { name: new RegExp(`^${name}`) })
    .getByRole("cell")
    .allTextContents();

const FIGURES_MS = 30_000;

/** All requests are of these orders: a change of so many wants the name of the environment. */
const typeName = (page: Page): Promise<void> =>
  page
    .getByRole("dialog")
    .getByLabel(/^More than 10 % of the requests/)
    .fill(new URL(stack.consoleUrl).host);

async function end({ page }: OpenPage, button: string, verb: string): Promise<void> {
  await page.getByRole("button", { name: button }).first().click();
  if (verb === "Promote") await typeName(page);
  await page.getByRole("dialog").getByRole("button", { name: verb, exact: true }).click();
  await page.getByText(/is in force here after/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("heading", { name: "No canary runs" }).waitFor();
}

it("counts what each table decided, says that it is too early, and is promoted", { timeout: 150_000 }, async () => {
  store("eu", "ap");
  const own = await stack.open("");
  const { page } = own;
  await signIn(own, "operator");
  const revision = await startCanary(own, "ap");
  await page.getByText("Too few requests to judge").waitFor({ timeout: FIGURES_MS });
  const { inForce, canary } = await sendAll(revision);
  expect([inForce.notFound, canary.notFound]).toEqual([0, 0]);
  await expect
    .poll(async () => (await cells(own, "Requests")).slice(0, 2), { timeout: FIGURES_MS })
    .toEqual([String(inForce.requests), String(canary.requests)]);
  await page.getByRole("heading", { name: "Too early to judge" }).waitFor();
  expect((await cells(own, "404")).slice(0, 3)).toEqual(["0 %", "0 %", "0.00"]);
  for (const time of (await cells(own, "p99")).slice(0, 2)) expect(time).toMatch(/^[\d.]+ (?:ms|s)$/);
  await page.getByRole("listitem").filter({ hasText: "Long enough" }).getByText("0 min; at least 30").waitFor();
  await page.getByRole("listitem").filter({ hasText: "Same kind of IDs" }).getByText("chosen by hash").waitFor();
  await page.getByRole("figure", { name: "Refused, 4xx" }).waitFor();
  await expectSound(own);
  await end(own, "Promote for all", "Promote");
  expect(JSON.parse(await tableText()).routes[0].region).toBe("ap");
  await own.context.close();
});

it("is called bad where it sends IDs to a region that lacks them, and is aborted", { timeout: 150_000 }, async () => {
  store("ap");
  const own = await stack.open("");
  const { page } = own;
  await signIn(own, "operator");
  const before = await tableText();
  const revision = await startCanary(own, "us");
  const { inForce, canary } = await sendAll(revision);
  expect([inForce.notFound, canary.notFound]).toEqual([0, canary.requests]);
  const verdict = "Do not promote: 100 % get 404, 0 % in force";
  await page.getByRole("heading", { name: verdict }).waitFor({ timeout: FIGURES_MS });
  await expect
    .poll(async () => (await cells(own, "Requests")).slice(0, 2), { timeout: FIGURES_MS })
    .toEqual([String(inForce.requests), String(canary.requests)]);
  expect((await cells(own, "404")).slice(0, 3)).toEqual(["0 %", "100.00 %", "+100.00"]);
  await page
    .getByRole("listitem")
    .filter({ hasText: "No class is worse" })
    .getByText("404 is, beyond chance")
    .waitFor();
  // It can be promoted all the same, by those who say why.
  const promote = page.getByRole("button", { name: "Promote for all" });
  expect(await promote.getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "Promote in spite of it" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(verdict).waitFor();
  const send = dialog.getByRole("button", { name: "Promote", exact: true });
  const isShut = async () => (await send.getAttribute("aria-disabled")) === "true";
  expect(await isShut()).toBe(true);
  await dialog.getByLabel("Promote it all the same").check();
  expect(await isShut()).toBe(true);
  await typeName(page);
  expect(await isShut()).toBe(true);
  await dialog.getByLabel("Note").fill("its data comes tonight");
  expect(await isShut()).toBe(false);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // More of it wants the same.
  await page.getByRole("button", { name: "100 %", exact: true }).click();
  await dialog.getByText("Give it more IDs all the same").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expectSound(own);
  await end(own, "Abort the canary", "Abort");
  expect(await tableText()).toBe(before);
  await own.context.close();
});
