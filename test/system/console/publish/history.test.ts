import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIn } from "../console.ts";
import { BRAZIL, type Desk, expectSound, GERMANY, startDesk } from "./desk.ts";

/** Revisions compared, the way back, and who did what: at a real gateway with real requests. */

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk?.stack.stop());

async function openAs(who: "operator" | "viewer", query = "") {
  const own = await desk.stack.open("");
  await signIn(own, who);
  await own.page.goto(`${desk.stack.consoleUrl}/-/console#/history${query}`);
  return own;
}

describe("the history", () => {
  it("has each revision with its regions and share, and any two compared in words, shares and text", async () => {
    const ids = [BRAZIL, GERMANY, GERMANY, GERMANY];
    for (let at = 0; at < 25; at++) await Promise.all(ids.map((id) => desk.regionOf(id)));
    await desk.publishAside(desk.withRegion("BR", "eu"), "us is full");
    await expect.poll(() => desk.regionOf(BRAZIL)).toBe("eu");
    await desk.publishAside((table) => Object.assign(table, { cors: { origins: ["https://shop.example"] } }), "");
    // Too late, and written down.
    const late = { ...desk.asOperator, "if-match": '"1"', "waybill-note": "late" };
    const text = JSON.stringify(await desk.tableNow());
    const answer = await fetch(`${desk.stack.url}/-/table`, { method: "PUT", headers: late, body: text });
    expect(answer.status).toBe(412);
    const own = await openAs("operator", "?to=2");
    const { page, context } = own;
    await page.getByRole("heading", { name: "From 1 to 2" }).waitFor();
    const row = page.locator(".rev", { hasText: "us is full" });
    await row.getByText("by other").waitFor();
    // As the gateway counted: a quarter of the requests by revision 1.
    await row.getByText("25 % of requests").waitFor();
    const compared = page.getByRole("region", { name: "From 1 to 2" });
    await compared.getByText("Route 3: order and ride IDs of Brazil or Mexico").waitFor();
    await compared.getByText("25 %", { exact: true }).waitFor();
    await page.getByText("1 line differs").waitFor();
    await expectSound(own);
    await page.locator(".rev").first().getByText("No ID goes elsewhere").waitFor();
    // From the older one to the newest, by keyboard.
    await page.getByLabel("Compare to 3").focus();
    await page.keyboard.press("Space");
    await page.getByRole("heading", { name: "From 1 to 3" }).waitFor();
    await page.getByText("cors changed", { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "From 1 to 2" }).waitFor();
    await context.close();
  });

  it("leads back by the difference to what is in force, asks for the name of the environment, and can be undone", async () => {
    const own = await openAs("operator", "?from=1&to=2");
    const { page, context } = own;
    await page.getByRole("button", { name: "Roll back to 1" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("From revision 3.", { exact: false }).waitFor();
    // Its own effect is that from the revision in force.
    await dialog.getByText("cors changed", { exact: true }).waitFor();
    await dialog.getByText("Brazil or Mexico").first().waitFor();
    await dialog.getByLabel(/^The data is copied/).check();
    await dialog.getByLabel(/type production/).fill("production");
    await dialog.getByLabel("Note for the history").fill("Brazil back");
    await expectSound(own);
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await dialog.getByText("Revision 4 is in force here").waitFor();
    expect(await desk.regionOf(BRAZIL)).toBe("us");
    await page.keyboard.press("Escape");
    await page.locator(".rev", { hasText: "to 1" }).getByText("in force").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => desk.regionOf(BRAZIL)).toBe("eu");
    await context.close();
  });

  it("tells who did what, what was refused, and finds it by name, action, outcome and note", async () => {
    const own = await openAs("viewer");
    const { page, context } = own;
    await page.getByRole("heading", { name: /^From/ }).waitFor();
    expect(await page.getByRole("button", { name: /Roll back|Undo/ }).count()).toBe(0);
    await page.getByText("Who did what").click();
    await page.getByRole("row", { name: /refused: another change came first/ }).waitFor();
    await expectSound(own);
    const rows = () => page.locator("tbody tr").count();
    await page.getByLabel("Outcome").selectOption("refused");
    await expect.poll(rows).toBe(1);
    await page.getByLabel("Outcome").selectOption("");
    await page.getByLabel("Who", { exact: true }).selectOption("other");
    await page.getByRole("row", { name: /us is full/ }).waitFor();
    await expect.poll(rows).toBe(2);
    await page.getByLabel("Who", { exact: true }).selectOption("");
    await page.getByLabel("What", { exact: true }).selectOption("rollback");
    await expect.poll(rows).toBe(2);
    await page.getByLabel("Note or revision").fill("nowhere");
    await page.getByText("No entry fits").waitFor();
    await context.close();
  });
});
