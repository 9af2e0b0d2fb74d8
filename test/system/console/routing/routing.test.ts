import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readOne } from "../../../../src/console/lookup/read-pasted.ts";
import { readerOfTable } from "../../../../src/console/lookup/table-reader.ts";
import { routeWords } from "../../../../src/console/routing/route-words.ts";
import { pointerOf } from "../../../../src/formats/console-pointers.ts";
import { builtinLayouts } from "../../../../src/ids/index.ts";
import type { DeclaredTable } from "../../../../src/routing/schema/table.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "../console.ts";

/** Routes, regions and entities in words, and the forms that change them, against a real gateway. */

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole(undefined, { REPORT_SECONDS: "1" });
});
afterAll(() => stack?.stop());

async function openAs(who: "viewer" | "operator", place: string): Promise<OpenPage> {
  const own = await stack.open("", { viewport: { width: 1440, height: 900 } });
  await signIn(own, who);
  await own.page.goto(`${stack.consoleUrl}/-/console${place}`);
  return own;
}

async function expectSound(own: OpenPage): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await own.page.emulateMedia({ colorScheme });
    expect((await violations(own)).join("\n")).toBe("");
  }
  expect(own.faults).toEqual([]);
}

const format = (layout: string, values: Readonly<Record<string, number | bigint>>): string => {
  const found = builtinLayouts.get(layout);
  const words = found?.encode(values);
  if (found === undefined || !words?.ok) throw new Error(`no ${layout}`);
  return found.format(words.value);
};

/** The same each time: IDs of every route of the table, of none, and of the default. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
const next = random(38);
const below = (max: number): number => Math.floor(next() * max);
const mintedAt = (): number => Date.parse(next() < 0.5 ? "2026-03-01T00:00:00Z" : "2026-07-01T00:00:00Z");
const IDS = Array.from({ length: 36 }, (_, at): readonly [path: string, id: string] => {
  if (at % 3 === 0) {
    const service = 1 + below(2);
    const id = format("iuid", { mintedAt: mintedAt(), country: 4 + below(9), service, random: BigInt(at) });
    return [service === 1 ? "orders" : "rides", id];
  }
  if (at % 3 === 1) {
    const area = [276, 616, 76, 484, 356, 398, 860, 840][below(8)] ?? 0;
    const shardKey = next() < 0.5 ? below(5_000) : area * 2 ** 22 + below(1_000);
    const fields = { mintedAt: mintedAt() / 1000, machine: at, process: 2, counter: 3, shardKey };
    return ["parcels", format("hotguid", fields)];
  }
  return ["person", `${below(2 ** 30).toString(16)}`];
});

/** The pointer of the entry by which the gateway decides. */
const ruleOf = (page: Page, path: string, id: string): Promise<string | undefined> =>
  page.evaluate(
    async (url) => {
      const answer = await fetch(url);
      return answer.ok ? (await answer.json()).pointer : undefined;
    },
    `/-/console/rule/${id}?path=${encodeURIComponent(path)}`,
  );

describe("truth", () => {
  it("the row that the page calls the taker is the one by which the gateway decides, and its share is counted", async () => {
    const table = stack.declared as unknown as DeclaredTable;
    const reader = readerOfTable(table, 1);
    if (reader === undefined) throw new Error("no reader");
    const counts = new Map<string, number>();
    const own = await openAs("viewer", "#/routes");
    for (const [path, id] of IDS) {
      const answer = await fetch(`${stack.url}/${path}/${id}`);
      await answer.arrayBuffer();
      const { decision } = reader.read(readOne(`/${path}/${id}`, reader), Date.now());
      const words = decision && routeWords(table, pointerOf(decision.rule, id));
      const gateway = answer.headers.get("waybill-region") ?? undefined;
      expect([path, id, words?.region]).toEqual([path, id, gateway]);
      expect([path, id, words?.pointer]).toEqual([path, id, await ruleOf(own.page, `/${path}/${id}`, id)]);
      if (words !== undefined) counts.set(words.pointer, (counts.get(words.pointer) ?? 0) + 1);
    }
    expect(counts.size).toBeGreaterThan(6);
    const shown = () =>
      own.page
        .locator(".routes tbody tr")
        .evaluateAll((rows) =>
          rows.map((row) => [row.querySelector(".c-n")?.textContent, row.querySelector(".c-share .num")?.textContent]),
        );
    const wanted = table.routes.map((_, at) => {
      const percent = ((counts.get(`/routes/${at}`) ?? 0) / IDS.length) * 100;
      return [String(at + 1), percent === 0 ? 0 : percent];
    });
    // The counters come by reports, and the page asks again.
    await expect
      .poll(
        async () => {
          await own.page.reload();
          await own.page.locator(".routes .c-share .num").first().waitFor();
          return (await shown())
            .slice(0, table.routes.length)
            .map(([number, share]) => [number, Number.parseFloat(share ?? "")]);
        },
        { timeout: 30_000, interval: 1_000 },
      )
      .toEqual(wanted.map(([number, percent]) => [number, expect.closeTo(Number(percent), 0)]));
    await own.context.close();
  });
});

const numbersIn = (page: Page) => page.locator(".routes tbody .c-n").allTextContents();

describe("the lists", () => {
  it("name each route in words, and find it by region, entity and text", async () => {
    const own = await openAs("viewer", "#/routes");
    const { page, context } = own;
    await page.getByText("IDs of Kazakhstan minted before June 1, 2026").waitFor();
    expect(await page.locator("main").textContent()).not.toMatch(/\/routes\/\d|undefined|NaN/);
    await page.getByRole("button", { name: "ap 3" }).click();
    expect(await numbersIn(page)).toEqual(["2", "7", "10"]);
    await page.getByRole("searchbox", { name: "Search the routes" }).fill("kazakh");
    expect(await numbersIn(page)).toEqual(["2", "10"]);
    await page.getByLabel("Entity").selectOption("person");
    await page.getByText("None of 14 fits").waitFor();
    await expectSound(own);
    await page.getByRole("button", { name: "Show all" }).click();
    expect(await numbersIn(page)).toHaveLength(14);
    await page.getByText("one single entity").waitFor();
    await page.getByRole("link", { name: "Show route 4, line" }).click();
    await page.getByText("Germany").or(page.locator(".cm-activeLine")).first().waitFor();
    await expect.poll(() => page.locator(".editor .cm-activeLine").textContent()).toBe("    {");
    await page.goto(`${stack.consoleUrl}/-/console#/routes?route=11`);
    await page.locator("tr[aria-selected=true]").getByText("All IDs of person").waitFor();
    await context.close();
  });

  it("show a viewer all and change nothing, and say why", async () => {
    const own = await openAs("viewer", "#/routes?new=order");
    const { page, context } = own;
    for (const [place, name] of [
      ["routes", "Add a route"],
      ["regions", "Add a region"],
      ["entities", "Add an entity"],
      ["editor", "Review and publish"],
    ] as const) {
      await page.goto(`${stack.consoleUrl}/-/console#/${place}`);
      const button = page.getByRole("button", { name });
      await button.waitFor();
      expect(await button.getAttribute("aria-disabled")).toBe("true");
      await page.getByText("Your role, viewer, changes nothing.").waitFor();
      await button.press("Enter");
      expect(await page.getByRole("dialog").count()).toBe(0);
      expect(
        await page.getByRole("button", { name: /^(?:Drain|Weights|Add an origin|Send|Discard|Format)/ }).count(),
      ).toBe(0);
      await expectSound(own);
    }
    await context.close();
  });

  it("say how each region is, with the evidence of its origins, and where an entity lives", async () => {
    const own = await openAs("viewer", "#/regions?region=ap");
    const { page, context } = own;
    const ap = page.getByRole("region", { name: "ap", exact: true });
    await ap.getByText("Healthy").first().waitFor();
    await ap.getByText("Uzbekistan, India").waitFor();
    await page.goto(`${stack.consoleUrl}/-/console#/entities?entity=person`);
    const person = page.locator("tr[aria-selected=true]");
    await person.getByText("luuid, com.example.Person").waitFor();
    expect(await person.locator(".region").allTextContents()).toEqual(["eu"]);
    await person.getByText("found at /any by redirect").waitFor();
    await context.close();
  });

  it("stay fluent with ten thousand routes", async () => {
    const own = await stack.open("", { viewport: { width: 1440, height: 900 } });
    const { page, context } = own;
    const routes = Array.from({ length: 10_000 }, (_, at) => ({
      when: { layout: "hotguid", shardKey: at * 3 },
      region: ["eu", "us", "ap"][at % 3],
    }));
    await page.route("**/-/table", (route) =>
      route.fulfill({ headers: { "waybill-revision": "1" }, body: JSON.stringify({ ...stack.declared, routes }) }),
    );
    await signIn(own, "viewer");
    await page.goto(`${stack.consoleUrl}/-/console#/routes?route=5000`);
    await page.locator("tr[aria-selected=true]").getByText("Shard key 14997").waitFor();
    await page.getByText("4,901 to 5,000 of 10,003").waitFor();
    await expect.poll(() => page.locator(".routes tbody tr").count()).toBe(100);
    await page.getByRole("button", { name: "Later" }).click();
    await page.getByText("5,001 to 5,100 of 10,003").waitFor();
    await page.getByRole("searchbox", { name: "Search the routes" }).fill("key 29997");
    await expect.poll(() => numbersIn(page)).toEqual(["10000"]);
    await context.close();
  });
});

const regionOf = async (path: string): Promise<string | null> => {
  const answer = await fetch(`${stack.url}${path}`);
  await answer.arrayBuffer();
  return answer.headers.get("waybill-region");
};

describe("a form", () => {
  it("sends a country elsewhere, and the gateway does what it said", async () => {
    const own = await openAs("operator", "#/routes");
    const { page, context } = own;
    const indian = `/orders/${format("iuid", { mintedAt: Date.now(), country: 11, service: 1, random: 9n })}`;
    const uzbek = `/orders/${format("iuid", { mintedAt: Date.now(), country: 6, service: 1, random: 9n })}`;
    expect([await regionOf(indian), await regionOf(uzbek)]).toEqual(["ap", "ap"]);
    await page.getByRole("button", { name: "Send route 2 elsewhere" }).click();
    const dialog = page.getByRole("dialog");
    for (const name of ["Kazakhstan", "Uzbekistan"]) await dialog.getByLabel(name).uncheck();
    await dialog.getByLabel("Go to").selectOption("eu");
    await dialog.getByText("India", { exact: true }).last().waitFor();
    await dialog.locator(".diff").getByText("ap").first().waitFor();
    await expectSound(own);
    await dialog.getByRole("button", { name: "Review and publish" }).click();
    const publication = page.getByRole("dialog", { name: /^Publish revision/ });
    await publication.getByLabel("For all IDs now").check();
    await publication.getByLabel("The data is copied").check();
    // Many of the requests of this hour were such IDs: the host's name is asked for.
    await publication.locator(".diff").waitFor();
    const typed = publication.getByLabel(/requests: type/);
    if ((await typed.count()) > 0) await typed.fill(new URL(stack.consoleUrl).host);
    await publication.getByRole("button", { name: /^Publish revision/ }).click();
    await expect.poll(() => regionOf(indian), { timeout: 20_000 }).toBe("eu");
    expect(await regionOf(uzbek)).toBe("ap");
    const text = await (
      await fetch(`${stack.url}/-/table`, { headers: { authorization: `Bearer ${TOKENS.operator}` } })
    ).text();
    expect(JSON.parse(text).routes.slice(1, 3)).toEqual([
      { when: { layout: "iuid", country: "IN" }, region: "eu" },
      { when: { layout: "iuid", country: ["KZ", "UZ"] }, region: "ap" },
    ]);
    await context.close();
  });

  it("says what is wrong at its field, keeps a draft and nothing else", async () => {
    const own = await openAs("operator", "#/routes?new=parcel");
    const { page, context } = own;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Chosen by").selectOption("shardKey");
    await dialog.getByLabel("Shard keys").fill("9-5");
    await dialog.getByText("9-5 is reversed: write 5-9.").waitFor();
    expect(await dialog.getByLabel("Shard keys").getAttribute("aria-invalid")).toBe("true");
    await dialog.getByRole("button", { name: "Keep as a draft" }).click();
    await dialog.getByLabel("Shard keys").fill("5-9");
    await dialog.getByText("Choose the region that they go to.").waitFor();
    await expectSound(own);
    await dialog.getByLabel("Go to").selectOption("us");
    await dialog.getByText("Its effect").waitFor();
    await dialog.getByRole("button", { name: "Keep as a draft" }).click();
    await page.getByText(/^Draft, not published: \d lines? differs? from revision/).waitFor();
    await expectSound(own);
    // A second form goes on from the draft.
    await page.goto(`${stack.consoleUrl}/-/console#/regions`);
    await page.getByRole("button", { name: "Add an origin" }).first().click();
    await dialog.getByLabel("Address of its origin").fill("not a url");
    await dialog
      .getByText(/not a url/)
      .last()
      .waitFor();
    await dialog.getByLabel("Address of its origin").fill("https://eu-2.internal.example.com");
    await dialog.getByLabel("Weight").fill("0");
    await dialog.getByText("Its effect").waitFor();
    await dialog.getByRole("button", { name: "Keep as a draft" }).click();
    await page.goto(`${stack.consoleUrl}/-/console#/editor`);
    await page.locator(".editor .cm-content").waitFor();
    await page.getByText(/lines differ from revision/).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("Nothing: the text is the table in force.").waitFor();
    await context.close();
  });

  it("sends a whole region elsewhere from a link, and drains an origin", async () => {
    const own = await openAs("operator", "#/routes?from=us&to=ap");
    const { page, context } = own;
    const dialog = page.getByRole("dialog", { name: "Send the IDs of us elsewhere" });
    await dialog.getByText("New ones alone, minted from now on").waitFor();
    await dialog.locator(".diff").first().waitFor();
    await dialog.getByLabel("All of them").check();
    await dialog.getByText("One single entity with an entry of their own").waitFor();
    await expectSound(own);
    await page.keyboard.press("Escape");
    await expectSound(own);
    // It was filled in: it asks.
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.goto(`${stack.consoleUrl}/-/console#/regions`);
    await page.getByRole("button", { name: "Weights" }).first().click();
    const weights = page.getByRole("dialog", { name: "Weights of eu" });
    await weights.getByLabel(/^http/).fill("0");
    await weights.getByText(/Nothing would answer for eu/).waitFor();
    await context.close();
  });
});
