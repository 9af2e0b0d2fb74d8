import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS } from "./console.ts";

/** Texts of others: of tables, notes, IDs, links and origins. None of them may become more than text in the console. */

const CALL = "globalThis.hacked=1";
const IN_ELEMENTS = [
  "img src=x onerror",
  "svg onload",
  "video src=x onerror",
  "body onload",
  "details open ontoggle",
  "input autofocus onfocus",
  "iframe onload",
  "marquee onstart",
  "audio src=x onerror",
  "style onload",
];
const AROUND: readonly (readonly [string, string])[] = [
  ["", ""],
  ['">', ""],
  ["'>", ""],
  ["</textarea>", ""],
];

/** Fifty payloads: elements out of text and attributes, URLs, templates, other alphabets of markup. */
const PAYLOADS: readonly string[] = [
  ...IN_ELEMENTS.flatMap((element) => AROUND.map(([before, after]) => `${before}<${element}=${CALL}>${after}`)),
  `<script>${CALL}</script>`,
  `</script><script>${CALL}</script>`,
  `javascript:${CALL}`,
  `<a href="javascript:${CALL}" autofocus>x</a>`,
  `<iframe srcdoc="<script>parent.${CALL}</script>"></iframe>`,
  `<math><mi xlink:href="javascript:${CALL}">x</mi></math>`,
  `<object data="javascript:${CALL}"></object>`,
  `{{constructor.constructor('${CALL}')()}}`,
  `\${${CALL}}`,
  `{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${CALL}>"}}`,
];

const ID = "0192f0c1-7a30-8007-8040-8f3b2a1c9d78";

let stack: ConsoleStack;
let stopOrigin: () => Promise<unknown>;
beforeAll(async () => {
  // An origin that answers with payloads as names and as values.
  const body = JSON.stringify(Object.fromEntries(PAYLOADS.map((payload) => [payload, [payload, { payload }]])));
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(body));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  stopOrigin = () => new Promise((stopped) => server.close(stopped).closeAllConnections());
  const origins = [{ url: `http://127.0.0.1:${address.port}` }];
  stack = await startConsole((table) => ({ ...table, regions: { ...table.regions, us: { origins } } }));
}, 60_000);
afterAll(async () => {
  await stack?.stop();
  await stopOrigin?.();
});

/** No script ran, no element came out of a text, no policy was needed to stop one. */
async function expectText({ page, faults }: OpenPage): Promise<void> {
  const found = await page.evaluate(() => ({
    hacked: Reflect.get(globalThis, "hacked"),
    elements: [
      ...document.querySelectorAll(
        "img, iframe, object, video, audio, marquee, math, body script, [onerror], [onload], [srcdoc]",
      ),
    ].length,
    links: [...document.querySelectorAll("a")].filter(({ href }) => !href.startsWith(location.origin)).length,
  }));
  expect(found).toEqual({ hacked: undefined, elements: 0, links: 0 });
  expect(faults).toEqual([]);
}

async function openAs(who: "viewer" | "operator", place: string): Promise<OpenPage> {
  const own = await stack.open("");
  await signIn(own, who);
  await own.page.goto(`${stack.consoleUrl}/-/console${place}`);
  return own;
}

it("has fifty payloads, and a page that would run them", async () => {
  expect(PAYLOADS).toHaveLength(50);
  const { page, context } = await stack.open("");
  await page.goto("about:blank");
  await page.setContent(PAYLOADS[0] ?? "");
  await expect.poll(() => page.evaluate("globalThis.hacked")).toBe(1);
  await context.close();
});

describe("payloads stay text", () => {
  it("in a list of IDs, as an ID, and in the box for everything", async () => {
    const own = await openAs("viewer", "");
    const { page, context } = own;
    const box = page.getByLabel("ID, short key, URL");
    await box.fill(PAYLOADS.map((payload) => payload.replaceAll(/\s/g, "/")).join("\n"));
    await page.getByRole("heading", { name: /50 IDs/ }).waitFor();
    await expectText(own);
    for (const payload of PAYLOADS) {
      await box.fill(payload.replaceAll(/[\s,;]/g, "/"));
      await expectText(own);
    }
    await page.getByRole("button", { name: "Ask where it goes" }).first().click();
    await page.getByText("Asking the gateway").waitFor({ state: "detached" });
    await expectText(own);
    await page.keyboard.press("Control+k");
    for (const payload of PAYLOADS) await page.getByRole("combobox").last().fill(payload);
    await expectText(own);
    await context.close();
  });

  it("in a link to the console", async () => {
    const own = await openAs("viewer", "");
    for (const payload of PAYLOADS) {
      await own.page.evaluate(
        (fragment) => {
          location.hash = fragment;
        },
        `#/look-up?id=${encodeURIComponent(payload)}&${payload}`,
      );
      await expectText(own);
    }
    await own.context.close();
  });

  it("in an entity that its region answers with", async () => {
    const own = await openAs("viewer", `#/look-up?id=${ID}`);
    const { page } = own;
    await page.getByRole("button", { name: "Ask where it goes" }).click();
    await page.getByRole("button", { name: "Show the entity" }).click();
    await page
      .getByText(PAYLOADS[0] ?? "", { exact: false })
      .first()
      .waitFor();
    await expectText(own);
    await own.context.close();
  });

  it("in notes of the history and the audit log", async () => {
    const headers = { authorization: `Bearer ${TOKENS.operator}` };
    const text = await (await fetch(`${stack.url}/-/table`, { headers })).text();
    for (let first = 0; first < PAYLOADS.length; first += 5) {
      const note = PAYLOADS.slice(first, first + 5)
        .join(" ")
        .slice(0, 500);
      const current = await fetch(`${stack.url}/-/table`, { headers });
      const published = await fetch(`${stack.url}/-/table`, {
        method: "PUT",
        headers: {
          ...headers,
          "if-match": current.headers.get("etag") ?? "",
          "waybill-note": encodeURIComponent(note),
        },
        body: `${text}${" ".repeat(first + 1)}`,
      });
      expect(published.status).toBe(201);
    }
    const own = await openAs("viewer", "#/history");
    await own.page
      .getByRole("cell", { name: PAYLOADS[45] ?? "" })
      .first()
      .waitFor();
    await expectText(own);
    await own.context.close();
  });

  it("in a table that is being written, its faults and its difference", async () => {
    const own = await openAs("operator", "#/table");
    const { page } = own;
    await page.locator(".editor .cm-content").waitFor();
    const headers = { authorization: `Bearer ${TOKENS.operator}` };
    const table = await (await fetch(`${stack.url}/-/table`, { headers })).json();
    const write = async (value: object) => {
      await page.locator(".editor .cm-content").click();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(JSON.stringify(value));
    };
    const named = (prefix: object) => Object.fromEntries(PAYLOADS.map((payload) => [payload, prefix]));
    await write({
      ...table,
      regions: named({ origins: [{ url: PAYLOADS[0] }] }),
      [PAYLOADS[1] ?? ""]: PAYLOADS[2],
      default: PAYLOADS[3],
    });
    await page.getByRole("heading", { name: /\d+ faults?/ }).waitFor();
    await expectText(own);
    const claims = PAYLOADS.slice(0, 12).map((claim) => ({ jwtClaim: claim, header: "authorization" }));
    const withoutId = { ...table.withoutId, texts: { path: "/texts", sources: [...claims, { region: "eu" }] } };
    await write({ ...table, withoutId });
    await page.getByRole("heading", { name: "What would change" }).waitFor();
    await expectText(own);
    await own.context.close();
  });

  it("in the forms of the other pages", async () => {
    const own = await openAs("viewer", "#/layouts");
    const { page } = own;
    for (const payload of PAYLOADS) {
      await page.getByLabel("Name", { exact: true }).fill(payload);
      await page.getByLabel("Prefix").fill(payload);
      await page.getByLabel("Name of field 1").fill(payload);
    }
    await page.getByText("It cannot be used yet").waitFor();
    await expectText(own);
    await page.goto(`${stack.consoleUrl}/-/console#/moves`);
    for (const payload of PAYLOADS) await page.getByLabel("ID or URL").fill(payload);
    await page.getByText("No entity of the table has this ID").waitFor();
    await expectText(own);
    await own.context.close();
  });
});
