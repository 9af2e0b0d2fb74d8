import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "../console.ts";

/** Nothing that was typed is lost, the keyboard stays where it was, and what leads nowhere is said at once. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
/** An ID of a country that no route takes. */
const NOWHERE = "0192f0c1-7a30-80ff-8040-8f3b2a1c9d78";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole(({ default: _, ...table }) => table);
});
afterAll(() => stack?.stop());

const box = (page: Page) => page.getByLabel("ID, short key, URL");
const hasFocus = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent || document.activeElement?.getAttribute("type") || "none");

async function openAs(who: keyof typeof TOKENS, place = "", options = {}): Promise<OpenPage> {
  const own = await stack.open(place, options);
  await signIn(own, who);
  return own;
}

/** A draft: a blank before the table. */
async function write({ page }: OpenPage): Promise<void> {
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type(" ");
  await page.getByText("not published").waitFor();
}

describe("a draft", () => {
  it("survives a reload, Escape, and an ended session, whose window has the focus on the token", async () => {
    const own = await openAs("operator", "#/table");
    const { page, context } = own;
    await write(own);
    await page.reload();
    await page.getByText("not published").waitFor();
    const open = () => page.getByRole("button", { name: "Review and publish" }).click();
    await open();
    await page.getByLabel("Note for the history").fill("ticket 4711");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await open();
    expect(await page.getByLabel("Note for the history").inputValue()).toBe("ticket 4711");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await context.clearCookies();
    await page.getByRole("link", { name: "History" }).first().click();
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await expect.poll(() => hasFocus(page)).toBe("password");
    await page.keyboard.press("Escape");
    await page.getByText("Your text is kept in this tab.").waitFor();
    expect((await violations(own)).join("\n")).toBe("");
    await page.getByRole("button", { name: "Sign in again" }).click();
    await expect.poll(() => hasFocus(page)).toBe("password");
    await page.keyboard.type(TOKENS.operator);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goto(`${stack.consoleUrl}/-/console#/editor`);
    await page.getByText("not published").first().waitFor();
    expect(own.faults).toEqual([]);
    await context.close();
  });

  it("is gone when one signs out, and is not the next person's", async () => {
    const own = await openAs("operator", "#/table");
    const { page, context } = own;
    await write(own);
    await page.getByRole("button", { name: "operator", exact: true }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem("waybill-typed"))).not.toContain("regions");
    await signIn(own, "operator");
    await page.getByText("no fault").waitFor();
    expect(await page.getByText("not published").count()).toBe(0);
    await write(own);
    await context.clearCookies();
    await page.reload();
    await signIn(own, "other");
    await page.getByText("no fault").waitFor();
    expect(await page.getByText("not published").count()).toBe(0);
    await context.close();
  });
});

describe("a list", () => {
  it("stays when one of it is opened, with what the gateway said; Back returns to it", async () => {
    const own = await openAs("viewer");
    const { page, context } = own;
    await box(page).fill(`${ID}\n/person/1\n${NOWHERE}`);
    await page.getByRole("button", { name: "Ask the gateway" }).click();
    const said = page.getByText("the regions of 3 are the gateway's.");
    await said.waitFor();
    expect(await hasFocus(page)).toBe("Ask again");
    await page.getByRole("button", { name: "eu 2" }).click();
    await page.getByRole("link", { name: "/person/1" }).click();
    // Beside the list, which keeps its filter.
    await page.locator(".side-panel .what", { hasText: "person" }).waitFor();
    await expect.poll(() => page.locator(".many tbody a").allTextContents()).toEqual([ID, "/person/1"]);
    expect(await page.locator("tr[aria-selected=true] a").textContent()).toBe("/person/1");
    await page.locator(".side-panel").getByRole("button", { name: "Ask the gateway" }).click();
    await page.locator(".side-panel").getByRole("button", { name: "Ask again" }).waitFor();
    await page.getByRole("link", { name: "Open alone" }).click();
    await page.getByText("Confirmed by the gateway").waitFor();
    expect((await violations(own)).join("\n")).toBe("");
    await page.goBack();
    await page.goBack();
    await page.locator(".side-panel").waitFor({ state: "detached" });
    await said.waitFor();
    await expect.poll(() => page.locator(".many tbody a").count()).toBe(2);
    // Nor by a visit to another page.
    await page.getByRole("link", { name: "Layouts" }).first().click();
    await page.getByRole("heading", { name: "Layouts", level: 1 }).waitFor();
    await page.goBack();
    await said.waitFor();
    await expect.poll(() => page.locator(".many tbody a").count()).toBe(2);
    await page.reload();
    await page.getByRole("heading", { name: "3 IDs" }).waitFor();
    expect((await violations(own)).join("\n")).toBe("");
    await context.close();
  });

  it("gives its room to an ID on a phone, with the focus, and takes both back at its place", async () => {
    const own = await openAs("viewer", "", { viewport: { width: 390, height: 800 } });
    const { page, context } = own;
    const ids = Array.from({ length: 60 }, (_, at) => `${ID.slice(0, -2)}${at + 10}`);
    await box(page).fill(ids.join("\n"));
    const rows = page.locator(".many");
    await rows.evaluate((list) => list.scrollTo(0, 2_000));
    const last = page.locator(".many a", { hasText: ids[26] ?? "" });
    // Not by the mouse of the test, which may scroll to it.
    await last.evaluate((link) => (link as HTMLElement).click());
    await page.locator(".side-panel").waitFor();
    expect(await rows.isVisible()).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.className)).toContain("side-panel");
    expect((await violations(own)).join("\n")).toBe("");
    await page.getByRole("link", { name: "Back to the list" }).click();
    await rows.waitFor();
    await expect.poll(() => rows.evaluate((list) => list.scrollTop)).toBe(2_000);
    await expect.poll(() => hasFocus(page)).toBe(ids[26]);
    await context.close();
  });

  it("is none where a sentence was pasted", async () => {
    const own = await openAs("support");
    await box(own.page).fill("This is not an ID");
    await own.page.getByRole("heading", { name: "This is no ID of the table" }).waitFor();
    await own.context.close();
  });
});

describe.each(["support", "viewer", "operator"] as const)("an ID that no route takes, to %s", (who) => {
  it("has its verdict at once", async () => {
    const own = await openAs(who);
    const { page, context } = own;
    await box(page).fill(NOWHERE);
    const verdict = page.getByRole("heading", { name: "Requests get 404" });
    await verdict.waitFor();
    await page.getByText("No route takes this ID").waitFor();
    await page.getByText("Read here, revision 1").waitFor();
    await page.getByRole("button", { name: "Ask the gateway" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Confirmed by the gateway").waitFor();
    await verdict.waitFor();
    // It is said, too, and the focus stays.
    await page.locator('[role="status"]', { hasText: "No route takes this ID" }).waitFor({ state: "attached" });
    expect(await hasFocus(page)).toBe("Ask again");
    expect((await violations(own)).join("\n")).toBe("");
    await context.close();
  });

  it("has it in a list too, in the same words before and after", async () => {
    const own = await openAs(who);
    const { page, context } = own;
    const sent: string[] = [];
    // The page asks for its own state all the time, and never with an ID.
    page.on("request", (request) => {
      if ([ID, NOWHERE].some((id) => `${request.url()} ${request.postData()}`.includes(id))) sent.push(request.url());
    });
    await box(page).fill(`${ID}\n${NOWHERE}`);
    const verdicts = async () => [
      (await page.locator(".many td.c-to").allTextContents())[1],
      ...(await page.locator(".many td.c-note").allTextContents()),
    ];
    const expected = ["404", "", "No route takes this ID"];
    await page.getByRole("heading", { name: "2 IDs" }).waitFor();
    // The names of the table may come a moment after signing in.
    await expect.poll(verdicts).toEqual(expected);
    expect(sent).toEqual([]);
    await page.getByRole("button", { name: "Ask the gateway" }).click();
    await page.getByRole("button", { name: "Ask again" }).waitFor();
    expect(await verdicts()).toEqual(expected);
    expect((await violations(own)).join("\n")).toBe("");
    await context.close();
  });

  it("reads a ULID, which no entity uses", async () => {
    const own = await openAs(who);
    await box(own.page).fill("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    await own.page.getByRole("heading", { name: "Reads as ulid" }).waitFor();
    await own.page.getByText("No entity of the table uses this layout.").waitFor();
    await own.context.close();
  });
});

describe("on the way", () => {
  it("the search of the editor can be read in the dark", async () => {
    const own = await openAs("operator", "#/table", { colorScheme: "dark" });
    const { page, context } = own;
    await page.locator(".editor .cm-content").click();
    await page.keyboard.press("Control+f");
    await page.locator(".cm-search").waitFor();
    const colours = await page.locator(".cm-search").evaluate((panel) => {
      const luminance = (colour: string): number => {
        const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
          const own = Number(part) / 255;
          return own <= 0.04045 ? own / 12.92 : ((own + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      return [...panel.querySelectorAll("input[name=search], button")].map((control) => {
        const { color, backgroundColor, backgroundImage } = getComputedStyle(control);
        const ground =
          backgroundColor === "rgba(0, 0, 0, 0)"
            ? getComputedStyle(panel.parentElement as Element).backgroundColor
            : backgroundColor;
        const [light = 0, dark = 0] = [luminance(color), luminance(ground)].sort((a, b) => b - a);
        return backgroundImage === "none" && (light + 0.05) / (dark + 0.05) >= 4.5 ? "" : control.outerHTML;
      });
    });
    expect(colours.filter((fault) => fault !== "")).toEqual([]);
    expect((await violations(own)).join("\n")).toBe("");
    await context.close();
  });

  it("a way back and who did it are in sight on a phone", async () => {
    const headers = { authorization: `Bearer ${TOKENS.operator}`, "if-match": '"1"' };
    const body = JSON.stringify({ ...stack.declared, default: undefined, moved: undefined });
    expect((await fetch(`${stack.url}/-/table`, { method: "PUT", headers, body })).status).toBe(201);
    const own = await openAs("operator", "#/history", { viewport: { width: 390, height: 844 } });
    const { page, context } = own;
    const back = page.getByRole("button", { name: "Roll back to 1" });
    await back.waitFor();
    for (const shown of [back, page.locator(".rev small", { hasText: "by operator" }).first()]) {
      const { x = -1, width = 0 } = (await shown.boundingBox()) ?? {};
      expect([x >= 0, x + width <= 390]).toEqual([true, true]);
    }
    expect((await violations(own)).join("\n")).toBe("");
    await context.close();
  });

  it("the focus goes on after a publication", async () => {
    const own = await openAs("operator", "#/table");
    const { page, context } = own;
    await write(own);
    await page.getByRole("button", { name: "Review and publish" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /^Publish revision \d+$/ }).click();
    await dialog.getByText(/is in force here/).waitFor();
    // It stays in the window.
    expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
    await context.close();
  });
});
