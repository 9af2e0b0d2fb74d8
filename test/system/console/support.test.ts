import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "./console.ts";

/** Support's questions about one ID, key or URL, each answered by the page. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const PERSON_KEY = "1a2b3c";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole(
    // With public IDs there is no GraphQL.
    ({ graphql: _, ...table }) => ({
      ...table,
      entities: {
        ...table.entities,
        user: { path: "/users/:id", ids: [], directory: "email" },
        ticket: { path: "/tickets/:id", ids: [{ layout: "iuid", service: 7 }], public: true },
      },
      directory: { ...table.directory, email: { key: { text: "email" }, cacheSeconds: 30 } },
    }),
    { PUBLIC_ID_KEYS: JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }) },
  );
});
afterAll(() => stack?.stop());

const authorization = `Bearer ${TOKENS.operator}`;

async function send(method: string, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(stack.url + path, {
    method,
    headers: { authorization, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  expect([path, response.ok]).toEqual([path, true]);
  return response;
}

async function asSupport(options = {}): Promise<OpenPage> {
  const own = await stack.open("", options);
  await signIn(own, "support");
  return own;
}

const paste = (page: Page, text: string) => page.getByLabel("ID, short key, URL").fill(text);
const ask = (page: Page) => page.getByRole("button", { name: /^Ask (?:the gateway|again)$/ }).click();

/** The page begins with it. */
const verdict = (page: Page, text: string | RegExp) => page.getByRole("heading", { name: text });
const isA = (page: Page, what: string) => page.locator(".what", { hasText: what }).waitFor();

/** The value beside a name in the lists of facts, or below it in the legend of the bits. */
const fact = (page: Page, name: string) => page.locator(`dt:has-text("${name}") + dd`);

async function askList(page: Page): Promise<void> {
  await ask(page);
  await page.getByRole("button", { name: "Ask again" }).waitFor();
}

async function expectSound(own: OpenPage): Promise<void> {
  expect((await violations(own)).join("\n")).toBe("");
  expect(own.faults).toEqual([]);
}

describe("one ID", () => {
  it("shows its region by one request, whatever the others do", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, ID);
    await isA(page, "order");
    const asked: string[] = [];
    await page.route(/\/-\/(?!ids\/|console\/session)/, (route) => {
      asked.push(new URL(route.request().url()).pathname);
    });
    let answers = 0;
    page.on("response", (response) => {
      if (response.url().includes("/-/ids/")) answers++;
    });
    await verdict(page, "Goes to ?").waitFor();
    expect(asked).toEqual([]);
    await ask(page);
    await verdict(page, "Goes to eu").waitFor();
    // The health of regions and the rule's words are asked for, and never come.
    expect([answers, asked.toSorted()]).toEqual([1, [`/-/console/rule/${ID}`, "/-/regions"]]);
    await context.close();
  });

  it("says what it is: entity, country, both times, the fields of its bits", async () => {
    const own = await asSupport({ timezoneId: "Asia/Almaty" });
    const { page, context } = own;
    await paste(page, ID);
    await isA(page, "order");
    expect(await page.locator(".what").textContent()).toMatch(
      /^order.*Kazakhstan.*minted 2024-11-03 06:41:04 UTC.*\d+ years? ago$/,
    );
    expect(await fact(page, "country, 8 bits").textContent()).toBe("5 = Kazakhstan");
    expect(await fact(page, "service, 8 bits").textContent()).toBe("1 = order");
    expect(await fact(page, "mintedAt, 48 bits").textContent()).toMatch(
      /2024-11-03 06:41:04(\.\d+)? UTC.*Nov 3, 2024, 11:41:04\sAM \(Asia\/Almaty\)/,
    );
    expect(await fact(page, "fixed, 10 bits").textContent()).toBe("version 8, formatVersion 0, variant 2");
    await expect.poll(() => page.locator(".bits g").count()).toBe(7);
    expect(await page.locator("code.id b").allTextContents()).toEqual(["05", "804"]);
    await context.close();
  });

  it("says why, in words and with the line, and whether the region is healthy now", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, ID);
    await ask(page);
    await page.getByText("because orders of Kazakhstan minted before June 1, 2026 go to eu.").waitFor();
    const lines = JSON.stringify(stack.declared, null, 2).split("\n");
    const line = lines.findIndex((each) => each.startsWith('  "routes"')) + 2;
    await page.getByText(`Route 1, line ${line} of revision 1`).waitFor();
    // The reading above is not one of the others, asked or not.
    expect(await page.locator("details.others .other h3", { hasText: "iuid of order" }).count()).toBe(0);
    await page.locator(".because .state").waitFor();
    await expectSound(own);
    await context.close();
  });

  it("gives every text to copy, and a link that shows the same again", async () => {
    const own = await asSupport({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page, context } = own;
    await paste(page, `https://api.example.com/orders/${ID}?x=1`);
    await isA(page, "order");
    await page.getByRole("heading", { name: "Same ID, other texts" }).waitFor();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const texts = await page.locator(".texts code").allTextContents();
    expect(texts).toContain(ID.replaceAll("-", ""));
    const buttons = page.locator(".texts button");
    await expect.poll(() => buttons.count()).toBe(texts.length);
    for (const [at, text] of texts.entries()) {
      await buttons.nth(at).click();
      expect(await copied()).toBe(text);
    }
    await page.getByRole("button", { name: "Copy a link to this view" }).click();
    const link = await copied();
    const other = await context.newPage();
    await other.goto(link);
    await isA(other, "order");
    expect(await other.getByLabel("ID, short key, URL").inputValue()).toBe(`https://api.example.com/orders/${ID}?x=1`);
    await context.close();
  });

  it("was moved: when and by whom, to support too", async () => {
    const moved = "0192f0c1-7a30-8006-8040-8f3b2a1c9d79";
    const table = { ...stack.declared, moved: { ...stack.declared.moved, [moved]: "eu" } };
    const note = { "waybill-note": encodeURIComponent("ticket 4711: moved to Europe") };
    await send("PUT", "/-/table", table, { "if-match": '"1"', ...note });
    // One later revision says the same.
    await send("PUT", "/-/table", { ...table, default: "eu" }, { "if-match": '"2"' });
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, moved);
    await expect
      .poll(
        async () => {
          await ask(page);
          await page.getByText("Confirmed by the gateway").waitFor();
          return page.locator(".answer .code").textContent();
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe("eu");
    await page
      .getByText(/^Moved on 20\d\d-\d\d-\d\d .* UTC by operator in revision 2: “ticket 4711: moved to Europe” Line \d+/)
      .waitFor();
    await page.getByText("because this very order moved there.").waitFor();
    await expectSound(own);
    await context.close();
  });
});

describe("other texts", () => {
  it("a short key alone says what it may be, and one click reads it on its path", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, PERSON_KEY);
    await page.getByRole("heading", { name: "This may be a short key of person" }).waitFor();
    await page.getByText("It may be a key of shop or user: the gateway can tell.").waitFor();
    await expectSound(own);
    await page.getByRole("button", { name: `Read it as /person/${PERSON_KEY}` }).click();
    await isA(page, "person");
    await ask(page);
    await verdict(page, "Goes to eu").waitFor();
    await context.close();
  });

  it("a short key on its path shows its bits, region, rule and the entity itself", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, `https://api.example.com/person/${PERSON_KEY}/letters?tab=2`);
    await isA(page, `short key, primary key ${0x1a2b3c}`);
    await page.getByText("short key of luuid").waitFor();
    expect(await fact(page, "random, ").textContent()).toBe("not in a short key");
    expect(await fact(page, "primaryKey, ").textContent()).toBe(String(0x1a2b3c));
    await ask(page);
    await verdict(page, "Goes to eu").waitFor();
    await page.getByText("because all persons go to eu.").waitFor();
    await page.getByRole("button", { name: "Show the person" }).click();
    await page.getByRole("heading", { name: "This person, as eu has it" }).waitFor();
    await page.locator(".facts.nested").first().waitFor();
    await expectSound(own);
    await context.close();
  });

  it("a whole URL of the wrong entity says that it would be refused", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, `https://api.example.com/rides/${ID}`);
    await ask(page);
    await verdict(page, "Requests get 422").waitFor();
    await page.getByText("It is an ID of another entity").waitFor();
    await page.getByText("Confirmed by the gateway").waitFor();
    await context.close();
  });

  it("a public ID shows its region alone, by the gateway's keys", async () => {
    const minted = await send("POST", "/mint", { entity: "ticket", country: "KZ" });
    const { ids } = (await minted.json()) as { ids: readonly string[] };
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, ids[0] ?? "");
    await isA(page, "public ID of ticket");
    await page.getByText("Sealed", { exact: true }).waitFor();
    await ask(page);
    await verdict(page, /^Goes to (?:eu|ap)$/).waitFor();
    expect(await page.getByText("Kazakhstan").count()).toBe(0);
    await page.getByRole("button", { name: /^Show the / }).click();
    await page.locator(".facts.nested").first().waitFor();
    await expectSound(own);
    await context.close();
  });

  it("several are a table, with a file of it", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, `id;what\n${ID};"an order"\n0192f0c1-7a30-8006-8040-8f3b2a1c9d79;another`);
    await page.getByRole("heading", { name: "2 IDs" }).waitFor();
    await page.locator(".many td.c-what", { hasText: "order, Kazakhstan" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV", exact: true }).click(),
    ]);
    let text = "";
    for await (const chunk of await download.createReadStream()) text += String(chunk);
    expect(text.split("\r\n").slice(0, 2)).toEqual([
      "id,what,Entity,Country,Minted (UTC),Region,Problem",
      `${ID},an order,order,Kazakhstan,2024-11-03 06:41:04,,`,
    ]);
    await context.close();
  });
});

describe("a list", () => {
  const SHORT = `https://api.example.com/person/${PERSON_KEY}`;
  const rowsOf = async (page: Page): Promise<readonly (readonly string[])[]> => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV", exact: true }).click(),
    ]);
    let text = "";
    for await (const chunk of await download.createReadStream()) text += String(chunk);
    return text
      .trim()
      .split("\r\n")
      .map((line) => line.split(","));
  };

  it("is asked at the gateway: IDs, public IDs, short keys on their paths, and what leads nowhere", async () => {
    const minted = await send("POST", "/mint", { entity: "ticket", country: "KZ" });
    const { ids } = (await minted.json()) as { ids: readonly string[] };
    const own = await asSupport({ viewport: { width: 390, height: 800 } });
    const { page, context } = own;
    const long = "x".repeat(300);
    await paste(
      page,
      [ID, ids[0], SHORT, PERSON_KEY, "nonsense", long, "https://api.example.com/rest", `/rides/${ID}`].join("\n"),
    );
    await page.getByRole("heading", { name: "8 IDs" }).waitFor();
    await page.getByText("Your role does not see routes: the gateway says the regions.").waitFor();
    await askList(page);
    await page.getByText("the regions of 8 are the gateway's.").waitFor();
    const [heading, ...rows] = await rowsOf(page);
    expect(heading?.slice(-2)).toEqual(["Region", "Problem"]);
    expect(rows.map((row) => row.slice(-2))).toEqual([
      ["eu", ""],
      [expect.stringMatching(/^(?:eu|ap)$/), ""],
      ["eu", ""],
      ["", "unknown-id"],
      ["", "unknown-id"],
      ["", "malformed-id"],
      ["", expect.stringMatching(/./)],
      ["", "Requests get 422: it is an ID of another entity."],
    ]);
    // Public IDs of Kazakhstan go to one of two regions.
    await page.getByRole("button", { name: /^eu [23]$/ }).click();
    const shown = Number((await page.locator(".filter[aria-pressed=true] b").textContent()) ?? "0");
    await expect.poll(() => page.locator(".many tbody a").count()).toBe(shown);
    expect(new Set(await page.locator(".many tbody td.c-to").allTextContents())).toEqual(new Set(["eu"]));
    await page.getByRole("button", { name: "no ID 3" }).click();
    await expect.poll(() => page.locator(".many tbody a").allTextContents()).toEqual([PERSON_KEY, "nonsense", long]);
    await expectSound(own);
    await context.close();
  });

  it("goes on where it stopped, and begins anew with another list", async () => {
    const own = await asSupport();
    const { page, context } = own;
    const ids = Array.from({ length: 1_500 }, (_, at) => `${ID.slice(0, -5)}${String(at).padStart(5, "0")}`);
    const sizes: number[] = [];
    await page.route("**/any?locate=true", (route) => {
      sizes.push((route.request().postDataJSON() as readonly string[]).length);
      return sizes.length === 2 ? route.abort() : route.continue();
    });
    await paste(page, ids.join("\n"));
    await ask(page);
    await page.getByText("The gateway does not answer").first().waitFor();
    await page.getByText("the regions of 1,000 are the gateway's. The others were read here.").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("the regions of 1,500 are the gateway's.").waitFor();
    expect(sizes).toEqual([1_000, 500, 500]);
    expect((await rowsOf(page)).slice(1).every((row) => row.at(-2) === "eu" && row.at(-1) === "")).toBe(true);
    await page.getByRole("button", { name: "Clear" }).click();
    await paste(page, `${ids[0]}\n${ids[1]}`);
    await page.getByText("Your role does not see routes: the gateway says the regions.").waitFor();
    expect((await rowsOf(page)).slice(1).every((row) => row.at(-2) === "" && row.at(-1) === "")).toBe(true);
    await context.close();
  });
});

describe("a key of a directory", () => {
  const lease = (owner: string) => ({ owner, operation: `op-${owner}`, region: "ap", leaseSeconds: 600 });
  const email = "ann@example.com";

  beforeAll(async () => {
    const at = `/-/directory/email/${encodeURIComponent(email)}`;
    await send("PUT", at, lease("42"));
    await send("POST", at, { action: "confirm", owner: "42", operation: "op-42" });
    await send("PUT", "/-/directory/slug/kept", lease("43"));
  });

  it("shows entity, region, entry and freshness, in whatever case it is pasted", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, "Ann@Example.COM");
    await page.getByText("It may be a key of shop or user: the gateway can tell.").waitFor();
    await ask(page);
    await isA(page, "key of user");
    await page.getByRole("heading", { name: "In the directory email" }).waitFor();
    await verdict(page, "Goes to ap").waitFor();
    await page.getByText("because directory email says so.").waitFor();
    const shown = page.locator(".sheet", { has: page.getByRole("heading", { name: "In the directory email" }) });
    for (const text of [
      "user",
      email,
      "ap",
      "confirmed: requests are routed by it",
      "42",
      /Changed.* UTC\).*(?:ago|now)/,
      /The directory itself said so at/,
      "Gateways may have an earlier answer for 30 s.",
    ]) {
      expect(await shown.textContent()).toMatch(text);
    }
    await page.getByRole("button", { name: "Show the user" }).click();
    await page.getByRole("heading", { name: "This user, as ap has it" }).waitFor();
    await page.locator(".sheet > footer", { hasText: "/users/Ann%40Example.COM" }).waitFor();
    await expectSound(own);
    await context.close();
  });

  it("shows one that is only reserved, until when, and that requests do not find it", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, "https://api.example.com/shops/Kept");
    await ask(page);
    await page.getByText("reserved, and not confirmed: requests find no such key").waitFor();
    expect(await fact(page, "Reserved until").textContent()).toMatch(/UTC/);
    expect(await fact(page, "Owner").textContent()).toContain("43");
    await verdict(page, "Requests get 404").waitFor();
    expect(await page.getByRole("button", { name: /^Show the/ }).count()).toBe(0);
    expect(await page.getByRole("heading", { name: /^Goes to/ }).count()).toBe(0);
    await expectSound(own);
    await context.close();
  });

  it("says of an unknown one that each directory has none, and guesses nothing", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, "bob@example.com");
    await ask(page);
    await page.getByText("It has no key bob@example.com of user.").waitFor();
    await page.getByText("It has no key bob@example.com of shop.").waitFor();
    expect(await page.getByRole("heading", { name: /^Goes to/ }).count()).toBe(0);
    await paste(page, "bob@@example.com");
    await ask(page);
    await page.getByRole("heading", { name: "In the directory email" }).waitFor();
    await page.locator(".sheet .note.warn").first().waitFor();
    expect(await page.getByRole("heading", { name: /^Goes to/ }).count()).toBe(0);
    await expectSound(own);
    await context.close();
  });
});
