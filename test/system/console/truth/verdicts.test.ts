import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS } from "../console.ts";

/** The verdict of the page on an ID of each kind, beside what a request with it gets of the gateway. */

const OF_KAZAKHSTAN = "01a219c1-91d1-8005-805e-926d709be1b4";
const EARLY = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const MOVED = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
const MOVING = "0192f0c1-7a30-8007-8040-8f3b2a1c9d71";
const GONE = "0192f0c1-7a30-8007-8040-8f3b2a1c9d72";
const NOWHERE = "0192f0c1-7a30-80ff-8040-8f3b2a1c9d78";
/** Orders of Mexico: a canary of their route takes half of them. */
const OF_MEXICO = [1, 2, 3, 4, 5, 6].map((at) => `01a219c1-91d1-8008-805e-926d709be1b${at}`);
const KEY = "green-tea";

let stack: ConsoleStack;
let publicId = "";
const opened = new Map<string, OpenPage>();

beforeAll(async () => {
  stack = await startConsole(
    ({ graphql: _, default: __, ...table }) => ({
      ...table,
      entities: {
        ...table.entities,
        ticket: { path: "/tickets/:id", ids: [{ layout: "iuid", service: 7 }], public: true },
      },
      routes: table.routes.map((route) =>
        JSON.stringify(route.when.country) === '["BR","MX"]'
          ? { ...route, canary: { region: "ap", percent: 50 } }
          : route,
      ),
      moved: { ...table.moved },
      moves: { [MOVING]: { from: "us", to: "eu", state: "started", epoch: 2 } },
      gone: { [GONE]: { epoch: 3 } },
    }),
    { PUBLIC_ID_KEYS: JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }) },
  );
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${TOKENS.operator}`, "content-type": "application/json" };
    const answer = await fetch(stack.url + path, { method, headers, body: JSON.stringify(body) });
    expect([path, answer.ok]).toEqual([path, true]);
    return answer;
  };
  const minted = await send("POST", "/mint", { entity: "ticket", country: "KZ" });
  publicId = ((await minted.json()) as { readonly ids: readonly string[] }).ids[0] ?? "";
  const at = `/-/directory/slug/${KEY}`;
  await send("PUT", at, { owner: "1", operation: "op", region: "us", leaseSeconds: 600 });
  await send("POST", at, { action: "confirm", owner: "1", operation: "op" });
  for (const who of ["support", "viewer"] as const) {
    const own = await stack.open("");
    await signIn(own, who);
    opened.set(who, own);
  }
});
afterAll(() => stack?.stop());

/** A client's request: the region whose origin answers, or the status of the gateway. */
const answerOf = (path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = request(`${stack.url}${path}`, (response) => {
      response.resume();
      resolve(String(response.headers["x-demo-region"] ?? response.statusCode));
    });
    sent.on("error", reject).end();
  });

/** `asked`: before the gateway was, the page may say that it does not know, and nothing else. */
async function expectTrue(who: "support" | "viewer", pasted: string, path: string, isKnown: boolean): Promise<void> {
  const { page } = opened.get(who) as OpenPage;
  const truth = await answerOf(path);
  const code = page.locator(`[data-reading] .answer .code`);
  await page.goto(`${stack.consoleUrl}/-/console#/look-up?id=${encodeURIComponent(pasted)}`);
  await page.getByText("Read here, revision 1").waitFor();
  const before = await code.textContent();
  if (isKnown) expect([pasted, before]).toEqual([pasted, truth]);
  else expect([pasted, before]).toEqual([pasted, expect.stringMatching(truth === before ? /./ : /^\?$/)]);
  await page.getByRole("button", { name: "Ask the gateway" }).click();
  await page.getByText("Confirmed by the gateway").waitFor();
  await expect.poll(() => code.textContent()).toBe(truth);
  const lead = /^\d+$/.test(truth) ? "Requests get" : "Goes to";
  await expect.poll(() => page.getByRole("heading", { name: `${lead} ${truth}` }).count()).toBe(1);
}

const KINDS: readonly (readonly [
  kind: string,
  pasted: () => string,
  path: () => string,
  isKnown: "always" | "viewer" | "never",
])[] = [
  ["by its country", () => OF_KAZAKHSTAN, () => `/orders/${OF_KAZAKHSTAN}`, "viewer"],
  ["by its time", () => EARLY, () => `/orders/${EARLY}`, "viewer"],
  ["on its path", () => `/orders/${EARLY}/items?x=1`, () => `/orders/${EARLY}/items`, "viewer"],
  ["moved", () => MOVED, () => `/orders/${MOVED}`, "viewer"],
  ["moving", () => MOVING, () => `/orders/${MOVING}`, "viewer"],
  ["gone", () => GONE, () => `/orders/${GONE}`, "viewer"],
  ["of no route", () => NOWHERE, () => `/orders/${NOWHERE}`, "viewer"],
  ["of another entity's path", () => `/rides/${EARLY}`, () => `/rides/${EARLY}`, "always"],
  ["a short key", () => "/person/1a2b3c", () => "/person/1a2b3c", "viewer"],
  ["public", () => publicId, () => `/tickets/${publicId}`, "never"],
  ["a key of a directory", () => `/shops/${KEY}`, () => `/shops/${KEY}`, "never"],
  ["an unknown key of a directory", () => "/shops/black-tea", () => "/shops/black-tea", "never"],
];

describe.each(["support", "viewer"] as const)("to %s", (who) => {
  it.each(KINDS)("an ID %s goes where the page says", async (_, pasted, path, isKnown) => {
    await expectTrue(who, pasted(), path(), isKnown === "always" || (isKnown === "viewer" && who === "viewer"));
  });
});

it("the canary of a route takes those IDs that the page says, and not the others", async () => {
  const regions = new Set<string>();
  for (const id of OF_MEXICO) {
    await expectTrue("viewer", id, `/orders/${id}`, true);
    regions.add(await answerOf(`/orders/${id}`));
  }
  expect(regions).toEqual(new Set(["us", "ap"]));
});

it("a list says of each ID what a request with it gets", async () => {
  const { page } = opened.get("viewer") as OpenPage;
  const ids = [OF_KAZAKHSTAN, EARLY, MOVED, MOVING, GONE, NOWHERE, ...OF_MEXICO];
  const truth = await Promise.all(ids.map((id) => answerOf(`/orders/${id}`)));
  await page.goto(`${stack.consoleUrl}/-/console#/look-up`);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByLabel("ID, short key, URL").fill(ids.join("\n"));
  const shown = () => page.locator(".many td.c-to").allTextContents();
  await expect.poll(shown).toEqual(truth);
  await page.getByRole("button", { name: "Ask the gateway" }).click();
  await page.getByRole("button", { name: "Ask again" }).waitFor();
  expect(await shown()).toEqual(truth);
  const counts = Map.groupBy(truth, (each) => each);
  for (const [code, of] of counts) {
    await page.getByRole("button", { name: `${code} ${of.length}`, exact: true }).click();
    await expect.poll(() => page.locator(".many tbody a").count()).toBe(of.length);
  }
});

it("while a canary of the table runs, the page doubts itself, and the gateway's word is true for both tables", async () => {
  const { default: _, ...declared } = stack.declared;
  const table = {
    ...declared,
    routes: declared.routes.map((route) => ({ ...route, ...(route.region && { region: "us" }) })),
  };
  const headers = { authorization: `Bearer ${TOKENS.operator}`, "content-type": "application/json", "if-match": '"1"' };
  const body = JSON.stringify({ table, share: 50, note: "to us" });
  const started = await fetch(`${stack.url}/-/table/canary`, { method: "POST", headers, body });
  expect([started.status, started.ok ? "" : await started.text()]).toEqual([started.status, ""]);
  const ids = [0, 1, 2, 3, 4, 5].map((at) => `01a219c1-91d1-8005-805e-926d709be1a${at}`);
  const own = await stack.open("");
  const { page, context } = own;
  await signIn(own, "viewer");
  const code = page.locator("[data-reading] .answer .code");
  const regions = new Set<string>();
  for (const id of ids) {
    await page.goto(`${stack.consoleUrl}/-/console#/look-up?id=${id}`);
    await page.getByText("Unless the canary decides").waitFor();
    await page.getByText(/^Canary 2 decides about 50 % of the IDs/).waitFor();
    await page.getByRole("button", { name: "Ask the gateway" }).click();
    await page.getByText("Confirmed by the gateway").waitFor();
    const truth = await answerOf(`/orders/${id}`);
    expect([id, await code.textContent()]).toEqual([id, truth]);
    expect(await page.getByText("Unless the canary decides").count()).toBe(0);
    regions.add(truth);
  }
  expect(regions).toEqual(new Set(["ap", "us"]));
  await context.close();
});
