import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "../console.ts";

/** Sign-in, its end, and a gateway that does not answer: nothing that was typed is lost, and nothing stays for the next. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const BOX = "ID, short key, URL";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole((table) => table, { ENVIRONMENT: "eu-staging" });
});
afterAll(() => stack?.stop());

/** A page whose policy held, that asked no other host, and that axe finds no fault with, in both themes. */
async function expectSound(own: OpenPage): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await own.page.emulateMedia({ colorScheme });
    expect((await violations(own)).join("\n")).toBe("");
  }
  expect(own.faults).toEqual([]);
}

const dialog = ({ page }: OpenPage) => page.getByRole("dialog");

/** An operator with a draft of one line in the editor. */
async function withDraft(): Promise<OpenPage> {
  const own = await stack.open("#/editor");
  await signIn(own, "operator");
  await own.page.locator(".cm-content").click();
  await own.page.keyboard.type(" ");
  await own.page.getByRole("link", { name: "Draft, not published" }).waitFor();
  return own;
}

const draftText = ({ page }: OpenPage) =>
  page.evaluate(() => JSON.parse(sessionStorage.getItem("waybill-typed") ?? "{}").draft?.text as string | undefined);

describe("sign-in", () => {
  it("is a page of its own, with the environment", async () => {
    const own = await stack.open("#/history");
    const { page, context } = own;
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByText("eu-staging", { exact: true }).waitFor();
    await expect.poll(() => page.title()).toBe("Sign in – Waybill eu-staging");
    await expectSound(own);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await signIn(own, "viewer");
    // It goes on to the page that was asked for.
    await page.getByRole("heading", { name: "History", exact: true }).waitFor();
    await context.close();
  });

  it("refuses a wrong token in words", async () => {
    const own = await stack.open("");
    await own.page.getByLabel("Token").fill("x".repeat(40));
    await own.page.getByRole("button", { name: "Sign in" }).click();
    await own.page.getByText("This token is not known").waitFor();
    expect(await own.page.getByLabel("Token").inputValue()).toBe("x".repeat(40));
    await expectSound(own);
    await own.context.close();
  });

  it("is not needed to look an ID up, and is one click away", async () => {
    const { page, context } = await stack.open("");
    await page.getByRole("link", { name: "Look up an ID without signing in" }).click();
    await page.getByLabel(BOX).fill(ID);
    await page.locator(`[data-reading="${ID}"]`).waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Token").fill(TOKENS.viewer);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "viewer", exact: true }).waitFor();
    expect(await page.getByLabel(BOX).inputValue()).toBe(ID);
    await context.close();
  });

  it("says until when it holds, and how the console looks", async () => {
    const own = await stack.open("#/layouts");
    const { page, context } = own;
    await page.getByRole("button", { name: "Sign in" }).click();
    await signIn(own, "viewer");
    await page.getByRole("button", { name: "viewer", exact: true }).click();
    await page.getByText(/^Ends at \d\d:\d\d if you do nothing, at \d\d:\d\d in any case\.$/).waitFor();
    await expectSound(own);
    await page.getByRole("radio", { name: "Dark" }).check({ force: true });
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.keyboard.press("Escape");
    await dialog(own).waitFor({ state: "hidden" });
    await context.close();
  });
});

describe("a session that ended", () => {
  it("keeps the page and the draft, and goes on with both", async () => {
    const own = await withDraft();
    const { page, context } = own;
    const before = await draftText(own);
    await context.clearCookies();
    await page.evaluate("location.hash = '#/capacity'");
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await page.getByText("1 line, from revision 1. It is in this tab alone: do not close it.").waitFor();
    await expect.poll(() => page.title()).toBe("Session ended – Waybill eu-staging");
    await expectSound(own);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the draft as a file" }).click(),
    ]);
    const saved: string[] = [];
    for await (const chunk of await file.createReadStream()) saved.push(String(chunk));
    expect(saved.join("")).toBe(before);
    // One may look at the page first.
    await page.keyboard.press("Escape");
    await dialog(own).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Sign in again" }).click();
    await dialog(own).getByLabel("Token of operator").fill(TOKENS.operator);
    await dialog(own).getByRole("button", { name: "Sign in and go on" }).click();
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor({ state: "detached" });
    expect(await draftText(own)).toBe(before);
    await context.close();
  });

  it("asks before another name discards the draft, and keeps nothing of one for the next", async () => {
    const own = await withDraft();
    const { page, context } = own;
    const before = await draftText(own);
    const signInAs = async (token: string) => {
      await dialog(own).getByLabel("Token of operator").fill(token);
      await page.keyboard.press("Enter");
    };
    await page.evaluate("globalThis.isSamePage = true");
    await context.clearCookies();
    // The page may ask for a token before this, and then no link can be clicked.
    await page.evaluate("location.hash = '#/capacity'");
    await signInAs(TOKENS.other);
    await page.getByRole("heading", { name: "The draft is of operator" }).waitFor();
    await expectSound(own);
    await page.getByRole("button", { name: "Sign in as operator" }).click();
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    expect(await context.cookies(stack.consoleUrl)).toEqual([]);
    expect(await draftText(own)).toBe(before);
    await signInAs(TOKENS.other);
    await page.getByRole("button", { name: "Discard it and go on as other" }).click();
    await page.getByRole("button", { name: "other", exact: true }).waitFor();
    // Neither in its memory, where support would have an operator's table.
    expect(await page.evaluate("globalThis.isSamePage")).toBeUndefined();
    expect(await draftText(own)).toBeUndefined();
    await context.close();
  });

  it("is not renewed by requests that the page makes by itself", async () => {
    const own = await stack.open("");
    const { page, context } = own;
    await signIn(own, "viewer");
    await page.clock.install();
    await page.goto(`${stack.consoleUrl}/-/console#/overview`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const asked = async () => (await page.waitForRequest("**/-/regions")).headers()["waybill-unattended"];
    const [first] = await Promise.all([asked(), page.clock.runFor(11_000)]);
    const [later] = await Promise.all([asked(), page.clock.fastForward(70_000)]);
    await page.keyboard.press("Shift");
    const [again] = await Promise.all([asked(), page.clock.runFor(11_000)]);
    expect([first, later, again]).toEqual([undefined, "1", undefined]);
    await context.close();
  });
});

describe("a gateway that does not answer", () => {
  const banner = ({ page }: OpenPage) => page.getByText(/^The gateway does not answer since \d\d:\d\d\.$/);

  it("is said at once, with the next attempt, and its end too", async () => {
    const own = await stack.open("#/look-up");
    const { page, context } = own;
    await page.getByRole("button", { name: "Sign in" }).click();
    await signIn(own, "viewer");
    await page.getByLabel(BOX).fill(ID);
    await page.locator(`[data-reading="${ID}"]`).waitFor();
    await page.locator(".force").waitFor();
    await context.setOffline(true);
    await banner(own).waitFor();
    await page.getByText(/It is asked again (?:in \d s|now)\./).waitFor();
    await page.locator(".force.stale").waitFor();
    await expect.poll(() => page.title()).toBe("No answer – Waybill eu-staging");
    // The pasted text is read all the same.
    await expect.poll(() => page.locator(`[data-reading="${ID}"]`).count()).toBe(1);
    await expectSound(own);
    await context.setOffline(false);
    await banner(own).waitFor({ state: "detached", timeout: 12_000 });
    await page.locator(".force:not(.stale)").waitFor({ timeout: 12_000 });
    await context.close();
  });

  it("is not called back by an answer to a request from before", async () => {
    const own = await stack.open("#/layouts");
    const { page, context } = own;
    const held: (() => Promise<void>)[] = [];
    await page.route("**/-/table", (route) => {
      const answer = { body: JSON.stringify(stack.declared), headers: { "waybill-revision": "1" } };
      held.push(() => route.fulfill(answer));
    });
    await page.getByRole("button", { name: "Sign in" }).click();
    await signIn(own, "viewer");
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await page.route("**/-/**", (route) => route.abort());
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "An ID, a page or a command" }).fill("Sign out");
    await page.keyboard.press("Enter");
    await banner(own).waitFor();
    await Promise.all(held.map((answer) => answer()));
    // By then the page has drawn the answer.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100))));
    expect(await banner(own).isVisible()).toBe(true);
    await context.close();
  });

  it("keeps one signed in, who is signed out by the gateway alone, and then begins anew", async () => {
    const own = await stack.open("#/editor");
    const { page, context } = own;
    await signIn(own, "viewer");
    await page.evaluate("globalThis.isSamePage = true");
    const signOut = async () => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "An ID, a page or a command" }).fill("Sign out");
      await page.getByRole("option", { name: "Sign out", selected: true }).waitFor();
      await page.keyboard.press("Enter");
    };
    await context.setOffline(true);
    // The banner also comes by itself. Until the request has failed, it may still be sent once the network is back.
    const lost = page.waitForEvent("requestfailed", (request) => request.method() === "DELETE");
    await Promise.all([lost, signOut()]);
    await banner(own).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "viewer", exact: true }).count()).toBe(1);
    await context.setOffline(false);
    // The browser may still end requests because its network changed.
    await banner(own).waitFor({ state: "hidden" });
    await signOut();
    await page.getByLabel("Token").waitFor();
    expect(await context.cookies(stack.consoleUrl)).toEqual([]);
    expect(await page.evaluate("globalThis.isSamePage")).toBeUndefined();
    await context.close();
  });
});
