import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleStack, signIn, startConsole, TOKENS } from "./console.ts";

/** Names that every object has already. Those that JSON could set a prototype by, a table may not have. */
const [region, entity, slice] = ["toString", "valueOf", "hasOwnProperty"];

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole((table) => {
    const { us } = table.regions;
    const rows = [
      { field: "shard", bits: 33, role: "key" as const },
      { field: "random", bits: 32, role: "random" as const },
    ];
    return {
      ...table,
      regions: { ...table.regions, ...(us && { [region]: us }) },
      entities: { ...table.entities, [entity]: { path: `/${entity}/:id`, ids: [{ layout: "own" }] } },
      layouts: { hotguid: { slices: { [slice]: [0, 10] } }, own: { rows, text: "base62" } },
      routes: [
        { when: { entity }, region },
        { when: { layout: "hotguid", slices: { [slice]: 3 } }, region },
        { when: { layout: "iuid" }, region: "eu" },
        { when: { entity: ["parcel", "person"] }, region: "us" },
      ],
      moved: {},
    };
  });
});
afterAll(() => stack?.stop());

it("are names like others on every page", async () => {
  const own = await stack.open("#/overview");
  const { page, context, faults } = own;
  await signIn(own, "operator");
  const row = page.getByRole("row", { name: new RegExp(region) });
  await row.getByText("Not asked yet").waitFor();
  for (const name of [
    "routes",
    "regions",
    "entities",
    "editor",
    "history",
    "canary",
    "moves",
    "capacity",
    "mint",
    "layouts",
  ]) {
    await page.goto(`${stack.consoleUrl}/-/console#/${name}`);
    await page.locator("main h1").waitFor();
    expect([name, await page.getByText("has a fault").count()]).toEqual([name, 0]);
  }
  // An ID of eleven digits in base 62, and what every object has.
  await page.goto(`${stack.consoleUrl}/-/console#/look-up?id=/${entity}/constructor`);
  await page.getByText(`because all ${entity} IDs go to ${region}.`).waitFor({ timeout: 5_000 });
  await page.goto(`${stack.consoleUrl}/-/console#/moves`);
  await page.getByLabel("ID or URL").fill(`/${entity}/constructor`);
  await page.getByRole("heading", { name: `At home in ${region}` }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

it("are counted like others", async () => {
  const headers = { authorization: `Bearer ${TOKENS.operator}`, "content-type": "application/json" };
  const body = JSON.stringify({ ids: ["constructor"] });
  const answer = await fetch(`${stack.url}/any?locate=true`, { method: "POST", headers, body });
  expect(await answer.json()).toMatchObject({ summary: { regions: { [region]: 1 } } });
  await fetch(`${stack.url}/${entity}/constructor`);
  const { regions } = (await (await fetch(`${stack.url}/-/regions`, { headers })).json()) as { regions: object };
  expect(Object.keys(regions)).toContain(region);
});
