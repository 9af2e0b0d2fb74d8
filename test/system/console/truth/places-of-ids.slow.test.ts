import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, signIn, startConsole, violations } from "../console.ts";

/** An ID that its path makes another one, and what a browser may say of its language and time zone. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole(({ graphql: _, ...table }) => ({
    ...table,
    entities: { ...table.entities, chirp: { path: "/chirps/:id", ids: [{ layout: "snowflake" }] } },
    routes: [{ when: { entity: "chirp" }, region: "us" }, ...table.routes],
  }));
});
afterAll(() => stack?.stop());

const box = (page: Page) => page.getByLabel("ID, short key, URL");

/** Asks the gateway for a list, to its end. */
async function askList(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Ask the gateway" }).click();
  await page.getByRole("button", { name: "Ask again" }).waitFor();
}

describe.each(["support", "viewer"] as const)("/person/1 to %s, where 1 alone is a Snowflake of us", (who) => {
  it("is a person of eu in a list, before and after the gateway is asked, and in its file", async () => {
    const own = await stack.open("");
    const { page, context } = own;
    await signIn(own, who);
    await box(page).fill("/person/1\n1\n/chirps/1");
    await page.getByRole("heading", { name: "3 IDs" }).waitFor();
    const regions = async () => (await page.locator(".many tbody td.c-to").allTextContents()).join();
    if (who === "viewer") await expect.poll(regions).toBe("eu,us,us");
    await askList(page);
    expect(await regions()).toBe("eu,us,us");
    await expect.poll(() => page.locator(".many tbody a").allTextContents()).toEqual(["/person/1", "1", "/chirps/1"]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV", exact: true }).click(),
    ]);
    let text = "";
    for await (const chunk of await download.createReadStream()) text += String(chunk);
    expect(text.split("\r\n").slice(0, 2)).toEqual([
      "ID,Pasted,Entity,Country,Minted (UTC),Region,Problem",
      "1,/person/1,person,,,eu,",
    ]);
    // The file is pasted again, and says the same.
    await page.getByRole("button", { name: "Clear" }).click();
    await box(page).fill(text);
    await page.getByRole("heading", { name: "3 IDs" }).waitFor();
    // They are the same IDs: the answers of before hold until one asks again.
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("button", { name: "Ask again" }).waitFor();
    await expect.poll(regions).toBe("eu,us,us");
    await context.close();
  });

  it("is a person of eu in a list while the page has no table", async () => {
    const own = await stack.open("");
    const { page, context } = own;
    await page.route(/\/-\/(console\/names|table)$/, (route) => route.fulfill({ status: 503, json: {} }));
    await signIn(own, who);
    await box(page).fill("/person/1\n1\n/chirps/1");
    await page.getByRole("heading", { name: "3 IDs" }).waitFor();
    await askList(page);
    expect((await page.locator(".many tbody td.c-to").allTextContents()).join()).toBe("eu,us,us");
    await context.close();
  });

  it("is a person of eu alone, in its link, and at its owner", async () => {
    const own = await stack.open("", { permissions: ["clipboard-read", "clipboard-write"] });
    const { page, context } = own;
    await signIn(own, who);
    await box(page).fill("https://api.example.com/person/1/letters");
    const ask = async (on: Page) => {
      await on.locator(".what", { hasText: "person" }).waitFor();
      await on.getByRole("button", { name: "Ask the gateway" }).click();
      await on.getByText("Confirmed by the gateway").waitFor();
      await on.getByText("because all persons go to eu.").waitFor();
      expect(await on.locator(".answer .code").allTextContents()).toEqual(["eu"]);
    };
    await ask(page);
    await page.getByRole("button", { name: "Show the person" }).click();
    await page.getByRole("heading", { name: "This person, as eu has it" }).waitFor();
    expect((await violations(own)).join("\n")).toBe("");
    await page.getByRole("button", { name: "Copy a link to this view" }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const other = await context.newPage();
    await other.goto(link);
    await ask(other);
    await context.close();
  });
});

describe.each([
  ["en-US@posix", "UTC"],
  ["", "Europe/Berlin"],
])("a browser whose language is %j", (language, timezoneId) => {
  it("opens every page", async () => {
    const own = await stack.open("", { timezoneId });
    const { page, context } = own;
    await signIn(own, "operator");
    await page.addInitScript((tag) => {
      for (const [name, value] of Object.entries({ language: tag, languages: [tag] }))
        Object.defineProperty(Navigator.prototype, name, { get: () => value, configurable: true });
    }, language);
    for (const name of ["overview", "history", "canary", "stock", "mint", "layouts", "table", "moves"]) {
      await page.goto("about:blank");
      await page.goto(`${stack.consoleUrl}/-/console#/${name}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    expect(own.faults).toEqual([]);
    await context.close();
  });
});

it("a browser without a known time zone shows times all the same", async () => {
  const own = await stack.open("");
  const { page, context } = own;
  await page.addInitScript(() => {
    const { resolvedOptions } = Intl.DateTimeFormat.prototype;
    Intl.DateTimeFormat.prototype.resolvedOptions = function () {
      return { ...resolvedOptions.call(this), timeZone: "Etc/Unknown" };
    };
  });
  await page.reload();
  await signIn(own, "viewer");
  await box(page).fill("0192f0c1-7a30-8005-8040-8f3b2a1c9d78");
  await page.getByText("Nov 3, 2024, 6:41:04 AM (local time)").waitFor();
  await page.goto(`${stack.consoleUrl}/-/console#/overview`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(own.faults).toEqual([]);
  await context.close();
});
