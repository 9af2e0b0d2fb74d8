import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIn } from "../console.ts";
import { answerAll, type Desk, dialogOf, POLAND, publishButton, review, startDesk } from "./desk.ts";

/** Changes of others, a window that is closed too early, and a browser with a wrong clock: nothing is lost, and nothing is taken back unseen. */

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk?.stack.stop());

/** Another operator publishes, and the page knows it. */
async function publishAside(page: Page, region: string): Promise<number> {
  const revision = await desk.publishAside(desk.withRegion("PL", region), "Poland");
  await page.locator(".force b", { hasText: `${revision}` }).waitFor({ timeout: 20_000 });
  return revision;
}

async function openAs(path: string) {
  const own = await desk.stack.open("");
  await signIn(own, "operator");
  await own.page.goto(`${desk.stack.consoleUrl}/-/console${path}`);
  return own;
}

describe("a revision of somebody else", () => {
  it("that came while a form was open is not taken back by the form", async () => {
    const { page, context } = await openAs("#/routes");
    await page.getByRole("button", { name: "Default" }).first().click();
    const dialog = dialogOf(page);
    await dialog.getByLabel("Go to").selectOption("ap");
    const other = await publishAside(page, "us");
    await dialog.getByRole("button", { name: "Review and publish" }).click();
    await dialog.getByRole("heading", { name: `Revision ${other} was published meanwhile` }).waitFor();
    await dialog.getByRole("button", { name: `Put my lines on ${other}` }).click();
    await answerAll(page);
    await publishButton(page).click();
    await dialog.getByText(/is in force here after/).waitFor();
    expect(await desk.tableNow()).toMatchObject({ default: "ap" });
    expect(await desk.regionOf(POLAND)).toBe("us");
    await context.close();
  });

  it("that came after the draft keeps the draft from becoming a canary", async () => {
    const { page, context } = await desk.draftAs("operator", desk.withRegion("BR", "ap"));
    const other = await publishAside(page, "ap");
    await page.goto(`${desk.stack.consoleUrl}/-/console#/canary`);
    await page.getByRole("heading", { name: `Revision ${other} was published since` }).waitFor();
    const start = page.getByRole("button", { name: "Look at the difference" });
    expect(await start.getAttribute("aria-disabled")).toBe("true");
    await context.close();
  });
});

it("a form that was filled in asks before Escape closes it, and is as it was", async () => {
  const { page, context } = await openAs("#/regions");
  await page.getByRole("button", { name: "Add a region" }).click();
  const form = page.getByRole("dialog", { name: "Add a region", exact: true });
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Add a region" }).click();
  await form.getByLabel("Name").fill("eu2");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "discard what you filled in?" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await form.getByLabel("Name").inputValue()).toBe("eu2");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard" }).click();
  await form.waitFor({ state: "detached" });
  await context.close();
});

it("a form that was filled in asks before Back leaves it, and goes there once it is discarded", async () => {
  const { page, context } = await openAs("#/routes");
  await page.getByRole("link", { name: "Regions" }).first().click();
  await page.getByRole("button", { name: "Add a region" }).click();
  const form = page.getByRole("dialog", { name: "Add a region", exact: true });
  await form.getByLabel("Name").fill("eu2");
  const asked = page.getByRole("heading", { name: "discard what you filled in?" });
  for (let turn = 0; turn < 2; turn++) {
    await page.goBack();
    await asked.waitFor();
    expect(new URL(page.url()).hash).toBe("#/regions");
    await page.getByRole("button", { name: "Go on" }).click();
    await asked.waitFor({ state: "detached" });
    expect(await form.getByLabel("Name").inputValue()).toBe("eu2");
  }
  await page.goBack();
  await page.getByRole("button", { name: "Discard" }).click();
  await form.waitFor({ state: "detached" });
  await expect.poll(() => new URL(page.url()).hash).toBe("#/routes");
  // Nothing is held any more.
  await page.goBack();
  await expect.poll(() => new URL(page.url()).hash).toBe("#/regions");
  await context.close();
});

it("a form that was filled in has the browser ask before a reload", async () => {
  const { page, context } = await openAs("#/regions");
  await page.getByRole("button", { name: "Add a region" }).click();
  const form = page.getByRole("dialog", { name: "Add a region", exact: true });
  await form.getByLabel("Name").fill("eu2");
  const kinds: string[] = [];
  page.once("dialog", async (dialog) => {
    kinds.push(dialog.type());
    await dialog.dismiss();
  });
  await page.evaluate(() => void setTimeout(() => location.reload()));
  await expect.poll(() => kinds).toEqual(["beforeunload"]);
  expect(await form.getByLabel("Name").inputValue()).toBe("eu2");
  await context.close();
});

it("a window that is closed before a lost answer is settled: the foot of the page says so, and later text is kept", async () => {
  const { page, context } = await desk.draftAs("operator", desk.withRegion("BR", "ap"));
  await review(page);
  await answerAll(page);
  await dialogOf(page).getByLabel("Note for the history").fill("two\nlines");
  // The log answers once the window is closed.
  let isOpen = true;
  await desk.loseAnswer(page, true);
  await page.route("**/-/table/audit?limit=50", (route) => (isOpen ? route.abort() : route.fallback()));
  await publishButton(page).click();
  await dialogOf(page).getByText("The answer was lost", { exact: false }).waitFor();
  await dialogOf(page).getByRole("button", { name: "Back to the draft" }).click();
  await page.getByRole("region", { name: "Last change" }).getByText("The answer was lost", { exact: false }).waitFor();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("\n");
  isOpen = false;
  await page.getByRole("button", { name: "Undo" }).waitFor();
  expect(await desk.head()).toMatchObject({ note: "two lines", author: "operator" });
  await page
    .getByText(/lines? differs? from revision/)
    .first()
    .waitFor();
  await context.close();
});

it("a browser whose clock is three hours behind sends no ID elsewhere that is minted already", async () => {
  const { page, context } = await desk.draftAs("operator", desk.withRegion("DE", "us"));
  const before = Date.now();
  await page.clock.install({ time: before - 3 * 3_600_000 });
  await page.reload();
  await page.getByRole("button", { name: "operator", exact: true }).waitFor();
  await review(page);
  await dialogOf(page)
    .getByRole("radio", { name: /^Only IDs minted from now on/ })
    .check();
  await dialogOf(page)
    .getByRole("radio", { name: /^For all IDs now/ })
    .check();
  await publishButton(page).click();
  await expect.poll(async () => (await desk.head()).author).toBe("operator");
  await dialogOf(page)
    .getByText(/is in force here after/)
    .waitFor();
  const moments = (await desk.tableNow()).routes.flatMap(({ when }) => {
    const { mintedFrom } = when as { readonly mintedFrom?: string };
    return mintedFrom === undefined ? [] : [Date.parse(mintedFrom)];
  });
  expect(Math.max(...moments)).toBeGreaterThan(before);
  await context.close();
});
