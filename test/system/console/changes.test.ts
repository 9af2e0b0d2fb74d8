import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** Operators change the table, in a real browser at a real gateway, until the change is in force. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
}, 60_000);
afterAll(() => stack?.stop());

async function expectSound(own: OpenPage): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await own.page.emulateMedia({ colorScheme });
    expect((await violations(own)).join("\n")).toBe("");
  }
  expect(own.faults).toEqual([]);
}

/** The text of the editor, as it is replaced by select-all and a paste. */
async function write({ page }: OpenPage, text: string): Promise<void> {
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

const asOperator = { authorization: `Bearer ${TOKENS.operator}` };

async function tableText(): Promise<string> {
  return (await fetch(`${stack.url}/-/table`, { headers: asOperator })).text();
}

const withRegion = async (country: string, region: string): Promise<string> => {
  const table = JSON.parse(await tableText());
  table.routes.unshift({ when: { layout: "iuid", country }, region });
  return JSON.stringify(table, null, 2);
};

async function openAs(who: "viewer" | "operator" | "other", place: string): Promise<OpenPage> {
  const own = await stack.open("");
  await signIn(own, who);
  await own.page.goto(`${stack.consoleUrl}/-/console${place}`);
  return own;
}

describe("a publication", () => {
  it("goes from the editor over the difference and a note until it is in force; a second operator comes too late", async () => {
    const [own, second] = [await openAs("operator", "#/table"), await openAs("other", "#/table")];
    await Promise.all([own, second].map(({ page }) => page.locator(".editor .cm-content").waitFor()));
    await write(second, await withRegion("DE", "us"));
    await second.page.getByRole("button", { name: "Plan and publish" }).click();
    await second.page.getByLabel("Note").waitFor();
    await write(own, await withRegion("PL", "ap"));
    await own.page.getByRole("button", { name: "Plan and publish" }).click();
    const dialog = own.page.getByRole("dialog");
    await dialog
      .getByText(/^order.*\(iuid\).*country PL/)
      .first()
      .waitFor();
    await dialog.getByText("0.39 %").first().waitFor();
    await expectSound(own);
    await dialog.getByLabel("Note").fill("Poland to Asia – a trial");
    await dialog.getByRole("button", { name: "Publish" }).click();
    await dialog.getByText("Revision 2 is in force here").waitFor();
    await expectSound(own);
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await own.page.getByText("revision 2", { exact: true }).waitFor();
    await second.page.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
    await second.page.getByText("Another change came first").waitFor();
    await expectSound(second);
    await second.context.close();
    await own.context.close();
  });

  it("is rolled back from the history, by its difference to any other, and the log says who", async () => {
    const own = await openAs("operator", "#/history");
    const { page, context } = own;
    await page.getByLabel("Compare revision 1").check();
    await page.getByLabel("Compare revision 2").check();
    await page.getByRole("button", { name: "Compare the two" }).click();
    await page.getByRole("heading", { name: "From 1 to 2" }).waitFor();
    await page.getByText("Poland to Asia – a trial").first().waitFor();
    await page.getByRole("button", { name: "Compare the texts" }).click();
    await page.locator(".comparison .cm-changedLine").first().waitFor();
    await expectSound(own);
    await page.getByRole("button", { name: "Roll back to revision 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByText("Revision 3 is in force here").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("cell", { name: "rollback 3" }).waitFor();
    // A window that is closed early leaves no old page behind.
    await page.getByRole("button", { name: "Roll back to revision 2" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByText("Stored in the control plane").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("cell", { name: "rollback 4" }).waitFor();
    await page.getByRole("button", { name: "Roll back to revision 3" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByText("Revision 5 is in force here").waitFor();
    await context.close();
  });
});

describe("the overview", () => {
  it("shows a region that dies while one looks", async () => {
    const own = await openAs("viewer", "#/overview");
    const { page, context } = own;
    await page.getByRole("heading", { name: "Regions now" }).waitFor();
    await stack.origins[2]?.stop();
    const id = "0192f0c1-7a30-8006-8040-8f3b2a1c9d78";
    // A breaker closes for a trial now and then, and the page may ask just then.
    const isDown = async () => {
      await fetch(`${stack.url}/orders/${id}`).then((answer) => answer.arrayBuffer());
      return page.getByText("Down", { exact: true }).count();
    };
    await expect.poll(isDown, { timeout: 20_000, interval: 50 }).toBeGreaterThan(0);
    await page
      .getByText(/last fault/)
      .first()
      .waitFor();
    await expectSound(own);
    await context.close();
  });
});
