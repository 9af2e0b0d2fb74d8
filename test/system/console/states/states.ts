import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Status } from "../../../../src/formats/table-api.ts";
import type { DemoTable } from "../../demo/demo.ts";
import { type ConsoleStack, type OpenPage, startConsole, TOKENS } from "../console.ts";
import { type FrozenPage, type Instead, NOTHING_YET, NOW, openFrozen, REGION_DOWN } from "./frozen.ts";

/** Every page of the console and the states that it can be in, the same each time. */

export interface StateStack extends ConsoleStack {
  readonly signedOut: FrozenPage;
  /** An operator's. */
  readonly own: FrozenPage;
  readonly support: FrozenPage;
}

export interface State {
  readonly name: string;
  /** A page has pictures in both themes and both widths, a state of it one in each, and some have none. */
  readonly pictures: 4 | 2 | 0;
  /** The random parts, left out of its picture. */
  readonly random?: string;
  open(stack: StateStack): Promise<OpenPage>;
}

const asOperator = { authorization: `Bearer ${TOKENS.operator}` };
const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
/** IDs of seven countries in turn. */
const idOf = (at: number): string =>
  `0192f0c1-7a30-80${(5 + (at % 7)).toString(16).padStart(2, "0")}-8040-8f3b2a${String(at).padStart(6, "0")}`;

export async function startStates(): Promise<StateStack> {
  const stack = await startConsole();
  const published = await fetch(`${stack.url}/-/table`, {
    method: "PUT",
    headers: { ...asOperator, "if-match": '"1"', "waybill-note": "Poland%20to%20Asia" },
    body: JSON.stringify(withRoute(stack.declared, "PL", "ap"), null, 2),
  });
  expect(published.status).toBe(201);
  const [signedOut, own, support] = await Promise.all(
    [undefined, TOKENS.operator, TOKENS.support].map((token) => openFrozen(stack, token)),
  );
  if (signedOut === undefined || own === undefined || support === undefined) throw new Error("a page did not open");
  return { ...stack, signedOut, own, support };
}

const withRoute = (table: DemoTable, country: string, region: string) => ({
  ...table,
  routes: [{ when: { layout: "iuid", country }, region }, ...table.routes],
});

/** Opens a place of the console as if for the first time. */
async function goTo(
  { consoleUrl }: StateStack,
  frozen: FrozenPage,
  place: string,
  instead: Instead = {},
): Promise<Page> {
  frozen.instead = instead;
  await frozen.page.clock.setFixedTime(NOW);
  // A page's scroll position depends on its size.
  await frozen.page.setViewportSize({ width: 1280, height: 800 });
  // Clears the text that the state before typed.
  await frozen.page.evaluate(() => sessionStorage.clear());
  await frozen.page.goto("about:blank");
  await frozen.page.goto(`${consoleUrl}/-/console${place}`);
  return frozen.page;
}

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name }).first().waitFor();
const isSignedIn = (page: Page, who = "operator") => page.getByRole("button", { name: who, exact: true }).waitFor();

async function pasteInto(page: Page, text: string): Promise<void> {
  await page.getByLabel("ID, short key, URL").evaluate((box, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** The editor with another text, as it is replaced by select-all and a paste. */
async function edit(stack: StateStack, change: (table: DemoTable) => object): Promise<Page> {
  const page = await goTo(stack, stack.own, "#/table");
  await page.locator(".editor .cm-content").click();
  const table: DemoTable = await page.evaluate(() => fetch("/-/table").then((answer) => answer.json()));
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(JSON.stringify(change(table), null, 2));
  // The end of a text is where the editor guessed heights; its beginning has one place.
  await page.keyboard.press("Control+Home");
  return page;
}

/** The own page's states, by what one does to see them. */
const own =
  (see: (stack: StateStack) => Promise<unknown>): State["open"] =>
  async (stack) => {
    await see(stack);
    return stack.own;
  };

const PAGES: readonly State[] = [
  {
    name: "sign-in",
    pictures: 4,
    open: async (stack) => {
      await heading(await goTo(stack, stack.signedOut, "#/overview"), "Sign in");
      return stack.signedOut;
    },
  },
  { name: "look-up-empty", pictures: 4, open: own(async (stack) => isSignedIn(await goTo(stack, stack.own, ""))) },
  {
    name: "look-up",
    pictures: 4,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, `#/look-up?id=${ID}`);
      await page.getByRole("button", { name: "Ask where it goes" }).click();
      await page.getByText("Healthy", { exact: true }).waitFor();
      await page.getByText("Asking the gateway").waitFor({ state: "detached" });
    }),
  },
  {
    name: "list",
    pictures: 4,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "");
      await isSignedIn(page);
      await pasteInto(page, Array.from({ length: 10_000 }, (_, at) => idOf(at)).join("\n"));
      await heading(page, "10,000 IDs");
      await page.getByRole("button", { name: "Count by region" }).click();
      await page.getByText(/eu: [\d,]+/).waitFor();
    }),
  },
  { name: "overview", pictures: 4, open: own((stack) => openOverview(stack)) },
  {
    name: "table",
    pictures: 4,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/table");
      await page.locator(".editor .cm-content").waitFor();
      await page.getByText("no fault").waitFor();
    }),
  },
  {
    name: "difference",
    pictures: 4,
    open: own(async (stack) => {
      const page = await edit(stack, ({ routes: [, ...routes], ...table }) =>
        withRoute({ ...table, routes }, "DE", "us"),
      );
      await page.getByRole("button", { name: "Plan and publish" }).click();
      // In the window, and on the page behind it.
      await page.getByText("55.55 %").nth(3).waitFor();
    }),
  },
  {
    name: "history",
    pictures: 4,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/history");
      await page.getByRole("table").nth(1).getByText("Poland to Asia").waitFor();
    }),
  },
  {
    name: "moves",
    pictures: 4,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/moves");
      await page.getByLabel("ID or URL").fill(ID);
      await page.getByRole("button", { name: "Start", exact: true }).waitFor();
    }),
  },
  {
    name: "limits",
    pictures: 4,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/stock");
      await heading(page, "Limits of the table");
      await page.getByText("48,120").waitFor();
    }),
  },
  {
    name: "mint",
    pictures: 4,
    open: own(async (stack) => {
      const ids = [1, 2, 3, 4, 5].map((at) => idOf(at * 7));
      const answer = { entity: "order", layout: "iuid", region: "eu", ids };
      const page = await goTo(stack, stack.own, "#/mint", { "/mint": answer });
      await page.getByLabel("Country").first().selectOption("KZ");
      await page.getByRole("button", { name: "Mint" }).click();
      await heading(page, "5 IDs");
    }),
  },
  {
    name: "layouts",
    pictures: 4,
    random: ".texts code",
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/layouts");
      await isSignedIn(page);
      await heading(page, "Declare your own");
      await page.getByText("of 256 used").first().waitFor();
    }),
  },
];

async function openOverview(stack: StateStack, instead?: Instead): Promise<Page> {
  const page = await goTo(stack, stack.own, "#/overview", instead);
  await heading(page, "Regions now");
  await heading(page, "The world");
  if (instead !== NOTHING_YET) await page.locator("canvas").nth(2).waitFor();
  await page.locator(".map path").first().waitFor();
  return page;
}

const TROUBLES: readonly State[] = [
  {
    name: "sign-in-refused",
    pictures: 0,
    open: async (stack) => {
      const page = await goTo(stack, stack.signedOut, "");
      await page.getByLabel("Token").fill("x".repeat(40));
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("This token is not known").waitFor();
      return stack.signedOut;
    },
  },
  {
    name: "not-allowed",
    pictures: 0,
    open: async (stack) => {
      const page = await goTo(stack, stack.support, "#/table");
      await page.getByText("Your role, support, does not include this page.").waitFor();
      return stack.support;
    },
  },
  {
    name: "session-ended",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, `#/look-up?id=${ID}`);
      await isSignedIn(page);
      stack.own.instead = "expired";
      await page.getByRole("button", { name: "Ask where it goes" }).click();
      await heading(page, "Your session has ended");
    }),
  },
  {
    name: "offline",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, `#/look-up?id=${ID}`);
      await isSignedIn(page);
      stack.own.instead = "offline";
      await page.getByRole("button", { name: "Ask where it goes" }).click();
      await page.getByText("The page may be out of date").waitFor();
      await page.getByText("The request got no complete answer").waitFor();
    }),
  },
  {
    name: "no-id",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "");
      await isSignedIn(page);
      await page.getByLabel("ID, short key, URL").fill("0192f0c1-7a30-8005-8040-8f3b2a1c9d7");
      await page.getByText("Check that the text is whole").waitFor();
    }),
  },
  { name: "region-down", pictures: 2, open: own((stack) => openOverview(stack, REGION_DOWN)) },
  { name: "nothing-yet", pictures: 0, open: own((stack) => openOverview(stack, NOTHING_YET)) },
  {
    name: "faults",
    pictures: 2,
    open: own(async (stack) => {
      const bad = { when: { country: "ZZ" }, region: "nowhere" };
      const page = await edit(stack, (table) => ({ ...table, routes: Array.from({ length: 100 }, () => bad) }));
      await heading(page, /^\d+ faults/);
      await page.getByRole("button", { name: "/routes/0/region" }).click();
      // The editor marks faults once its clock has gone on.
      await page.clock.setFixedTime(NOW + 1_000);
      await page.locator(".editor .cm-lintRange-error").first().waitFor();
    }),
  },
  {
    name: "no-canary",
    pictures: 0,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/canary");
      await page.getByText("No canary runs").waitFor();
    }),
  },
  {
    name: "compared",
    pictures: 0,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/history");
      await page.getByLabel("Compare revision 1").check();
      await page.getByLabel("Compare revision 2").check();
      await page.getByRole("button", { name: "Compare the two" }).click();
      await page.getByRole("button", { name: "Compare the texts" }).click();
      await page.locator(".comparison .cm-changedLine").first().waitFor();
    }),
  },
  {
    name: "palette",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "");
      await isSignedIn(page);
      await page.keyboard.press("Control+k");
      await page.getByRole("option", { name: "Go to Overview" }).waitFor();
    }),
  },
  {
    name: "settings",
    pictures: 0,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/layouts");
      await page.getByRole("button", { name: "operator", exact: true }).click();
      await heading(page, "Settings");
    }),
  },
];

/** The gateway's own state changes with it, so it is the last one. */
const CANARY: State = {
  name: "canary",
  pictures: 4,
  open: own(async (stack) => {
    await startCanary(stack);
    const page = await goTo(stack, stack.own, "#/canary");
    await heading(page, "Revision 3 runs as a canary");
    await heading(page, "Change the share");
    await page.getByText("yes", { exact: true }).waitFor();
    await page.getByText("2,410").waitFor();
  }),
};

export const STATES: readonly State[] = [...PAGES, ...TROUBLES, CANARY];

async function startCanary({ url }: StateStack): Promise<void> {
  const table = JSON.parse(await (await fetch(`${url}/-/table`, { headers: asOperator })).text());
  table.routes[0].region = "us";
  const started = await fetch(`${url}/-/table/canary`, {
    method: "POST",
    headers: { ...asOperator, "if-match": '"2"', "content-type": "application/json" },
    body: JSON.stringify({ table, share: 25, note: "A quarter first" }),
  });
  expect(started.status).toBe(201);
  await expect
    .poll(
      async () => {
        await (await fetch(`${url}/orders/${ID}`)).arrayBuffer();
        const status = (await (await fetch(`${url}/-/table/status`, { headers: asOperator })).json()) as Status;
        return status.isolate.canary?.revision;
      },
      { timeout: 20_000, interval: 300 },
    )
    .toBe(3);
}
