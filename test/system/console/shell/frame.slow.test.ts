import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, type TOKENS, violations } from "../console.ts";

/** The frame around all pages: navigation, palette, keys and the phone. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
});
afterAll(() => stack?.stop());

async function expectSound(own: OpenPage): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await own.page.emulateMedia({ colorScheme });
    expect((await violations(own)).join("\n")).toBe("");
  }
  expect(own.faults).toEqual([]);
}

async function openAs(who: keyof typeof TOKENS, place: string, width = 1200): Promise<OpenPage> {
  const own = await stack.open("", { viewport: { width, height: 800 } });
  await signIn(own, who);
  await own.page.goto(`${stack.consoleUrl}/-/console${place}`);
  return own;
}

describe("first load", () => {
  it("is at most 150 KiB", async () => {
    const { page, context } = await stack.open("#/look-up");
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    let bytes = 0;
    session.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.reload();
    await page.getByLabel("ID, short key, URL").fill(ID);
    await page.locator(`[data-reading="${ID}"]`).waitFor();
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(150 * 1024);
    await context.close();
  });
});

describe("navigation", () => {
  it("opens pages by their groups, by keys, and by the links that they had", async () => {
    const own = await openAs("viewer", "#/stock");
    const { page, context } = own;
    const current = page.locator('.side [aria-current="page"]');
    await expect.poll(() => current.textContent()).toBe("Capacity");
    await page.goto(`${stack.consoleUrl}/-/console#/table`);
    await expect.poll(() => current.textContent()).toBe("Editor");
    await page.getByRole("list", { name: "Changes" }).getByRole("link", { name: "History" }).click();
    await page.getByRole("heading", { name: "History", exact: true }).waitFor();
    // A key in a text box is a letter.
    await page.keyboard.press("g");
    await page.keyboard.press("l");
    await page.getByLabel("ID, short key, URL").focus();
    await page.keyboard.type("gh");
    expect(await current.textContent()).toBe("Look up");
    await page.locator("main").focus();
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await expectSound(own);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Keys" }).waitFor({ state: "detached" });
    await context.close();
  });

  it("shows support its own pages, and says why there is no other", async () => {
    const own = await openAs("support", "#/routes");
    await own.page.getByRole("heading", { name: "Routes: for viewers and operators" }).waitFor();
    expect(await own.page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts()).toEqual([
      "Waybill",
      "Look up",
      "Layouts",
    ]);
    await expectSound(own);
    await own.context.close();
  });

  it("is in reach of a thumb, and loses nothing at 320 px and with large text", async () => {
    const own = await openAs("operator", "#/canary", 320);
    const { page, context } = own;
    await page.evaluate("document.documentElement.dataset.text = 'large'");
    const tabs = page.getByRole("navigation", { name: "Sections" });
    expect(await tabs.getByRole("link").allInnerTexts()).toEqual(["Look up", "Overview", "Routing", "Changes", "IDs"]);
    const { y = 0, height = 0 } = (await tabs.boundingBox()) ?? {};
    expect(y + height).toBeCloseTo(800, 0);
    for (const box of await Promise.all((await tabs.getByRole("link").all()).map((tab) => tab.boundingBox())))
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(40);
    await page.getByRole("navigation", { name: "Changes" }).getByRole("link", { name: "Moves" }).click();
    await page.getByRole("heading", { name: "Moves", exact: true }).waitFor();
    await tabs.getByRole("link", { name: "Routing" }).click();
    await expect.poll(() => page.url()).toContain("#/routes");
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await tabs.getByRole("link", { name: "IDs" }).click();
    await page.getByRole("heading", { name: "Mint", exact: true }).waitFor();
    await page.getByRole("button", { name: "operator", exact: true }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    const menu = (await page.getByRole("dialog", { name: "Settings" }).boundingBox()) ?? { x: -1, width: 0 };
    expect(menu.x).toBeGreaterThanOrEqual(0);
    expect(menu.x + menu.width).toBeLessThanOrEqual(320);
    await expectSound(own);
    await context.close();
  });

  it("the title of the tab is not calm where the gateway cannot say how its regions are", async () => {
    const { page, context } = await openAs("viewer", "#/layouts");
    await expect.poll(() => page.title()).toMatch(/^Layouts/);
    await page.route("**/-/regions", (route) => route.fulfill({ status: 503, body: "" }));
    await page.reload();
    await expect.poll(() => page.title()).toMatch(/^Regions not known/);
    await page.unroute("**/-/regions");
    await page.reload();
    await expect.poll(() => page.title()).toMatch(/^Layouts/);
    await context.close();
  });

  it("a page that cannot be loaded says so, and can be loaded again", async () => {
    const own = await openAs("viewer", "#/layouts");
    const { page, context } = own;
    await page.getByRole("heading", { name: "Layouts" }).first().waitFor();
    await page.route("**/assets/part-*", (route) => route.abort());
    await page.evaluate("location.hash = '#/moves'");
    await page.getByRole("heading", { name: "This page could not be loaded", exact: true }).waitFor();
    await expectSound(own);
    await page.unroute("**/assets/part-*");
    await page.getByRole("button", { name: "Load the console anew" }).click();
    await page
      .getByRole("heading", { name: "This page could not be loaded", exact: true })
      .waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Moves", exact: true }).waitFor();
    await context.close();
  });
});

describe("the palette", () => {
  it("finds pages, commands and IDs by keyboard from anywhere", async () => {
    const own = await openAs("viewer", "#/layouts");
    const { page, context } = own;
    const box = page.getByRole("combobox", { name: "An ID, a page or a command" });
    await page.locator(".force").waitFor();
    await page.keyboard.press("Control+k");
    await box.fill(ID);
    await page.getByRole("option", { name: "Look up this order of Kazakhstan eu" }).waitFor();
    await expectSound(own);
    await page.keyboard.press("Enter");
    await page.locator(`[data-reading="${ID}"]`).waitFor();
    await page.keyboard.press("Control+k");
    await box.fill("dark");
    await page.keyboard.press("Enter");
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.keyboard.press("Control+k");
    await box.fill("no such thing");
    await page.getByText("Nothing is called that.").waitFor();
    // Enter has nothing to open, and leaves it.
    await page.keyboard.press("Enter");
    await box.fill("hist");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "History", exact: true }).waitFor();
    await context.close();
  });
});
