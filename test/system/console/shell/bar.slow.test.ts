import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "../console.ts";

/** The bar and the title of the tab against what the gateway does. Isolates report every 10 s: this waits for them. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
});
afterAll(() => stack?.stop());

async function openAs(who: keyof typeof TOKENS, place: string): Promise<OpenPage> {
  const own = await stack.open("");
  await signIn(own, who);
  await own.page.goto(`${stack.consoleUrl}/-/console${place}`);
  return own;
}

const operator = { authorization: `Bearer ${TOKENS.operator}` };

const send = async (path: string, method: string, body?: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(`${stack.url}${path}`, {
    method,
    headers: { ...operator, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.ok, await response.text()).toBe(true);
};

describe("the bar", () => {
  const status = async () => (await fetch(`${stack.url}/-/table/status`, { headers: operator })).json();

  it("stands below a title of the tab that says trouble on every page", async () => {
    const { page, context } = await openAs("viewer", "#/layouts");
    await expect.poll(() => page.title()).toMatch(/^Layouts – Waybill console\.localhost/);
    const [eu] = stack.origins;
    await eu?.stop();
    await Promise.all(Array.from({ length: 12 }, (_, at) => fetch(`${stack.url}/orders/${ID.slice(0, -2)}${at + 10}`)));
    const regions = async (): Promise<readonly string[]> => {
      const answer = await fetch(`${stack.url}/-/regions`, { headers: operator });
      const { regions: all } = (await answer.json()) as { regions: Record<string, { state: string }> };
      return Object.entries(all).flatMap(([name, { state }]) => (state === "down" ? [name] : []));
    };
    await expect.poll(regions, { timeout: 20_000 }).toEqual(["eu"]);
    await expect.poll(() => page.title(), { timeout: 15_000 }).toMatch(/^eu is down/);
    await context.close();
  });

  it("says the revision in force and its count as the isolates have it, and the canary", async () => {
    const own = await openAs("viewer", "#/layouts");
    const { page, context } = own;
    const bar = page.locator(".force");
    await bar.filter({ hasText: "Revision 1" }).waitFor();
    await send("/-/table", "PUT", { ...stack.declared, routes: stack.declared.routes.slice(1) }, { "if-match": '"1"' });
    // Without a click, and not called in force before an isolate has reported it.
    await bar.filter({ hasText: "Revision 2" }).waitFor({ timeout: 15_000 });
    await expect
      .poll(async () => {
        const { isolate } = await status();
        return isolate.revision;
      })
      .toBe(2);
    await bar.filter({ hasText: "in force on 1 of 1 instance" }).waitFor({ timeout: 30_000 });
    await send("/-/table/canary", "POST", { table: stack.declared, share: 5, note: "try" }, { "if-match": '"2"' });
    await page.getByRole("link", { name: "Canary 3 · 5 %" }).waitFor({ timeout: 15_000 });
    await page.getByRole("link", { name: "Canary 5 %" }).waitFor();
    expect((await violations(own)).join("\n")).toBe("");
    expect(own.faults).toEqual([]);
    await context.close();
  });
});
