import { describe, expect, it } from "vitest";
import { planExport } from "../../../src/export/plan.ts";
import type { Directory } from "../../../src/features/directory/port.ts";
import type { KeyAnswer } from "../../../src/features/directory/table/compile.ts";
import type { Packs } from "../../../src/features/packs/port.ts";
import { destinationOf, replay } from "../../../src/features/replay/serve.ts";
import {
  type DecideInput,
  decideAny,
  decideEntity,
  decidePath,
  type Outcome,
  type TableCanary,
} from "../../../src/gateway/decide.ts";
import { explainId } from "../../../src/gateway/explain-id.ts";
import { decideLoading } from "../../../src/gateway/loading.ts";
import { err, ok } from "../../../src/ids/result.ts";
import { type CompiledTable, type DeclaredTable, diffTables, selectorTest } from "../../../src/routing/index.ts";
import { faultsOf, load } from "../tables.ts";

const UUID = "919108f7-52d1-4320-9bac-f847db4148a8";
const NEW = "0192f0c1-7a30-7005-8040-8f3b2a1c9d78";
const NOW_MS = Date.parse("2026-11-23T10:00:00Z");

const TABLE = {
  regions: { eu: { origins: [{ url: "http://eu.test" }] }, us: { origins: [{ url: "http://us.test" }] } },
  entities: {
    shop: { path: ["/shops/:id", "/s/:id/*"], directory: "slug" },
    order: { path: "/orders/:id", ids: [{ layout: "uuid-v4" }, { layout: "uuid-v7" }] },
  },
  directory: { slug: { key: { text: "lower" } }, old: { key: { layout: "uuid-v4" } } },
  routes: [
    { when: { layout: "uuid-v4" }, directory: "old" },
    { when: {}, region: "us" },
  ],
};
type Loose = Record<string, unknown>;
const withPart = (...changes: readonly (readonly [place: string, value: unknown])[]): Loose => {
  const table = structuredClone(TABLE) as Loose;
  for (const [place, value] of changes) {
    const keys = place.split("/");
    const last = keys.pop() as string;
    const parent = keys.reduce((at, key) => at[key] as Loose, table);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return table;
};

const inputOf = (table: CompiledTable, over: Partial<DecideInput> = {}): DecideInput => ({
  tables: { table, canary: undefined },
  ports: { publicIds: { open: () => ok(undefined) } },
  layoutName: undefined,
  nowMs: NOW_MS,
  ...over,
});

/** Decides with a directory that holds these keys, and notes what was looked up. */
const decideBy = (keys: Readonly<Record<string, string>>, decide: (found: DecideInput["found"]) => Outcome) => {
  const asked: string[] = [];
  const directory: Directory = {
    compared: () => undefined,
    forget: async () => undefined,
    forgetMany: () => undefined,
    lookup: async ({ name }: { readonly name: string }, key: string) => {
      asked.push(`${name} ${key}`);
      const region = keys[`${name} ${key}`];
      return ok<KeyAnswer & { source: "object" }>(
        region === undefined ? { state: "absent", source: "object" } : { state: "found", region, source: "object" },
      );
    },
  };
  const packs: Packs = {
    open: async () => ok(undefined),
    load: async () => err({ reason: "table-unavailable", why: "none" } as const),
  };
  const outcome = decideLoading<Outcome>({ packs, directory }, decide);
  return outcome.then((decided) => ({
    asked,
    shown:
      decided.kind === "region"
        ? [decided.decision.entity.name, decided.decision.target.region.name, decided.path, decided.byCanary]
        : [decided.kind, decided.kind === "error" ? decided.error.reason : ""],
  }));
};

describe("a decision by a directory", () => {
  const table = load(TABLE as never);
  const keys = { "slug münchen": "eu", "slug a/b": "eu", [`old ${UUID}`]: "eu" };

  it.each([
    ["/shops/M%C3%BCnchen/items", ["shop", "eu", "/shops/M%C3%BCnchen/items", false], ["slug münchen"]],
    ["/s/none/items", ["error", "unknown-key"], ["slug none"]],
    [`/orders/${UUID}`, ["order", "eu", `/orders/${UUID}`, false], [`old ${UUID}`]],
    [`/orders/${NEW}`, ["order", "us", `/orders/${NEW}`, false], []],
    ["/shops/a%2Fb", ["error", "malformed-key"], []],
  ])("%s", async (path, shown, asked) => {
    const decided = await decideBy(keys, (found) => decidePath(inputOf(table, { found }), path));
    expect(decided).toEqual({ asked, shown });
  });

  it("is the same under /any, of an ID from elsewhere, and for an explanation", async () => {
    const any = await decideBy(keys, (found) => decideAny(inputOf(table, { found }), `/any/${UUID}/items`));
    expect(any).toEqual({ asked: [`old ${UUID}`], shown: ["order", "eu", `/orders/${UUID}/items`, false] });
    const own = await decideBy(keys, (found) => decideEntity(inputOf(table, { found }), "order", UUID));
    expect(own.shown).toEqual(["order", "eu", `/orders/${UUID}`, false]);
    const text = await decideBy(keys, (found) => decideEntity(inputOf(table, { found }), "shop", "MÜNCHEN"));
    expect(text.shown).toEqual(["shop", "eu", "/shops/M%C3%9CNCHEN", false]);
    for (const bad of ["a/b", "\ud800", ""]) {
      const refused = await decideBy(keys, (found) => decideEntity(inputOf(table, { found }), "shop", bad));
      expect(refused.shown[0], bad).toBe("error");
    }
    const need = explainId(inputOf(table), UUID, true);
    expect(need).toMatchObject({ kind: "load", missing: { key: UUID, plan: { name: "old" } } });
  });

  it("names no key under /any that is a text", () => {
    expect(decideAny(inputOf(table), "/any/münchen")).toMatchObject({
      kind: "error",
      error: { reason: "malformed-id" },
    });
  });

  it("follows what the table says of one ID alone", async () => {
    const moved = load({ ...TABLE, moved: { [UUID]: "us" } } as never);
    const decided = await decideBy(keys, (found) => decidePath(inputOf(moved, { found }), `/orders/${UUID}`));
    expect(decided).toEqual({ asked: [], shown: ["order", "us", `/orders/${UUID}`, false] });
  });

  it("is the canary's for its part of the keys, and each table asks its own directory", async () => {
    const next = load(withPart(["routes/0", { when: { layout: "uuid-v4" }, region: "us" }]) as never, 2);
    const canary: TableCanary = { table: next, matches: () => true, ownsEntity: () => false };
    const decided = await decideBy(keys, (found) =>
      decidePath(inputOf(table, { tables: { table, canary }, found }), `/orders/${UUID}`),
    );
    expect(decided).toEqual({ asked: [`old ${UUID}`], shown: ["order", "us", `/orders/${UUID}`, true] });
    const share = selectorTest(table, { share: 50 });
    const found = new Map<string, KeyAnswer>();
    let taken = 0;
    for (let at = 0; at < 2_000; at++) {
      found.set(`slug shop-${at}`, { state: "found", region: "eu", source: "object" });
      const outcome = decidePath(inputOf(table, { found }), `/shops/shop-${at}`);
      if (outcome.kind === "region" && share(outcome.decision)) taken++;
    }
    expect(Math.abs(taken - 1_000)).toBeLessThan(120);
  });

  it("passes nothing over: a decision that does not take what was found is a defect", async () => {
    await expect(decideBy(keys, () => decidePath(inputOf(table), `/orders/${UUID}`))).rejects.toThrow("passes over");
  });
});

describe("the modes", () => {
  const former = { shops: { path: ["/shops/**"], sources: [{ region: "eu" }] } };
  const inMode = (mode: string) =>
    load(withPart(["directory/old/mode", mode], ["directory/slug/mode", mode], ["withoutId", former]) as never);

  it.each(["write-only", "verify"])("%s: the rest of the table decides", async (mode) => {
    const table = inMode(mode);
    expect(decidePath(inputOf(table), "/shops/a")).toMatchObject({ kind: "without-id" });
    expect(decidePath(inputOf(table), `/orders/${UUID}`)).toMatchObject({
      decision: { target: { region: { name: "us" } } },
    });
    expect(table.verified === undefined).toBe(mode === "write-only");
    const { verified } = table;
    if (verified !== undefined)
      expect(decidePath(inputOf(verified), `/orders/${UUID}`)).toMatchObject({ kind: "load" });
  });

  it("differ in a diff by the keys that they route, and in nothing else", () => {
    const [before, after] = [withPart(["directory/old/mode", "write-only"]), TABLE] as unknown as [
      DeclaredTable,
      DeclaredTable,
    ];
    const diff = diffTables(before, after);
    expect(diff.isEmpty).toBe(false);
    expect(diff.keys).toMatchObject([{ layout: "uuid-v4", before: { region: "us" }, after: { directory: "old" } }]);
    expect(diff.entities).toEqual({ added: {}, removed: {}, changed: {} });
    expect(diffTables(after, after).isEmpty).toBe(true);
  });
});

it("is left to Waybill by exports, and open in a replay", () => {
  const plan = planExport(withPart() as unknown as DeclaredTable);
  expect(plan.forwarded).toEqual(
    expect.arrayContaining([
      { what: "shop at /shops/:id", why: "keys of a directory" },
      { what: "route 0", why: "a directory" },
    ]),
  );
  const table = load(TABLE as never);
  for (const path of [`/orders/${UUID}`, "/shops/a"]) {
    const request = { method: "GET", path };
    expect(destinationOf(table, request, NOW_MS)).toMatchObject({ kind: "open", why: "directory" });
    expect(replay(table, table, request, NOW_MS).verdict).toBe("open");
  }
});

describe("a table at fault", () => {
  it.each<readonly [string, Loose, string, string]>([
    [
      "an unknown directory of an entity",
      withPart(["entities/shop/directory", "slugs"]),
      "/entities/shop/directory",
      'write "slug"',
    ],
    ["an unknown directory of a route", withPart(["routes/0/directory", "olds"]), "/routes/0/directory", 'write "old"'],
    [
      "neither IDs nor a directory",
      withPart(["entities/shop/directory", undefined]),
      "/entities/shop/ids",
      "at least one layout",
    ],
    [
      "IDs and a directory",
      withPart(["entities/shop/ids", [{ layout: "iuid" }]]),
      "/entities/shop/directory",
      "remove one",
    ],
    [
      "a directory of IDs for an entity",
      withPart(["entities/shop/directory", "old"]),
      "/entities/shop/directory",
      "name it in a route",
    ],
    [
      "a directory of texts for a route",
      withPart(["routes/0/directory", "slug"]),
      "/routes/0/directory",
      "Its keys are texts",
    ],
    ["a route without the layout", withPart(["routes/0/when", {}]), "/routes/0/when", '"layout": "uuid-v4"'],
    [
      "a route with another layout too",
      withPart(["routes/0/when/layout", ["uuid-v4", "uuid-v7"]]),
      "/routes/0/when",
      "alone",
    ],
    ["two destinations", withPart(["routes/0/region", "eu"]), "/routes/0/directory", "remove"],
    [
      "a canary of a directory",
      withPart(["routes/0/canary", { region: "eu", percent: 5 }]),
      "/routes/0/canary",
      "Only a route with a region",
    ],
    [
      "an unknown layout of keys",
      withPart(["directory/old/key/layout", "uuidv4"]),
      "/directory/old/key/layout",
      "uuid-v4",
    ],
    ["keys that are LUUIDs", withPart(["directory/old/key/layout", "luuid"]), "/directory/old/key/layout", "short key"],
    ["an unknown form", withPart(["directory/slug/key/text", "trim"]), "/directory/slug/key/text", "nfc"],
    [
      "an unknown default region",
      withPart(["directory/slug/onFailure", { region: "ap" }]),
      "/directory/slug/onFailure/region",
      "ap",
    ],
    ["an unknown member", withPart(["directory/slug/ttl", 5]), "/directory/slug/ttl", "not allowed"],
    ["public IDs of keys", withPart(["entities/shop/public", true]), "/entities/shop/public", "no public ID"],
    ["creation of keys", withPart(["entities/shop/create", {}]), "/entities/shop/create", "claimed"],
    [
      "a layout in the path of keys",
      withPart(["entities/shop/path", { path: "/shops/:id", layout: "iuid" }]),
      "/entities/shop/path",
      "no layout",
    ],
    [
      "public IDs of the layout",
      withPart(["entities/order/public", true], ["entities/order/ids", [{ layout: "uuid-v4" }]]),
      "/routes/0/directory",
      "public IDs",
    ],
    [
      "a route for an entity of keys",
      withPart(["routes/1/when", { entity: "shop" }]),
      "/routes/1/when/entity",
      'the directory "slug" says the regions of its keys',
    ],
    [
      "a route for an entity of keys, by a layout",
      withPart(["routes/1/when", { entity: "shop", layout: "uuid-v7" }]),
      "/routes/1/when/entity",
      '"shop" has no IDs',
    ],
  ])("%s", (_name, table, pointer, sentence) => {
    const faults = faultsOf(table as never);
    expect(faults.map((fault) => fault.pointer)).toContain(pointer);
    expect(faults.find((fault) => fault.pointer === pointer)?.message).toContain(sentence);
  });

  it("has two layouts of one text of which a directory has one", () => {
    const ids = [{ layout: "uuid-v4" }, { layout: "hotguid" }];
    expect(faultsOf(withPart(["entities/order/ids", ids]) as never).map(({ kind }) => kind)).toContain(
      "indistinguishable-layouts",
    );
  });

  it("is none where a directory to verify is not looked up yet", () => {
    const routes = [...TABLE.routes, { when: { layout: "uuid-v4" }, region: "eu" }];
    expect(faultsOf(withPart(["routes", routes], ["directory/old/mode", "verify"]) as never)).not.toEqual([]);
    const first = [TABLE.routes[0], { when: { layout: "uuid-v4" }, region: "eu" }, TABLE.routes[1]];
    expect(faultsOf(withPart(["routes", first], ["directory/old/mode", "verify"]) as never)).toEqual([]);
    expect(faultsOf(withPart(["routes", first]) as never)).toMatchObject([{ kind: "unreachable-route" }]);
  });
});
