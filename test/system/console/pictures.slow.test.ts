import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Status } from "../../../src/published/table-api.ts";
import { type ConsoleStack, type OpenPage, startConsole, TOKENS } from "./console.ts";
import { differingSquares, fontEnvironment, freeze } from "./pictures.ts";

/** Every page looks as it did. `KEEP_PICTURES=1` keeps what is drawn now: look at each before it is committed. */

const KEEP = process.env["KEEP_PICTURES"] === "1";
const FOLDER = fileURLToPath(new URL("pictures", import.meta.url));
const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const MANY = Array.from({ length: 40 }, (_, at) => `0192f0c1-7a30-80${String(at).padStart(2, "0")}-8040-8f3b2a1c9d78`);
const LOOKS = (["light", "dark"] as const).flatMap((theme) =>
  [
    { theme, size: "phone", viewport: { width: 390, height: 800 } },
    { theme, size: "desktop", viewport: { width: 1280, height: 720 } },
  ].map((look) => ({ ...look, folder: `${look.theme}-${look.size}` })),
);
/** A small button has 30 squares, a line of text has as many. */
const SQUARES_MAX = 12;

let stack: ConsoleStack;
let signedOut: OpenPage;
let own: OpenPage;
beforeAll(async () => {
  stack = await startConsole(undefined, fontEnvironment());
  const headers = { authorization: `Bearer ${TOKENS.operator}` };
  const text = await (await fetch(`${stack.url}/-/table`, { headers })).text();
  const changed = (country: string) => {
    const table = JSON.parse(text);
    table.routes.unshift({ when: { layout: "iuid", country }, region: "ap" });
    return table;
  };
  const published = await fetch(`${stack.url}/-/table`, {
    method: "PUT",
    headers: { ...headers, "if-match": '"1"', "waybill-note": "Poland%20to%20Asia" },
    body: JSON.stringify(changed("PL"), null, 2),
  });
  expect(published.status).toBe(201);
  signedOut = await stack.open("");
  await freeze(signedOut.page, stack);
  own = await stack.open("");
  await freeze(own.page, stack, TOKENS.operator);
}, 60_000);
afterAll(() => stack?.stop());

async function goTo({ page }: OpenPage, place: string): Promise<Page> {
  await page.goto("about:blank");
  await page.goto(`${stack.consoleUrl}/-/console${place}`);
  return page;
}

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name }).first().waitFor();

/** What no kept picture can show alike: a cursor that blinks, what moves. */
const STILL =
  "*, *::before, *::after { caret-color: transparent !important; transition: none !important; animation: none !important; } .cm-cursorLayer { display: none !important }";

/** The two frames after which charts are drawn in their new size and colours. */
async function draw(page: Page): Promise<Buffer> {
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn, 60)))),
  );
  return page.screenshot({ scale: "css", style: STILL });
}

async function expectAsKept(page: Page, name: string): Promise<void> {
  const faults: string[] = [];
  for (const { theme, folder, viewport } of LOOKS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    const now = await draw(page);
    const file = `${FOLDER}/${folder}/${name}.png`;
    if (KEEP) {
      mkdirSync(`${FOLDER}/${folder}`, { recursive: true });
      writeFileSync(file, now);
    }
    const count = await differingSquares(stack.browser, readFileSync(file), now);
    if (count < 0 || count > SQUARES_MAX) {
      const place = `/tmp/waybill-${folder}-${name}.png`;
      writeFileSync(place, now);
      faults.push(`${folder}/${name}: ${count} squares differ; drawn now: ${place}`);
    }
  }
  expect(faults).toEqual([]);
}

const PAGES: Readonly<Record<string, () => Promise<Page>>> = {
  "sign-in": async () => {
    const page = await goTo(signedOut, "#/overview");
    await heading(page, "Sign in");
    return page;
  },
  "look-up-empty": async () => {
    const page = await goTo(own, "");
    await page.getByRole("button", { name: "operator", exact: true }).waitFor();
    return page;
  },
  "look-up": async () => {
    const page = await goTo(own, `#/look-up?id=${ID}`);
    await page.getByRole("button", { name: "Ask where it goes" }).click();
    await page.locator(".region strong", { hasText: "eu" }).waitFor();
    await page.getByText("Asking the gateway").waitFor({ state: "detached" });
    return page;
  },
  list: async () => {
    const page = await goTo(own, "");
    await page.getByRole("button", { name: "operator", exact: true }).waitFor();
    await page.getByLabel("ID, short key, URL").fill(MANY.join("\n"));
    await heading(page, "40 IDs");
    return page;
  },
  overview: async () => {
    const page = await goTo(own, "#/overview");
    await heading(page, "Regions now");
    await page.locator("canvas").first().waitFor();
    return page;
  },
  table: async () => {
    const page = await goTo(own, "#/table");
    await page.locator(".editor .cm-content").waitFor();
    await page.getByText("no fault").waitFor();
    return page;
  },
  difference: async () => {
    const page = await goTo(own, "#/table");
    await page.locator(".editor .cm-content").click();
    const table = JSON.parse(await (await fetch(`${stack.url}/-/table`, { headers: asOperator })).text());
    table.routes[0] = { when: { layout: "iuid", country: "DE" }, region: "us" };
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(JSON.stringify(table, null, 2).replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:18101"));
    await page.getByRole("button", { name: "Plan and publish" }).click();
    await page
      .getByText(/% of the key space/)
      .first()
      .waitFor();
    return page;
  },
  history: async () => {
    const page = await goTo(own, "#/history");
    await page.getByText("Poland to Asia").first().waitFor();
    return page;
  },
  canary: async () => {
    const page = await goTo(own, "#/canary");
    await heading(page, "Revision 3 runs as a canary");
    await heading(page, "Change the share");
    await page.getByText("yes", { exact: true }).waitFor();
    return page;
  },
  moves: async () => {
    const page = await goTo(own, "#/moves");
    await page.getByLabel("ID or URL").fill(ID);
    await page.getByRole("button", { name: "Start", exact: true }).waitFor();
    return page;
  },
  limits: async () => {
    const page = await goTo(own, "#/stock");
    await heading(page, "Limits of the table");
    await page.waitForLoadState("networkidle");
    return page;
  },
  mint: async () => {
    const page = await goTo(own, "#/mint");
    // It is there once the table is.
    await page.getByLabel("Country").first().waitFor();
    await heading(page, "New IDs");
    await page.waitForLoadState("networkidle");
    return page;
  },
  layouts: async () => {
    const page = await goTo(own, "#/layouts");
    await heading(page, "Declare your own");
    return page;
  },
};

const asOperator = { authorization: `Bearer ${TOKENS.operator}` };

async function startCanary(): Promise<void> {
  const table = JSON.parse(await (await fetch(`${stack.url}/-/table`, { headers: asOperator })).text());
  table.routes[0].region = "us";
  const started = await fetch(`${stack.url}/-/table/canary`, {
    method: "POST",
    headers: { ...asOperator, "if-match": '"2"', "content-type": "application/json" },
    body: JSON.stringify({ table, share: 25, note: "A quarter first" }),
  });
  expect(started.status).toBe(201);
  await expect
    .poll(
      async () => {
        await (await fetch(`${stack.url}/orders/${ID}`)).arrayBuffer();
        const status = await (await fetch(`${stack.url}/-/table/status`, { headers: asOperator })).json();
        return (status as Status).isolate.canary?.revision;
      },
      { timeout: 8_000, interval: 300 },
    )
    .toBe(3);
}

describe("looks as kept, in both themes, at the width of a phone and of a desktop", () => {
  it.each(Object.entries(PAGES).filter(([name]) => name !== "canary"))("%s", async (name, open) => {
    await expectAsKept(await open(), name);
  });

  it("canary", async () => {
    await startCanary();
    await expectAsKept(await (PAGES["canary"] as () => Promise<Page>)(), "canary");
  });
});

describe("the comparison", () => {
  it("finds a button that is gone and a colour that changed, and stands other edges of letters", async () => {
    const page = await (PAGES["mint"] as () => Promise<Page>)();
    for (const { viewport } of LOOKS.slice(0, 2)) {
      await page.setViewportSize(viewport);
      await page.locator("main button.main").scrollIntoViewIfNeeded();
      const before = await draw(page);
      const change = async (selector: string, property: string, value: string) => {
        const set = (text: string) =>
          page.locator(selector).evaluate(
            (element, [name = "", own = ""]) => {
              (element as HTMLElement).style.setProperty(name, own);
            },
            [property, text],
          );
        await set(value);
        const count = await differingSquares(stack.browser, before, await draw(page));
        await set("");
        return count;
      };
      expect(await change("main", "color", "")).toBe(0);
      expect(await change("main", "letter-spacing", "0.02px")).toBeLessThanOrEqual(SQUARES_MAX);
      expect(await change("main button.main", "visibility", "hidden")).toBeGreaterThan(SQUARES_MAX);
      expect(await change("main button.main", "background", "#b00020")).toBeGreaterThan(SQUARES_MAX);
    }
  });

  it("has small pictures to compare with", () => {
    const sizes = LOOKS.flatMap(({ folder }) =>
      Object.keys(PAGES).map((name) => statSync(`${FOLDER}/${folder}/${name}.png`).size),
    );
    expect(Math.max(...sizes)).toBeLessThan(100 * 1024);
    expect(sizes.reduce((all, size) => all + size, 0)).toBeLessThan(2.5 * 1024 ** 2);
  });
});
