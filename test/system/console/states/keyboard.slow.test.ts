import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, startConsole, TOKENS } from "../console.ts";

/** The main jobs by keyboard alone: no test here has a pointer. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
});
afterAll(() => stack?.stop());

const STOPS_MAX = 60;

/** The name of what has the focus, as assistive technology says it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement & { labels?: NodeListOf<HTMLLabelElement> };
    // biome-ignore lint/performance/useDomNodeTextContent: the name is the text that is rendered.
    const said = element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText ?? "";
    // An avatar stands before the name of the one who is signed in.
    return said.replace(/^\w\w\n/, "");
  });

async function tabTo(page: Page, name: RegExp): Promise<void> {
  const seen: string[] = [];
  for (let turn = 0; turn < STOPS_MAX; turn++) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    if (name.test(now)) return;
    seen.push(now.slice(0, 30));
  }
  throw new Error(`no stop is ${name}: ${seen.join(", ")}`);
}

async function signedIn(place: string) {
  const opened = await stack.open(place);
  const { page } = opened;
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await tabTo(page, /^Token/);
  await page.keyboard.type(TOKENS.operator);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "operator", exact: true }).waitFor();
  return opened;
}

describe("by keyboard alone", () => {
  it("one signs in, looks an ID up, and asks where it goes", async () => {
    const { page, context } = await signedIn("");
    await page.keyboard.press("Control+k");
    await page.locator("input:focus").waitFor();
    await page.keyboard.type(ID);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Goes to eu" }).waitFor();
    await tabTo(page, /^Ask the gateway/);
    await page.keyboard.press("Enter");
    await page.getByText("Confirmed by the gateway").waitFor();
    await tabTo(page, /^Show the order/);
    await page.keyboard.press("Enter");
    await page.locator(".facts.nested").first().waitFor();
    await context.close();
  });

  it("one passes the bar over", async () => {
    const { page, context } = await stack.open("#/layouts");
    await page.getByRole("heading", { name: "Layouts", exact: true }).waitFor();
    // The layouts come after their heading.
    await page.locator("main a, main button").first().waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("To the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
    await context.close();
  });

  it("a window keeps the focus, ends with Escape, and gives the focus back", async () => {
    const { page, context } = await signedIn("#/moves");
    await tabTo(page, /^Keys/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    const places = new Set<string>();
    for (let turn = 0; turn < 6; turn++) {
      await page.keyboard.press("Tab");
      // The body is where the browser's own controls are.
      places.add(
        await page.evaluate(() => {
          const own = document.activeElement;
          return own === document.body || own?.closest("dialog") ? "window" : (own?.outerHTML ?? "");
        }),
      );
    }
    expect([...places]).toEqual(["window"]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toMatch(/^Keys/);
    await context.close();
  });

  it("the menu is next to its button, ends with Escape, and gives the focus back", async () => {
    const { page, context } = await signedIn("#/moves");
    await tabTo(page, /^operator/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    await page.locator('html[data-theme="light"]').waitFor();
    await tabTo(page, /^Sign out/);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Settings" }).waitFor({ state: "hidden" });
    await expect.poll(() => focused(page)).toBe("operator");
    await context.close();
  });

  it("the palette keeps its choice in view, and gives the focus back", async () => {
    const { page, context } = await signedIn("#/moves");
    await tabTo(page, /^History/);
    await page.keyboard.press("Control+k");
    const box = page.getByRole("combobox");
    await box.waitFor();
    const choices = await page.getByRole("option").count();
    for (let turn = 1; turn < choices; turn++) await page.keyboard.press("ArrowDown");
    const last = page.getByRole("option", { name: "Sign out" });
    expect(await last.getAttribute("aria-selected")).toBe("true");
    const [list, own] = await Promise.all([page.getByRole("listbox").boundingBox(), last.boundingBox()]);
    const bottom = (place: typeof list) => (place?.y ?? 0) + (place?.height ?? 0);
    expect(bottom(own)).toBeLessThanOrEqual(bottom(list) + 1);
    expect(await box.getAttribute("aria-activedescendant")).toBe(await last.getAttribute("id"));
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toBe("History");
    await context.close();
  });

  it("an ID is pasted anywhere", async () => {
    const { page, context } = await signedIn("#/overview");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page
      .getByRole("heading", { name: /^Regions/ })
      .first()
      .waitFor();
    await page.evaluate((id) => navigator.clipboard.writeText(id), ID);
    await page.keyboard.press("Control+v");
    await page.getByRole("heading", { name: "Goes to eu" }).waitFor();
    await context.close();
  });

  it("one leaves the editor, and comes back to it", async () => {
    const { page, context } = await signedIn("#/editor");
    await page.locator(".cm-content").waitFor();
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" ");
    await page.getByText("Draft, not published").waitFor();
    const isInEditor = () => page.evaluate(() => document.activeElement?.closest(".editor-host") !== null);
    // The part that scrolls is a stop of its own.
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    expect(await isInEditor()).toBe(false);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await isInEditor()).toBe(true);
    await context.close();
  });
});

describe("dates", () => {
  it.each([
    ["de-DE", "Europe/Berlin", "03.11.2024, 07:41:04 (Europe/Berlin)"],
    ["en-US", "America/Los_Angeles", "Nov 2, 2024, 11:41:04 PM (America/Los_Angeles)"],
  ])("are of the language %s and the zone %s, with UTC beside them", async (locale, timezoneId, text) => {
    const { page, context } = await stack.open("#/look-up", { locale, timezoneId });
    await page.getByLabel("ID, short key, URL").fill(ID);
    await page.getByText(text).waitFor();
    await page.getByText("2024-11-03 06:41:04.56 UTC").waitFor();
    await context.close();
  });
});
