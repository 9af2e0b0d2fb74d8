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
}, 60_000);
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
const ask = (page: Page) => page.getByRole("button", { name: "Ask where it goes" }).click();

/** The value beside a name in the lists of facts. */
const fact = (page: Page, name: string) => page.locator(".facts > div", { has: page.getByText(name, { exact: true }) });

async function expectSound(own: OpenPage): Promise<void> {
  expect((await violations(own)).join("\n")).toBe("");
  expect(own.faults).toEqual([]);
}

describe("one ID", () => {
  it("shows its region by one request, whatever the others do", async () => {
    const own = await asSupport();
    const { page, context } = own;
    const asked: string[] = [];
    await page.route(/\/-\/(?!ids\/)/, (route) => {
      asked.push(new URL(route.request().url()).pathname);
    });
    let answers = 0;
    page.on("response", (response) => {
      if (response.url().includes("/-/ids/")) answers++;
    });
    await paste(page, ID);
    await page.getByRole("heading", { name: "This is an order" }).waitFor();
    expect(asked).toEqual([]);
    await ask(page);
    await page.locator(".region strong", { hasText: "eu" }).waitFor();
    // The health of regions and the rule's words are asked for, and never come.
    expect([answers, asked.toSorted()]).toEqual([1, [`/-/console/rule/${ID}`, "/-/regions"]]);
    await context.close();
  });

  it("says what it is: entity, country, both times, the fields of its bits", async () => {
    const own = await asSupport({ timezoneId: "Asia/Almaty" });
    const { page, context } = own;
    await paste(page, ID);
    await page.getByRole("heading", { name: "This is an order" }).waitFor();
    expect(await fact(page, "Entity").textContent()).toContain("order");
    expect(await fact(page, "Country").textContent()).toMatch(/Kazakhstan \(KZ, number 5\)/);
    expect(await fact(page, "Minted").textContent()).toMatch(
      /Nov 3, 2024, 11:41:04\sAM \(Asia\/Almaty\).*2024-11-03 06:41:04(\.\d+)? UTC, \d+ years? ago/,
    );
    expect(await page.locator(".bits .name").allTextContents()).toEqual([
      "mintedAt",
      "version",
      "formatVersion",
      "country",
      "variant",
      "service",
      "random",
    ]);
    await context.close();
  });

  it("says why, in words and with the line, and whether the region is healthy now", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, ID);
    await ask(page);
    await page
      .getByText("/routes/0 takes it: IDs in layout iuid minted before 2026-06-01T00:00:00Z with country KZ go to eu.")
      .waitFor();
    const lines = JSON.stringify(stack.declared, null, 2).split("\n");
    const line = lines.findIndex((each) => each.startsWith('  "routes"')) + 2;
    await page.getByText(`Line ${line} of the table, revision 1.`).waitFor();
    // The reading above is not one of the others, asked or not.
    expect(await page.locator("details.others .other h3", { hasText: "iuid of order" }).count()).toBe(0);
    await page.locator(".region .badge").waitFor();
    await expectSound(own);
    await context.close();
  });

  it("gives every text to copy, and a link that shows the same again", async () => {
    const own = await asSupport({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page, context } = own;
    await paste(page, `https://api.example.com/orders/${ID}?x=1`);
    await page.getByRole("heading", { name: "All texts of this ID" }).waitFor();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const texts = await page.locator(".texts code").allTextContents();
    expect(texts).toContain(ID.replaceAll("-", ""));
    const buttons = page.locator(".texts button");
    expect(await buttons.count()).toBe(texts.length);
    for (const [at, text] of texts.entries()) {
      await buttons.nth(at).click();
      expect(await copied()).toBe(text);
    }
    await page.getByRole("button", { name: "Copy link to this view" }).click();
    const link = await copied();
    const other = await context.newPage();
    await other.goto(link);
    await other.getByRole("heading", { name: "This is an order" }).waitFor();
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
          await page.locator(".region strong").waitFor();
          return page.locator(".region strong").textContent();
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe("eu");
    const text = await fact(page, "Moved").textContent();
    expect(text).toMatch(
      /The table says so since revision 2, on \w+ \d+, 20\d\d, .* UTC\), by operator\. Note: ticket 4711: moved to Europe/,
    );
    await page.getByText("The table says of this very ID that it moved.").waitFor();
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
    await page.getByRole("heading", { name: "This is a person" }).waitFor();
    await ask(page);
    await page.locator(".region strong", { hasText: "eu" }).waitFor();
    await context.close();
  });

  it("a short key on its path shows its bits, region, rule and the entity itself", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, `https://api.example.com/person/${PERSON_KEY}/letters?tab=2`);
    await page.getByRole("heading", { name: "This is a person" }).waitFor();
    expect(await fact(page, "Primary key").textContent()).toContain(String(0x1a2b3c));
    expect(await fact(page, "Layout").textContent()).toContain("short key of an LUUID");
    const bits = await page.locator(".bits li").allTextContents();
    expect(bits.filter((text) => text.startsWith("random"))).toEqual([expect.stringContaining("not in a short key")]);
    await ask(page);
    await page.locator(".region strong", { hasText: "eu" }).waitFor();
    await page.getByText("IDs of person go to eu.").waitFor();
    await page.getByRole("button", { name: "Show the entity" }).click();
    await page.getByText(/^eu answered with status/).waitFor();
    await page.locator(".facts.nested").first().waitFor();
    await expectSound(own);
    await context.close();
  });

  it("a whole URL of the wrong entity says that it would be refused", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, `https://api.example.com/rides/${ID}`);
    await ask(page);
    await page.getByText(/A request on this path is refused:/).waitFor();
    await context.close();
  });

  it("a public ID shows its region alone, by the gateway's keys", async () => {
    const minted = await send("POST", "/mint", { entity: "ticket", country: "KZ" });
    const { ids } = (await minted.json()) as { ids: readonly string[] };
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, ids[0] ?? "");
    await page.getByRole("heading", { name: "This has the form of a public ID of ticket" }).waitFor();
    await ask(page);
    await page.locator(".region strong", { hasText: /^(?:eu|ap)$/ }).waitFor();
    expect(await page.getByText("Kazakhstan").count()).toBe(0);
    await page.getByRole("button", { name: "Show the entity" }).click();
    await page.locator(".facts.nested").first().waitFor();
    await expectSound(own);
    await context.close();
  });

  it("several are a table, with a file of it", async () => {
    const own = await asSupport();
    const { page, context } = own;
    await paste(page, `id;what\n${ID};"an order"\n0192f0c1-7a30-8006-8040-8f3b2a1c9d79;another`);
    await page.getByRole("heading", { name: "2 IDs" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as CSV" }).click(),
    ]);
    let text = "";
    for await (const chunk of await download.createReadStream()) text += String(chunk);
    expect(text.split("\r\n").slice(0, 2)).toEqual([
      "ID,Entity,Country,Minted (UTC),Region,Problem",
      `${ID},order,Kazakhstan,2024-11-03 06:41:04,,`,
    ]);
    await context.close();
  });
});

describe("a list", () => {
  const SHORT = `https://api.example.com/person/${PERSON_KEY}`;
  const rowsOf = async (page: Page): Promise<readonly (readonly string[])[]> => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as CSV" }).click(),
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
    await page.getByText("The page knows no routes for this role.").waitFor();
    await page.getByRole("button", { name: "Ask where they go" }).click();
    await page.getByText("The gateway said the regions of 8.").waitFor();
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
      ["", "wrong-entity"],
    ]);
    await page.getByRole("button", { name: "Count by region" }).click();
    await page.getByText(/no region: 5/).waitFor();
    expect(await page.getByRole("button", { name: "Ask where they go" }).isDisabled()).toBe(true);
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
    await page.getByRole("button", { name: "Ask where they go" }).click();
    await page.getByText("The gateway does not answer").first().waitFor();
    await page.getByText("The gateway said the regions of 1,000.").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("The gateway said the regions of 1,500.").waitFor();
    expect(sizes).toEqual([1_000, 500, 500]);
    expect((await rowsOf(page)).slice(1).every((row) => row.at(-2) === "eu" && row.at(-1) === "")).toBe(true);
    await paste(page, `${ids[0]}\n${ids[1]}`);
    await page.getByText("The page knows no routes for this role.").waitFor();
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
    await page.getByRole("heading", { name: "This is a key of user" }).waitFor();
    await page.getByRole("heading", { name: "In the directory email" }).waitFor();
    await page.locator(".region strong", { hasText: "ap" }).waitFor();
    await page.getByText("Directory email says the region.").waitFor();
    const shown = page.locator(".panel", { hasText: "In the directory email" });
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
    await page.getByRole("button", { name: "Show the entity" }).click();
    await page.getByText(/^ap answered with status/).waitFor();
    await page.getByText("/users/Ann%40Example.COM", { exact: true }).waitFor();
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
    await page.locator(".box.warn").first().waitFor();
    expect(await page.getByRole("button", { name: "Show the entity" }).count()).toBe(0);
    expect(await page.locator(".region").count()).toBe(0);
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
    expect(await page.locator(".region").count()).toBe(0);
    await paste(page, "bob@@example.com");
    await ask(page);
    await page.getByRole("heading", { name: "In the directory email" }).waitFor();
    await page.locator(".panel .box.warn").first().waitFor();
    expect(await page.locator(".region").count()).toBe(0);
    await expectSound(own);
    await context.close();
  });
});
