import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAdminTokens } from "../../../src/edge/auth/settings.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS } from "./console.ts";
import { batches, missingIn, PAYLOADS } from "./payloads.ts";
import { PLACES, type Place, type Stage } from "./places.ts";
import { REFUSED } from "./refused.ts";

/** Texts of others: of tables, notes, IDs, links and origins. None of them may become more than text in the console. */

const answer = { body: "{}", contentType: "application/json", status: 200 };
const headers = { authorization: `Bearer ${TOKENS.operator}` };

let stack: ConsoleStack;
let stopOrigin: () => Promise<unknown>;
const opened = new Map<"viewer" | "operator", OpenPage>();
beforeAll(async () => {
  const server = createServer((_, response) => {
    response.statusCode = answer.status;
    response.setHeader("content-type", answer.contentType).end(answer.body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  stopOrigin = () => new Promise((stopped) => server.close(stopped).closeAllConnections());
  const origins = [{ url: `http://127.0.0.1:${address.port}` }];
  const sources = batches(PAYLOADS, 256).map((all) => ({ jwtClaim: all.join(" "), header: "authorization" }));
  stack = await startConsole((table) => ({
    ...table,
    $schema: PAYLOADS.join(" "),
    regions: { ...table.regions, us: { origins } },
    withoutId: { ...table.withoutId, texts: { path: "/texts", sources } },
  }));
  for (const who of ["viewer", "operator"] as const) {
    const own = await stack.open("");
    await signIn(own, who);
    opened.set(who, own);
  }
});
afterAll(async () => {
  await stack?.stop();
  await stopOrigin?.();
});

/** No script ran, no element came out of a text, no policy was needed to stop one. */
async function expectText({ page, faults }: OpenPage): Promise<void> {
  const found = await page.evaluate(() => {
    const roots = [document, ...[...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])];
    const all = (selector: string) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
    return {
      hacked: Reflect.get(globalThis, "hacked"),
      elements: all("img, iframe, object, video, audio, marquee, math, body script, [onerror], [onload], [srcdoc]").map(
        ({ outerHTML }) => outerHTML,
      ),
      links: all("a")
        .map((link) => (link as HTMLAnchorElement).href)
        .filter((href) => !href.startsWith(location.origin)),
    };
  });
  expect(found).toEqual({ hacked: undefined, elements: [], links: [] });
  expect(faults).toEqual([]);
}

/** `seen`: how many texts were found where they must be. */
function stageOn(own: OpenPage, seen: { count: number }): Stage {
  const { page } = own;
  return {
    page,
    ask: (path, init) =>
      fetch(stack.url + path, { ...init, headers: { ...headers, ...(init?.headers as Record<string, string>) } }),
    answer: (body, contentType = "application/json", status = 200) => {
      Object.assign(answer, { body, contentType, status });
    },
    go: async (fragment) => {
      await page.goto(`${stack.consoleUrl}/-/console${fragment}`);
    },
    see: async (where, texts = PAYLOADS) => {
      const shown = () =>
        where.evaluateAll((elements) =>
          elements
            .map((element) =>
              element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
                ? element.value
                : // biome-ignore lint/performance/useDomNodeTextContent: the test asks for the text that is rendered.
                  (element as HTMLElement).innerText,
            )
            .join("\n"),
        );
      await expect.poll(async () => missingIn(await shown(), texts), { interval: 10, timeout: 20_000 }).toEqual([]);
      seen.count += texts.length;
      await expectText(own);
    },
    seeNone: async () => {
      expect(await page.evaluate(() => document.documentElement.innerHTML)).not.toContain("hacked");
      seen.count += PAYLOADS.length;
      await expectText(own);
    },
    forge: async (path, body, status = 200, contentType = "application/json") => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      await page.route(
        (url) => url.pathname === path,
        (route) => route.fulfill({ status, contentType, body: text }),
      );
    },
  };
}

it("has fifty payloads, a page that would run them, and at least twenty places", async () => {
  expect(PAYLOADS).toHaveLength(50);
  expect(new Set(PLACES.map(({ name }) => name)).size).toBeGreaterThanOrEqual(20);
  const { page, context } = await stack.open("");
  await page.goto("about:blank");
  await page.setContent(PAYLOADS[0] ?? "");
  await expect.poll(() => page.evaluate("globalThis.hacked")).toBe(1);
  await context.close();
});

describe("payloads stay text", () => {
  it.each<Place>(PLACES)("in $name", async ({ as = "viewer", show }) => {
    const own = opened.get(as) as OpenPage;
    const seen = { count: 0 };
    // Clears the text typed at the place before. One that failed may have left the page blank, which has no storage.
    if (own.page.url() !== "about:blank") await own.page.evaluate(() => sessionStorage.clear());
    await own.page.goto("about:blank");
    try {
      await show(stageOn(own, seen));
    } finally {
      await own.page.unrouteAll();
    }
    expect(seen.count).toBeGreaterThanOrEqual(PAYLOADS.length);
  });
});

describe("names that hold no markup", () => {
  const check = async (table: object): Promise<readonly { readonly pointer: string }[]> => {
    const answered = await fetch(`${stack.url}/-/table/check`, {
      method: "POST",
      headers,
      body: JSON.stringify(table),
    });
    return ((await answered.json()) as { readonly faults: readonly { readonly pointer: string }[] }).faults;
  };

  it.each(Object.entries(REFUSED))("the gateway refuses each payload among the %s of a table", async (_, change) => {
    const table = (await (await fetch(`${stack.url}/-/table`, { headers })).json()) as Record<string, object>;
    expect(await check(table)).toEqual([]);
    for (let first = 0; first < PAYLOADS.length; first += 10) {
      const texts = PAYLOADS.slice(first, first + 10);
      const places = new Set((await check({ ...table, ...change(table, texts) })).map(({ pointer }) => pointer));
      expect([texts, places.size]).toEqual([texts, expect.toSatisfy((size) => size >= texts.length)]);
    }
  });

  it("the gateway refuses each payload as the name of a token, which is who did what", () => {
    const entry = { scope: "operator", sha256: "0".repeat(64) };
    expect(parseAdminTokens(JSON.stringify([{ ...entry, name: "ci" }]))).toHaveLength(1);
    for (const name of PAYLOADS) expect(parseAdminTokens(JSON.stringify([{ ...entry, name }]))).toBeUndefined();
  });
});
