import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Status } from "../../../../src/formats/table-api.ts";
import type { DemoTable } from "../../demo/demo.ts";
import { type ConsoleStack, type OpenPage, startConsole, TOKENS } from "../console.ts";
import { type FrozenPage, type Instead, NO_COUNTERS, NOTHING_YET, NOW, openFrozen, REGION_DOWN } from "./frozen.ts";

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
/** An order of a country that no route takes. */
const NO_ROUTE = "0192f0c1-7a30-80ff-8040-8f3b2a1c9d78";
const RANDOM_IDS = ".random-ids";
/** IDs of seven countries in turn. */
const idOf = (at: number): string =>
  `0192f0c1-7a30-80${(5 + (at % 7)).toString(16).padStart(2, "0")}-8040-8f3b2a${String(at).padStart(6, "0")}`;

export async function startStates(): Promise<StateStack> {
  const stack = await startConsole(undefined, { ENVIRONMENT: "production" });
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
  const page = await goTo(stack, stack.own, "#/editor");
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

/** A page of the operator at a place, once nothing of it is still asked for. */
const place = (to: string, title: string, instead?: Instead): State["open"] =>
  own(async (stack) => {
    const page = await goTo(stack, stack.own, to, instead);
    await heading(page, title);
    await settled(page);
  });

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await expect.poll(() => page.locator(".skeleton, [aria-busy=true]").count(), { timeout: 10_000 }).toBe(0);
}

/** A window that a button of a page opens. */
const windowOf = (to: string, title: string, button: string | RegExp): State["open"] =>
  own(async (stack) => {
    const page = await goTo(stack, stack.own, to);
    await heading(page, title);
    await page.getByRole("button", { name: button }).first().click();
    await page.getByRole("dialog").waitFor();
    await settled(page);
  });

const ask = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Ask the gateway" }).click();
  await page.getByText("Confirmed by the gateway").waitFor();
  await settled(page);
};

const looked = (id: string, verdict: string | RegExp, isAsked = false): State["open"] =>
  own(async (stack) => {
    const page = await goTo(stack, stack.own, `#/look-up?id=${id}`);
    await isSignedIn(page);
    await heading(page, verdict);
    if (isAsked) await ask(page);
  });

async function openList(stack: StateStack): Promise<Page> {
  const page = await goTo(stack, stack.own, "#/look-up");
  await isSignedIn(page);
  await pasteInto(page, Array.from({ length: 10_000 }, (_, at) => idOf(at)).join("\n"));
  await page.getByText("10,000 IDs").first().waitFor();
  await settled(page);
  return page;
}

async function publishWindow(stack: StateStack): Promise<Page> {
  const page = await edit(stack, ({ routes: [, ...routes], ...table }) => withRoute({ ...table, routes }, "DE", "us"));
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByRole("dialog").waitFor();
  await settled(page);
  return page;
}

const PAGES: readonly State[] = [
  {
    name: "sign-in",
    pictures: 4,
    // The port of the console's host.
    random: ".gate-form p.soft",
    open: async (stack) => {
      await (await goTo(stack, stack.signedOut, "")).getByLabel("Token").waitFor();
      return stack.signedOut;
    },
  },
  {
    name: "look-up-empty",
    pictures: 4,
    open: own(async (stack) => isSignedIn(await goTo(stack, stack.own, "#/look-up"))),
  },
  { name: "look-up", pictures: 4, open: looked(ID, "Goes to eu") },
  { name: "look-up-asked", pictures: 4, open: looked(ID, "Goes to eu", true) },
  { name: "look-up-404", pictures: 4, open: looked(NO_ROUTE, /404/) },
  { name: "list", pictures: 4, open: own(openList) },
  { name: "overview", pictures: 4, open: place("#/overview", "Overview") },
  { name: "routes", pictures: 4, open: place("#/routes", "Routes") },
  { name: "regions", pictures: 4, open: place("#/regions", "Regions") },
  { name: "entities", pictures: 4, open: place("#/entities", "Entities") },
  {
    name: "editor",
    pictures: 4,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/editor");
      await page.locator(".editor .cm-content").waitFor();
      await settled(page);
    }),
  },
  { name: "publish", pictures: 4, open: own(publishWindow) },
  { name: "history", pictures: 4, open: place("#/history", "History") },
  { name: "moves", pictures: 4, open: place("#/moves", "Moves") },
  { name: "move", pictures: 4, open: place(`#/moves?id=${ID}`, "Moves") },
  { name: "mint", pictures: 4, open: place("#/mint", "Mint") },
  { name: "layouts", pictures: 4, random: RANDOM_IDS, open: place("#/layouts", "Layouts") },
  { name: "capacity", pictures: 4, open: place("#/capacity", "Capacity") },
];

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
    pictures: 2,
    open: async (stack) => {
      const page = await goTo(stack, stack.support, "#/routes");
      await page.getByText("Not for this role").waitFor();
      return stack.support;
    },
  },
  {
    name: "session-ended",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, `#/look-up?id=${ID}`);
      await isSignedIn(page);
      // The page asks for what is in force by itself, and learns of it.
      stack.own.instead = "expired";
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
      await page.getByRole("button", { name: "Ask the gateway" }).click();
      await page.getByText("The gateway does not answer since").waitFor();
    }),
  },
  {
    name: "no-id",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/look-up");
      await isSignedIn(page);
      await page.getByLabel("ID, short key, URL").fill("0192f0c1-7a30-8005-8040-8f3b2a1c9d7");
      await page.getByText("35 characters").first().waitFor();
    }),
  },
  { name: "region-down", pictures: 4, open: place("#/overview", "Overview", REGION_DOWN) },
  { name: "nothing-yet", pictures: 2, open: place("#/overview", "Overview", NOTHING_YET) },
  { name: "counters-fail", pictures: 2, open: place("#/overview", "Overview", NO_COUNTERS) },
  {
    name: "faults",
    pictures: 2,
    open: own(async (stack) => {
      const bad = { when: { country: "ZZ" }, region: "nowhere" };
      const page = await edit(stack, (table) => ({ ...table, routes: Array.from({ length: 100 }, () => bad) }));
      await heading(page, /^\d+ faults/);
      await page
        .locator(".faults .jump")
        .first()
        .evaluate((jump) => (jump as HTMLElement).click());
      // The editor marks faults once its clock has gone on.
      await page.clock.setFixedTime(NOW + 1_000);
      await page.locator(".editor .cm-lintRange-error").first().waitFor();
    }),
  },
  { name: "add-route", pictures: 2, open: windowOf("#/routes", "Routes", "Add a route") },
  { name: "add-region", pictures: 0, open: windowOf("#/regions", "Regions", "Add a region") },
  {
    name: "no-route-fits",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/routes");
      await heading(page, "Routes");
      await page.getByPlaceholder("Search").fill("nothing has this name");
      await page.getByText(/^None of/).waitFor();
    }),
  },
  { name: "no-canary", pictures: 2, open: place("#/canary", "Canary") },
  {
    name: "palette",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/look-up");
      await isSignedIn(page);
      await page.keyboard.press("Control+k");
      await page.getByRole("option").first().waitFor();
    }),
  },
  {
    name: "settings",
    pictures: 2,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/capacity");
      await page.getByRole("button", { name: "operator", exact: true }).click();
      await page.getByRole("dialog", { name: "Settings" }).waitFor();
    }),
  },
  {
    name: "keys",
    pictures: 0,
    open: own(async (stack) => {
      const page = await goTo(stack, stack.own, "#/moves");
      await isSignedIn(page);
      await page.keyboard.press("?");
      await heading(page, "Keys");
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
    await heading(page, "Canary");
    await page.getByText("Do not promote").first().waitFor();
    await page.locator(".flag", { hasText: "25 %" }).waitFor();
    await settled(page);
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
