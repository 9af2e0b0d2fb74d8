import { describe, expect, it } from "vitest";
import type { RuleView } from "../../../src/formats/console-api.ts";
import { ok } from "../../../src/ids/result.ts";
import type { ChangeRequest } from "../../../src/ports/admin.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS } from "../harness.ts";
import { setUpConsole, tokenOf } from "./world.ts";

/** The one entry of the table that decides, as support may see it. */

const asSupport = { headers: { authorization: `Bearer ${tokenOf("support")}` } };
const { orderKz: ID } = IDS;

const tableWith = (parts: object) => ({ ...DECLARED_TABLE, moved: {}, ...parts });

/** Publishes the tables in turn; the last one is in force. */
const setUpTables = (...tables: readonly object[]) => setUpCanary(undefined, ...tables);

/** With a canary for whole entities beside the last table. */
async function setUpCanary(entity: string | undefined, ...tables: readonly object[]) {
  const first = setUpConsole();
  const { controlPlane } = first.gateway;
  const status = await controlPlane.status();
  if (!status.ok) throw new Error(status.error.reason);
  let { revision } = status.value.truth;
  for (const [at, declared] of tables.entries()) {
    const change: ChangeRequest = { expectedRevision: revision, author: `ann.${at}`, note: `step ${at}` };
    const made = await controlPlane.publish(change, new TextEncoder().encode(JSON.stringify(declared, null, 1)));
    if (!made.ok) throw new Error(JSON.stringify(made.error));
    revision = made.value.revision;
  }
  const table = loadTable(structuredClone(tables.at(-1)), revision);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  const ownsEntity = (name: string): boolean => name === entity;
  const audience = { entities: [entity ?? ""] };
  const canary = { table: table.value, label: "", digest: "", audience, matches: () => false, ownsEntity };
  const served = {
    table: table.value,
    source: "kv" as const,
    digest: undefined,
    confirmedAtMs: 0,
    label: "",
    canary: entity === undefined ? undefined : canary,
  };
  const world = setUpConsole({
    gateway: { controlPlane, tables: { peek: () => served, load: async () => ok(served) } },
  });
  const rule = async (id: string, query = ""): Promise<RuleView> =>
    (await world.ask(`/-/console/rule/${id}${query}`, asSupport)).json();
  return { ...world, rule, revision };
}

describe("GET /-/console/rule/:id", () => {
  it("shows the deciding route with its line, and no other part of the table", async () => {
    const { rule, revision, ask } = await setUpTables(tableWith({}));
    const view = await rule(ID);
    expect(view).toMatchObject({ revision, entity: "order", rule: { kind: "route" }, since: null });
    const index = "index" in view.rule ? view.rule.index : -1;
    expect([view.pointer, view.entry]).toEqual([`/routes/${index}`, DECLARED_TABLE.routes[index]]);
    expect(view.line).toBeGreaterThan(1);
    expect(JSON.stringify(view)).not.toContain("origins");
    expect((await ask("/-/console/rule/nothing", asSupport)).status).toBe(404);
    expect((await ask(`/-/console/rule/${ID}`)).status).toBe(401);
  });

  it.each([1, 2, 3, 4])("names the revision that moved an entity, of five the one at %i", async (at) => {
    const tables = Array.from({ length: 5 }, (_, step) =>
      tableWith({
        moved: step >= at ? { [ID]: "us" } : {},
        epochFloor: step + 1,
      }),
    );
    const { rule, revision } = await setUpTables(...tables);
    expect(await rule(ID)).toMatchObject({
      pointer: `/moved/${ID}`,
      entry: "us",
      rule: { kind: "moved" },
      since: { revision: revision - 4 + at, author: `ann.${at}`, note: `step ${at}`, isExact: true },
    });
  });

  it("reads a path as requests do", async () => {
    const { rule, ask } = await setUpTables(tableWith({}));
    expect(await rule(ID, `?path=${encodeURIComponent(`/orders/${ID}`)}`)).toMatchObject({ entity: "order" });
    expect((await ask(`/-/console/rule/${ID}?path=/rides/${ID}`, asSupport)).status).toBe(422);
  });
});

describe("GET /-/console/names", () => {
  const orderOf = (country: string) => ({ entity: "order", country });
  const routes = [
    { when: orderOf("KZ"), region: "ap", canary: { region: "us", percent: 5 } },
    { when: orderOf("BR"), region: "eu" },
    // Its layout reads the text of every order.
    { when: { entity: "parcel" }, region: "eu" },
  ];
  const { orderBr, orderDe } = IDS;
  const takenOf = async (parts: object, ofCanary?: string): Promise<unknown> => {
    const { ask } = await setUpCanary(ofCanary, tableWith({ routes, ...parts }));
    return ((await (await ask("/-/console/names", asSupport)).json()) as { taken?: unknown }).taken;
  };

  it.each<[string, object, readonly string[]]>([
    ["no override", {}, []],
    ["an override of an ID that a route takes", { moved: { [orderBr]: "us" } }, []],
    ["an override of an ID that none takes", { moved: { [orderDe]: "us" } }, ["order"]],
    ["one that is gone", { gone: { [orderDe]: { epoch: 1 } } }, ["order"]],
    ["one that moves", { moves: { [orderDe]: { from: "eu", to: "us", state: "started", epoch: 1 } } }, ["order"]],
  ])("says which IDs routes take, and not where they go: %s", async (_, parts, named) => {
    const when = [{ entity: ["order"], country: "BR" }, { entity: ["order"], country: "KZ" }, { entity: ["parcel"] }];
    expect(await takenOf(parts)).toEqual({ when, named });
  });

  it("names the entities that a canary decides as a whole", async () => {
    expect(await takenOf({}, "ride")).toMatchObject({ named: ["ride"] });
  });

  it("says nothing of routes where a default takes the rest", async () => {
    expect(await takenOf({ default: "eu" })).toBeUndefined();
  });
});
