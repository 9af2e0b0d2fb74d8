import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REGION_HEADER } from "../../../src/demo/origin.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** Minting, layouts and capacity, in a real browser at a real gateway. */

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

const headers = { authorization: `Bearer ${TOKENS.operator}`, "content-type": "application/json" };

const ask = async (path: string, method: string, body: string): Promise<number> =>
  (await fetch(`${stack.url}/-/directory/slug${path}`, { method, body, headers })).status;

describe("limits", () => {
  it("are those of the table, nearest first", async () => {
    const own = await openAs("viewer", "#/capacity");
    const { page, context } = own;
    const { regions, entities = {}, countries = {} } = stack.declared as unknown as Record<string, object>;
    const rows = page.getByRole("region", { name: "Limits" }).getByRole("row");
    await rows.nth(1).waitFor();
    const texts = await rows.locator("td.num").allTextContents();
    const names = await rows.getByRole("rowheader").allTextContents();
    const usedOf = (name: string) => texts[2 * names.findIndex((each) => each.startsWith(name))];
    expect([usedOf("Regions"), usedOf("Entities"), usedOf("Country numbers")]).toEqual(
      [regions, entities, countries].map((part) => String(Object.keys(part ?? {}).length)),
    );
    const numbers = texts.map((text) => Number(text.replaceAll(",", "")));
    const shares = names.map((_, at) => (numbers[2 * at] ?? 0) / (numbers[2 * at + 1] ?? 1));
    expect(shares).toEqual(shares.toSorted((a, b) => b - a));
    await page.getByRole("button", { name: /others are below 0.1 %/ }).click();
    const uses = (await (await fetch(`${stack.url}/-/table/capacity`, { headers })).json()) as object;
    // Three more: numbers of countries and of services, and groups.
    expect(await rows.count()).toBe(1 + Object.keys(uses).length + 3);
    await page.getByRole("row", { name: /^iuid .*years the year \d{5} 1 chance in [\d,]+$/ }).waitFor();
    await expectSound(own);
    await context.close();
  });
});

describe("directories", () => {
  const count = ({ page }: OpenPage, name: string) =>
    page
      .getByRole("region", { name: "Directory slug" })
      .getByRole("listitem")
      .filter({ hasText: name })
      .locator(".num")
      .textContent();

  it("show how many keys they have, as of when, and one of them", async () => {
    const rows = Array.from({ length: 1_200 }, (_, at) => JSON.stringify({ key: `shop-${at}`, region: "eu" }));
    expect(await ask("/-/import", "POST", rows.join("\n"))).toBe(200);
    const claim = JSON.stringify({ owner: "42", operation: "1", region: "eu" });
    expect(await ask("/ada", "PUT", claim)).toBe(200);
    const own = await openAs("viewer", "#/capacity");
    const { page, context } = own;
    await expect.poll(() => count(own, "Keys that route"), { timeout: 20_000 }).toBe("1,200");
    expect([await count(own, "not confirmed"), await count(own, "expired"), await count(own, "Missing")]).toEqual([
      "1",
      "0",
      "0",
    ]);
    await page.getByText(/^counted \d\d:\d\d$/).waitFor();
    expect(await ask("/ben", "PUT", claim)).toBe(200);
    await page.getByRole("button", { name: "Count again" }).click();
    await expect.poll(() => count(own, "not confirmed"), { timeout: 20_000 }).toBe("2");
    await page.getByRole("button", { name: "Find a key" }).click();
    await page.getByLabel("Key", { exact: true }).fill("Shop-7");
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await page.getByText("confirmed", { exact: true }).waitFor();
    await expectSound(own);
    await context.close();
  });

  it("say that a count is no total where parts did not answer, and that there is none where the gateway refuses", async () => {
    const own = await openAs("viewer", "#/look-up");
    const { page, context } = own;
    const counts = { confirmed: 1_190, reserved: 1, expired: 0, missing: 0 };
    const partial = { directory: "slug", at: "2026-06-01T00:00:00.000Z", shards: 256, answered: 254, atLeast: counts };
    await page.route("**/-/directory/slug/-/counts", (route) => route.fulfill({ json: partial }));
    await page.goto(`${stack.consoleUrl}/-/console#/capacity`);
    await page.getByText("At least 1,190 keys. 254 of 256 parts answered.").waitFor();
    expect(await count(own, "Keys that route")).toBe("at least 1,190");
    await expectSound(own);
    const problem = { type: "https://x.test/-/problems/directory-unavailable", title: "Directory unavailable" };
    await page.unroute("**/-/directory/slug/-/counts");
    await page.route("**/-/directory/slug/-/counts", (route) => route.fulfill({ status: 503, json: problem }));
    await page.getByRole("button", { name: "Count again" }).click();
    await page.getByText("Its keys are not counted: nothing is known of them now.").waitFor();
    expect(await page.getByText("1,190").count()).toBe(0);
    await context.close();
  });
});

describe("minting", () => {
  it("says where new IDs go before there are any, and there they go", async () => {
    const own = await openAs("operator", "#/mint?entity=order");
    const { page, context } = own;
    await page.getByText("Choose a country.").waitFor();
    const groups = page.getByRole("region", { name: "What new IDs of a country get" }).getByRole("listitem");
    expect((await groups.allTextContents()).toSorted()).toEqual([
      "apKazakhstan, Uzbekistan, India",
      "euGermany, Poland",
      "usBrazil, Mexico",
    ]);
    await page.getByLabel("Country", { exact: true }).selectOption("BR");
    await page.getByText("New order IDs of Brazil go to").waitFor();
    const promised = await page.locator("form .region").textContent();
    await page.getByLabel("How many").fill("3");
    await page.getByRole("button", { name: "Mint 3 IDs" }).click();
    await page.getByRole("heading", { name: "3 order IDs of Brazil" }).waitFor();
    await page.getByText(/^All go to us\. The gateway said so at/).waitFor();
    const ids = await page.locator(".id-rows a code").allTextContents();
    expect([promised, ids.length]).toEqual(["us", 3]);
    for (const id of ids) {
      expect((await fetch(`${stack.url}/orders/${id}`)).headers.get(REGION_HEADER)).toBe(promised);
    }
    await expectSound(own);
    await page.getByLabel("How many").fill("1001");
    await page.getByText("Choose how many, up to 1000.").waitFor();
    await page.getByRole("button", { name: "Mint" }).press("Enter");
    await expect.poll(() => page.locator(".id-rows a").count()).toBe(3);
    await context.close();
  });
});

describe("layouts", () => {
  it("are found by name, show their bits, and are tried before they are in a table", async () => {
    const own = await stack.open("#/layouts?layout=snowflake");
    const { page, context } = own;
    await page.getByRole("img", { name: /^sign 1 bit, mintedAt 41 bits, / }).waitFor();
    await page.getByLabel("Find a layout").fill("ksu");
    await page.getByRole("link", { name: /^ksuid/ }).click();
    await page.getByRole("heading", { name: "ksuid", exact: true }).waitFor();
    await page.getByLabel("Years").fill("1000");
    await page.getByText("Two equal IDs in 1,000 years").waitFor();
    await expectSound(own);
    await page.getByRole("link", { name: "Try one of your own" }).click();
    await page.getByRole("heading", { name: "Is it enough?" }).waitFor();
    await page.getByLabel("Bits of field 1").fill("300");
    await page.getByRole("heading", { name: "It cannot be used yet" }).waitFor();
    await expectSound(own);
    await context.close();
  });
});
