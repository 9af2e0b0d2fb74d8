import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIn } from "../console.ts";
import {
  answerAll,
  type Desk,
  dialogOf,
  expectSound,
  GERMANY,
  POLAND,
  publishButton,
  review,
  startDesk,
} from "./desk.ts";

/** Ends of changes that one waits for: an answer that never comes, and figures after a revision. */

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk?.stack.stop());

describe("an answer that is lost", () => {
  it("and never came is said to be so, the draft is kept, and it can be sent again", { timeout: 90_000 }, async () => {
    const before = await desk.head();
    const own = await desk.draftAs("operator", desk.withRegion("PL", "ap"));
    const { page, context } = own;
    await review(page);
    await answerAll(page);
    await desk.loseAnswer(page, false);
    await publishButton(page).click();
    const dialog = dialogOf(page);
    await dialog.getByRole("button", { name: /The answer was lost/ }).waitFor();
    await dialog.getByText(/nothing was published, and revision \d+ stays/).waitFor({ timeout: 60_000 });
    expect((await desk.head()).revision).toBe(before.revision);
    await publishButton(page).click();
    await dialog.getByText(/is in force here after/).waitFor();
    expect(await desk.regionOf(POLAND)).toBe("ap");
    await context.close();
  });
});

describe("the history", () => {
  it("says what answers did after a revision, by the answers that clients got", async () => {
    for (let at = 0; at < 100; at++) await desk.regionOf(GERMANY);
    // A whole step of figures before the change.
    await new Promise((resolve) => setTimeout(resolve, 25_000));
    const revision = await desk.publishAside((table) => {
      // From now on no route takes Germany and Poland.
      table.routes.splice(desk.placeOf("DE"), 1);
    }, "by mistake");
    const own = await desk.stack.open("", { viewport: { width: 390, height: 844 } });
    const { page, context } = own;
    await signIn(own, "operator");
    await page.goto(`${desk.stack.consoleUrl}/-/console#/history?to=${revision}`);
    const after = page.getByRole("region", { name: `After ${revision}` });
    const isTold = async () => {
      await Promise.all(Array.from({ length: 20 }, () => desk.regionOf(GERMANY)));
      return after.getByText("unassigned-key").count();
    };
    await expect.poll(isTold, { timeout: 90_000, interval: 1_000 }).toBe(1);
    await after.getByText("100 points more").first().waitFor();
    await expectSound(own);
    await context.close();
  });
});
