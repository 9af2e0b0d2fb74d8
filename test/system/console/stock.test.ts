import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** Contents of the table, in a real browser at a real gateway. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
}, 60_000);
afterAll(() => stack?.stop());

async function openStock(): Promise<OpenPage> {
  const own = await stack.open("");
  await signIn(own, "viewer");
  return own;
}

const ask = async (path: string, method: string, body: string): Promise<number> => {
  const headers = { authorization: `Bearer ${TOKENS.operator}`, "content-type": "application/json" };
  return (await fetch(`${stack.url}/-/directory/slug${path}`, { method, body, headers })).status;
};

const rowOf = ({ page }: OpenPage) =>
  page.getByRole("region", { name: "Keys of the directories" }).getByRole("row", { name: /slug/ });

describe("directories", () => {
  it("show how many keys they have, as of when, and one of them", async () => {
    const rows = Array.from({ length: 1_200 }, (_, at) => JSON.stringify({ key: `shop-${at}`, region: "eu" }));
    expect(await ask("/-/import", "POST", rows.join("\n"))).toBe(200);
    const claim = JSON.stringify({ owner: "42", operation: "1", region: "eu" });
    expect(await ask("/ada", "PUT", claim)).toBe(200);
    const own = await openStock();
    const { page, context } = own;
    await page.goto(`${stack.consoleUrl}/-/console#/stock`);
    const cells = () => rowOf(own).getByRole("cell").allTextContents();
    await rowOf(own).getByText("1,200", { exact: true }).waitFor();
    expect((await cells()).slice(0, 4)).toEqual(["1,200", "1", "0", "0"]);
    expect((await cells())[4]).toMatch(/\d{4}, \d+:\d\d:\d\d/);
    expect(await ask("/ben", "PUT", claim)).toBe(200);
    await page.getByRole("button", { name: "Count again" }).click();
    await rowOf(own).getByText("2", { exact: true }).waitFor();
    await page.getByLabel("Key", { exact: true }).fill("Shop-7");
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await page.getByText("confirmed", { exact: true }).waitFor();
    expect((await violations(own)).join("\n")).toBe("");
    expect(own.faults).toEqual([]);
    await context.close();
  });

  it("say that a count is no total where objects did not answer, and that there is none where the gateway refuses", async () => {
    const own = await openStock();
    const { page, context } = own;
    const counts = { confirmed: 1_190, reserved: 1, expired: 0, missing: 0 };
    const partial = { directory: "slug", at: "2026-06-01T00:00:00.000Z", shards: 256, answered: 254, atLeast: counts };
    await page.route("**/-/directory/slug/-/counts", (route) => route.fulfill({ json: partial }));
    await page.goto(`${stack.consoleUrl}/-/console#/stock`);
    await rowOf(own).getByText("only 254 of 256 objects answered").waitFor();
    expect(await rowOf(own).getByRole("cell").first().textContent()).toBe("at least 1,190");
    expect((await violations(own)).join("\n")).toBe("");
    const problem = { type: "https://x.test/-/problems/directory-unavailable", title: "Directory unavailable" };
    await page.unroute("**/-/directory/slug/-/counts");
    await page.route("**/-/directory/slug/-/counts", (route) => route.fulfill({ status: 503, json: problem }));
    await page.getByRole("button", { name: "Count again" }).click();
    await rowOf(own).getByText("not counted: Directory unavailable").waitFor();
    expect(await rowOf(own).getByText("1,190").count()).toBe(0);
    await context.close();
  });
});
