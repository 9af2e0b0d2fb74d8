import { afterAll, beforeAll, expect, it } from "vitest";
import { REGION_HEADER } from "../../../src/demo/origin.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** The move of an entity, whose dangerous steps stay shut until both regions have answered. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
});
afterAll(() => stack?.stop());

async function openAs(who: "viewer" | "operator", place: string): Promise<OpenPage> {
  const own = await stack.open("");
  await signIn(own, who);
  await own.page.goto(`${stack.consoleUrl}/-/console${place}`);
  return own;
}

async function expectSound(own: OpenPage): Promise<void> {
  expect((await violations(own)).join("\n")).toBe("");
  expect(own.faults).toEqual([]);
}

async function take({ page }: OpenPage, button: string, verb: string): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  await dialog.getByText(/is in force here after/).waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await dialog.waitFor({ state: "detached" });
}

const isShut = async ({ page }: OpenPage, button: string): Promise<boolean> =>
  (await page.getByRole("button", { name: button, exact: true }).getAttribute("aria-disabled")) === "true";

const sent = async (method: string): Promise<readonly [status: number, region: string | null]> => {
  const body = method === "GET" ? {} : { body: "{}", headers: { "content-type": "application/json" } };
  const answer = await fetch(`${stack.url}/orders/${ID}`, { method, ...body });
  await answer.arrayBuffer();
  return [answer.status, answer.headers.get(REGION_HEADER)];
};

it("goes step by step from a link, as the gateway does, and no step is open before its time", async () => {
  const own = await openAs("operator", `#/moves?id=${ID}`);
  const { page, context } = own;
  expect(await sent("PUT")).toEqual([201, "eu"]);
  await page.getByText("Start is safe at any time").waitFor();
  await page.getByLabel("To", { exact: true }).selectOption("us");
  await take(own, "Start the move", "Start");
  await page.getByText("Reads and writes stay in eu").waitFor();
  await page.getByText("Abort is safe: clients notice nothing.").waitFor();
  expect(await sent("PUT")).toEqual([200, "eu"]);

  await take(own, "Fence", "Fence");
  expect([await sent("GET"), (await sent("PUT"))[0]]).toEqual([[200, "eu"], 503]);
  await page.getByText(`fence(${ID}, 2)`, { exact: true }).waitFor();
  await page.getByText(/a switch loses writes/).waitFor();
  const row = page.getByRole("row", { name: /Fenced/ });
  await row.getByText("Writes wait for you: fence in eu").waitFor();
  expect(await isShut(own, "Switch to us")).toBe(true);
  await page.getByRole("checkbox", { name: /eu answered fence/ }).check();
  await page.getByRole("checkbox", { name: /The rest was copied after that answer/ }).check();
  await page.getByText("1 answer is missing").waitFor();
  await row.getByText("Writes wait for you: take in us").waitFor();
  // A click does nothing, and what is ticked outlives a reload.
  await page.getByRole("button", { name: "Switch to us" }).click({ force: true });
  await page.reload();
  await page.getByText("1 answer is missing").waitFor();
  expect([await page.getByRole("dialog").count(), await isShut(own, "Switch to us")]).toEqual([0, true]);
  await expectSound(own);
  await page.getByRole("checkbox", { name: /us answered take/ }).check();
  expect(await isShut(own, "Switch to us")).toBe(false);

  await take(own, "Switch to us", "Switch");
  await page.getByText(`leave(${ID}, 3, us)`, { exact: true }).waitFor();
  expect((await sent("PUT"))[1]).toBe("us");
  expect(await isShut(own, "Start another move")).toBe(true);
  await page.getByRole("checkbox", { name: /us answered open/ }).check();
  await page.getByRole("checkbox", { name: /answered leave/ }).check();
  expect(await isShut(own, "Start another move")).toBe(false);
  await page.getByRole("button", { name: /^Moved \d/ }).click();
  await page.getByRole("row", { name: /operator, revision \d+, epoch 3/ }).waitFor();
  await expectSound(own);
  await context.close();
});

it("is looked at by viewers, who take no step", async () => {
  const own = await openAs("viewer", `#/moves?id=${ID}`);
  const { page, context } = own;
  await page.getByText("An operator takes the steps.").waitFor();
  expect(await page.getByRole("button", { name: /^(?:Start|Fence|Switch|Abort|Finish)/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Move an entity" }).click();
  await page.getByLabel("ID or URL").fill("https://api.example.com/orders/0192f0c1-7a30-8006-8040-8f3b2a1c9d79");
  await page.getByText("Start is safe at any time").waitFor();
  await page.getByLabel("ID or URL").fill("nonsense");
  await page.getByText("No entity of the table has this ID").waitFor();
  await page.getByLabel("Find an ID in this list").fill("zz");
  await page.getByText("No ID of this list has that text.").waitFor();
  await expectSound(own);
  await context.close();
});

it("is aborted until the switch, and then its entity is where it was", async () => {
  const other = "0192f0c1-7a30-8009-8040-8f3b2a1c9d70";
  const own = await openAs("operator", `#/moves?id=${other}`);
  await take(own, "Start the move", "Start");
  await take(own, "Fence", "Fence");
  await take(own, "Abort", "Abort");
  await own.page.getByText("After an abort the order is the other").waitFor({ state: "detached" });
  const answer = await fetch(`${stack.url}/orders/${other}`, {
    headers: { "waybill-debug": `Bearer ${TOKENS.viewer}` },
  });
  expect([answer.status, answer.headers.get(REGION_HEADER)]).toEqual([404, "eu"]);
  await expectSound(own);
  await own.context.close();
});
