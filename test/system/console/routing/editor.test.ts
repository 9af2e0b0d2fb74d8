import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "../console.ts";

/** The table as text, in a real browser at a real gateway. */

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

/** The text of the editor, as it is replaced by select-all and a paste. */
async function write({ page }: OpenPage, text: string): Promise<void> {
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

const tableText = async (): Promise<string> =>
  (await fetch(`${stack.url}/-/table`, { headers: { authorization: `Bearer ${TOKENS.operator}` } })).text();

async function openAs(who: "viewer" | "operator", place: string): Promise<OpenPage> {
  const own = await stack.open("", { viewport: { width: 1440, height: 900 } });
  await signIn(own, who);
  await own.page.goto(`${stack.consoleUrl}/-/console${place}`);
  await own.page.locator(".editor .cm-content").waitFor();
  return own;
}

describe("the editor", () => {
  it("shows faults where they stand, with their remedies, before anything is sent", async () => {
    const own = await openAs("operator", "#/table");
    const { page, context } = own;
    const table = JSON.parse(await tableText());
    const broken = {
      ...table,
      routes: Array.from({ length: 100 }, () => ({ when: { country: "ZZ" }, region: "nowhere" })),
    };
    await write(own, JSON.stringify(broken, null, 2));
    await page.getByRole("heading", { name: /^\d+ faults/ }).waitFor();
    const publish = page.getByRole("button", { name: "Review and publish" });
    expect(await publish.getAttribute("aria-disabled")).toBe("true");
    await page
      .getByRole("button", { name: /^Line \d+: Route \d+: region/ })
      .first()
      .click();
    await page.locator(".editor .cm-lintRange-error").first().waitFor();
    expect(await page.locator(".faults").textContent()).not.toMatch(/\/routes/);
    await expectSound(own);
    await write(own, (await tableText()).replace('"region": "ap"', '"region": "app"'));
    await page.getByRole("heading", { name: "1 fault" }).waitFor();
    await page.getByRole("button", { name: 'Put "ap" there' }).first().click();
    await page.getByText("No fault").waitFor();
    expect(await publish.getAttribute("aria-disabled")).toBe("true");
    await write(own, "{ x");
    await page.getByRole("button", { name: /^Line 1, column/ }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("No fault").waitFor();
    await context.close();
  });

  it("stays fluent while one types fast, completes names, and says what would change", async () => {
    const own = await openAs("operator", "#/editor");
    const { page, context } = own;
    await page.locator(".editor .cm-content").click();
    for (const key of ["Control+End", "ArrowUp", "End"]) await page.keyboard.press(key);
    await page.keyboard.type(',"default":"eu"');
    await page.getByText("No fault").waitFor();
    await page
      .getByText("1 line differs from revision 1")
      .or(page.getByText("2 lines differ from revision 1"))
      .waitFor();
    await page.getByRole("complementary", { name: "The draft" }).locator(".diff").waitFor();
    await expectSound(own);
    await page.reload();
    await page.getByText(/differs? from revision 1/).waitFor();
    await page.locator(".editor .cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{\n  "reg\n}');
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("End");
    await page.keyboard.press("Control+Space");
    await page.locator(".editor .cm-tooltip-autocomplete").getByText('"regions"').waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await context.close();
  });

  it("opens at a line, and jumps by name", async () => {
    const own = await openAs("viewer", "#/editor?line=12");
    const { page, context } = own;
    const lines = (await tableText()).split("\n");
    const active = page.locator(".editor .cm-activeLine");
    await expect.poll(() => active.textContent()).toBe(lines[11]);
    await page.goto(`${stack.consoleUrl}/-/console#/editor?line=4`);
    await expect.poll(() => active.textContent()).toBe(lines[3]);
    await page.getByLabel("Jump to a name").fill("person");
    await page.getByRole("button", { name: "entities: person" }).click();
    await expect.poll(() => active.textContent()).toContain('"person"');
    await page.getByLabel("Jump to a name").fill("kazakhstan");
    await expect.poll(() => page.getByRole("navigation", { name: "Outline" }).getByRole("button").count()).toBe(3);
    await page.getByLabel("Jump to a name").fill("nothing has this");
    await page.getByText("No part of the table has this name.").waitFor();
    await expectSound(own);
    await context.close();
  });

  it("lets a viewer look and change nothing: no control on any page, and no request of the page's own", async () => {
    const own = await openAs("viewer", "#/editor");
    const { page, context } = own;
    const name =
      /^(?:Review and publish|Try as a canary|Publish|Roll back|Start|Fence|Switch|Promote|Abort|Replace|Add|Discard|Format)/;
    for (const place of ["routes", "regions", "entities", "editor", "history", "canary", "moves", "capacity"]) {
      await page.goto(`${stack.consoleUrl}/-/console#/${place}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect([place, await page.getByRole("button", { name, disabled: false }).allTextContents()]).toEqual([place, []]);
    }
    const before = await tableText();
    const statuses = await page.evaluate(() =>
      Promise.all(
        [
          ["PUT", "/-/table"],
          ["POST", "/-/table/rollback"],
          ["POST", "/-/table/canary"],
          ["POST", "/-/table/promote"],
          ["POST", "/-/table/abort"],
          ["PUT", "/-/directory/slug/x"],
          ["DELETE", "/-/directory/slug/x"],
        ].map(([method = "", path = ""]) =>
          fetch(path, { method, body: "{}", headers: { "if-match": '"1"', "content-type": "application/json" } }).then(
            ({ status }) => status,
          ),
        ),
      ),
    );
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 403]);
    expect(await tableText()).toBe(before);
    await context.close();
  });
});
