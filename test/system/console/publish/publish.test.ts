import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  answerAll,
  BRAZIL,
  type Desk,
  dialogOf,
  expectSound,
  GERMANY,
  POLAND,
  publishButton,
  review,
  startDesk,
} from "./desk.ts";

/** Operators publish a draft in a real browser at a real gateway: with what it costs, what others did meanwhile, and the way back. */

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk?.stack.stop());

describe("a publication", () => {
  it("says its cost by counted requests, asks after data, and is in force within six clicks; one more undoes it", async () => {
    // A quarter of the requests is Brazil's, and no other route leads to us.
    for (let at = 0; at < 25; at++)
      await Promise.all([BRAZIL, GERMANY, GERMANY, GERMANY].map((id) => desk.regionOf(id)));
    const own = await desk.draftAs("operator", desk.withRegion("BR", "eu"));
    const { page, context } = own;
    // The counts of the last step come with the report of the isolate.
    await expect
      .poll(
        async () => {
          const answer = await fetch(`${desk.stack.url}/-/metrics/history?span=hour`, { headers: desk.asOperator });
          const { total } = (await answer.json()) as { total: { requests: number[] } };
          return total.requests.reduce((sum, count) => sum + count, 0);
        },
        { timeout: 15_000 },
      )
      .toBeGreaterThanOrEqual(100);
    let clicks = 0;
    const click = async (name: string | RegExp, role: "button" | "checkbox" | "radio" = "button") => {
      clicks++;
      await page.getByRole(role, { name }).click();
    };
    await click("Review and publish");
    const dialog = dialogOf(page);
    await dialog.getByText("Route 3: order and ride IDs of Brazil or Mexico").waitFor();
    await dialog.getByText("25 % of all").waitFor();
    await dialog.getByText("What they leave behind in us").waitFor();
    // Nothing goes on before the questions are answered.
    const start = dialog.getByRole("button", { name: /^Start the canary/ });
    expect(await start.getAttribute("aria-disabled")).toBe("true");
    await expectSound(own);
    await click(/^The data is copied/, "checkbox");
    await click(/^For all IDs now/, "radio");
    await dialog.getByLabel("Note for the history").fill("us is short of capacity");
    await dialog.getByText("First type production.").waitFor();
    await dialog.getByLabel(/type production/).fill("production");
    expect(await desk.regionOf(BRAZIL)).toBe("us");
    await click(/^Publish revision \d+$/);
    await dialog.getByText(/Revision \d+ is in force here after/).waitFor();
    // The gateway does as the page says.
    expect(await desk.regionOf(BRAZIL)).toBe("eu");
    await dialog.getByText(/on the only instance after/).waitFor();
    await expectSound(own);
    expect(await desk.head()).toMatchObject({ note: "us is short of capacity", author: "operator", kind: "publish" });
    await dialog.getByRole("button", { name: "Close" }).last().click();
    expect(clicks + 1).toBeLessThanOrEqual(6);
    // A reload keeps the way back.
    await page.reload();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(/^Revision \d+ is undone: \d+ is back$/).waitFor();
    await expect.poll(() => desk.regionOf(BRAZIL)).toBe("us");
    expect((await desk.head()).kind).toBe("rollback");
    await context.close();
  });

  it("for new IDs alone keeps the older ones where they are", async () => {
    const own = await desk.draftAs("operator", desk.withRegion("BR", "eu"));
    const { page, context } = own;
    await review(page);
    const dialog = dialogOf(page);
    await dialog.getByRole("radio", { name: /^Only IDs minted from now on/ }).check();
    await dialog
      .getByText(/minted from/)
      .first()
      .waitFor();
    await dialog.getByRole("radio", { name: /^For all IDs now/ }).check();
    await publishButton(page).click();
    await dialog.getByText(/is in force here after/).waitFor();
    expect(await desk.regionOf(BRAZIL)).toBe("us");
    const { routes } = await desk.tableNow();
    const [newer, older] = [routes[desk.placeOf("BR")], routes[desk.placeOf("BR") + 1]];
    expect([newer?.region, older?.region]).toEqual(["eu", "us"]);
    const { mintedFrom = "" } = (newer?.when ?? {}) as { mintedFrom?: string };
    // The ID of a moment after it, of the same country: 48 bits of Unix ms come first.
    const ms = (Date.parse(mintedFrom) + 1_000).toString(16).padStart(12, "0");
    const explain = await fetch(`${desk.stack.url}/-/ids/${ms.slice(0, 8)}-${ms.slice(8)}${BRAZIL.slice(13)}`, {
      headers: desk.asOperator,
    });
    expect(JSON.stringify(await explain.json())).toContain('"eu"');
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(/is undone/).waitFor();
    await context.close();
  });
});

describe("a change of somebody else", () => {
  it("that came first is shown and put together with the draft; undo never takes back another's", async () => {
    const own = await desk.draftAs("operator", desk.withRegion("BR", "eu"));
    const { page, context } = own;
    const other = await desk.publishAside(
      (table) => table.routes.unshift({ when: { layout: "iuid", country: "UZ" }, region: "us" }),
      "Uzbekistan",
    );
    await review(page);
    const dialog = dialogOf(page);
    await dialog.getByRole("heading", { name: `Revision ${other} was published meanwhile` }).waitFor();
    await dialog.getByText("By other: “Uzbekistan”.", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: `See ${other - 1} to ${other}` }).click();
    await expectSound(own);
    await dialog.getByRole("button", { name: `Put my lines on ${other}` }).click();
    await dialog.getByText(`From revision ${other}.`, { exact: false }).waitFor();
    await answerAll(page);
    await publishButton(page).click();
    await dialog.getByText(/is in force here after/).waitFor();
    const { routes } = await desk.tableNow();
    expect(routes[desk.placeOf("BR") + 1]?.region).toBe("eu");
    expect(routes[0]).toEqual({ when: { layout: "iuid", country: "UZ" }, region: "us" });
    await page.keyboard.press("Escape");
    const third = await desk.publishAside((table) => table.routes.shift(), "and back");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(`Revision ${third} came meanwhile`).waitFor();
    await page.getByText("Nothing was undone", { exact: false }).waitFor();
    expect((await desk.head()).revision).toBe(third);
    expect((await desk.tableNow()).routes[desk.placeOf("BR")]?.region).toBe("eu");
    await context.close();
  });

  it("of the same route is never guessed at: one of the two is chosen", async () => {
    const own = await desk.draftAs("operator", desk.withRegion("DE", "ap"));
    const { page, context } = own;
    const other = await desk.publishAside(desk.withRegion("DE", "us"), "");
    await review(page);
    const dialog = dialogOf(page);
    await dialog.getByRole("button", { name: `Put my lines on ${other}` }).click();
    await dialog.getByText("Both changed 1 place", { exact: false }).waitFor();
    await expectSound(own);
    await dialog.getByRole("radio", { name: "My draft" }).check();
    await dialog.getByRole("button", { name: `Put my lines on ${other}` }).click();
    await dialog
      .getByText("us → ap", { exact: false })
      .or(dialog.getByText("Route 4:", { exact: false }))
      .first()
      .waitFor();
    await answerAll(page);
    await publishButton(page).click();
    await dialog.getByText(/is in force here after/).waitFor();
    expect(await desk.regionOf(GERMANY)).toBe("ap");
    await context.close();
  });
});

describe("an answer that is lost", () => {
  it("is asked after: the page says published, under which number, when it is", async () => {
    const own = await desk.draftAs("operator", desk.withRegion("PL", "us"));
    const { page, context } = own;
    await review(page);
    await answerAll(page);
    await desk.loseAnswer(page, true);
    await publishButton(page).click();
    await dialogOf(page)
      .getByText(/Revision \d+ is in force here after/)
      .waitFor();
    const { revision } = await desk.head();
    await dialogOf(page)
      .getByRole("heading", { name: `Revision ${revision} is published` })
      .waitFor();
    expect(await desk.regionOf(POLAND)).toBe("us");
    await context.close();
  });
});

describe("a canary", () => {
  it("is what the window proposes; undo ends it", async () => {
    const canary = async (): Promise<{ revision: number; share: number } | null> =>
      (await (await fetch(`${desk.stack.url}/-/table/status`, { headers: desk.asOperator })).json()).canary;
    const own = await desk.draftAs("operator", desk.withRegion("BR", "ap"));
    const { page, context } = own;
    await review(page);
    const dialog = dialogOf(page);
    await dialog.getByText("All status classes are compared", { exact: false }).waitFor();
    await dialog.getByLabel(/^The data is copied/).check();
    const name = dialog.getByLabel(/type production/);
    if ((await name.count()) > 0) await name.fill("production");
    await dialog.getByRole("button", { name: "Start the canary at 5 %" }).click();
    await dialog.getByText(/is in force here after/).waitFor();
    const running = await canary();
    expect(running?.share).toBe(5);
    await dialog.getByRole("heading", { name: `Canary ${running?.revision} runs for 5 % of the IDs` }).waitFor();
    await dialog.getByRole("button", { name: "Undo" }).click();
    await dialog.getByRole("heading", { name: `Canary ${running?.revision} is aborted` }).waitFor();
    expect(await canary()).toBeNull();
    await context.close();
  });
});
