import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { planExport } from "../../src/export/plan.ts";
import { mayReadCopy, nearestCopy } from "../../src/features/copies/table/compile.ts";
import {
  type DeclaredEntity,
  type DeclaredTable,
  diffTables,
  explain,
  loadTable,
  resolveAny,
} from "../../src/routing/index.ts";
import { faultsOf, load, NOW_MS, sampleTable } from "./tables.ts";

type Copies = NonNullable<DeclaredEntity["readCopies"]>;

/** Minted 2025: Kazakhstan's are in eu until June 2026, Uzbekistan's in ap. */
const EU = "01990f04-d900-8005-8040-000000000001";
const AP = "01990f04-d900-8006-8040-000000000001";
const MOVED = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
const MOVING = "01990f04-d900-8005-8040-000000000002";

const COPIES: Copies = {
  clientCountry: { NZ: "us", CA: "eu" },
  clientContinent: { NA: "us", AS: "ap" },
  lagSeconds: 30,
};

const tableWith = (readCopies: Copies, more: Partial<DeclaredTable> = {}): DeclaredTable => {
  const table = sampleTable();
  const order = { ...table.entities["order"], readCopies } as DeclaredEntity;
  return { ...table, ...more, entities: { ...table.entities, order } };
};

const decide = (declared: DeclaredTable, id: string) => {
  const decided = resolveAny(load(declared), id, NOW_MS);
  if (!decided.ok) throw new Error(decided.error.reason);
  return decided.value;
};

const nearest = (id: string, country?: string, continent?: string, declared = tableWith(COPIES)) =>
  nearestCopy(decide(declared, id), country, () => continent)?.name;

describe("the copy that a client reads", () => {
  test.each<[id: string, country: string | undefined, continent: string | undefined, region: string | undefined]>([
    [EU, "US", "NA", "us"],
    [EU, "CA", "NA", undefined],
    [AP, "CA", "NA", "eu"],
    [EU, "NZ", "OC", "us"],
    [EU, "AU", "OC", undefined],
    [EU, "IN", "AS", "ap"],
    [AP, "IN", "AS", undefined],
    [EU, undefined, undefined, undefined],
    [EU, undefined, "AS", "ap"],
    [EU, "constructor", "__proto__", undefined],
    [MOVED, "IN", "AS", undefined],
  ])("of %s from %s, %s is in %s", (id, country, continent, region) => {
    expect(nearest(id, country, continent)).toBe(region);
  });

  it("is none for what moves, for a canary's IDs and for owners that have none", () => {
    const move = { from: "eu", to: "us", epoch: 3 };
    for (const state of ["started", "fenced"] as const) {
      const moves = { [MOVING]: { ...move, state } };
      expect(nearest(MOVING, "IN", "AS", tableWith(COPIES, { moves }))).toBeUndefined();
    }
    const when = { layout: "iuid" };
    const canary = tableWith(COPIES, { routes: [{ when, region: "us", canary: { region: "eu", percent: 100 } }] });
    expect(nearest(EU, "IN", "AS", canary)).toBeUndefined();
    const owners = tableWith({ ...COPIES, owners: ["us"] });
    expect([nearest(EU, "IN", "AS", owners), mayReadCopy(decide(owners, EU))]).toEqual([undefined, false]);
    expect(nearest(EU, "IN", "AS", tableWith({ ...COPIES, owners: ["eu"] }))).toBe("ap");
  });

  it("is of a split's own part, and of the default", () => {
    const split = { by: "hash" as const, parts: 2, regions: ["eu", "ap"] };
    const parts = tableWith(COPIES, { routes: [{ when: { layout: "iuid" }, split }] });
    for (const id of [EU, AP]) {
      const own = decide(parts, id).target.region.name;
      expect(nearest(id, "IN", "AS", parts)).toBe(own === "ap" ? undefined : "ap");
      expect(nearest(id, "CA", "NA", parts)).toBe(own === "eu" ? undefined : "eu");
    }
    const routes = [{ when: { layout: "hotguid", shardKey: "0" }, region: "eu" }];
    expect(nearest(EU, "IN", "AS", tableWith(COPIES, { routes, default: "eu" }))).toBe("ap");
  });

  it("never fails over by itself: the owner is asked instead", () => {
    const table = sampleTable();
    const regions = { ...table.regions, ap: { ...table.regions["ap"], failover: ["us"] } } as DeclaredTable["regions"];
    const copy = nearestCopy(decide(tableWith(COPIES, { regions }), EU), "IN", () => "AS");
    expect([copy?.name, copy?.failover, copy?.failoverWrites]).toEqual(["ap", [], false]);
  });

  it("is what a slow reading of the table says", () => {
    const place = fc.tuple(
      fc.constantFrom("NZ", "CA", "US", "IN", undefined),
      fc.constantFrom("NA", "AS", "EU", "OC", undefined),
    );
    fc.assert(
      fc.property(fc.constantFrom(EU, AP), place, (id, [country, continent]) => {
        const owner = id === EU ? "eu" : "ap";
        const { clientCountry, clientContinent } = COPIES as unknown as Record<string, Record<string, string>>;
        const said = clientCountry?.[country ?? ""] ?? clientContinent?.[continent ?? ""];
        expect(nearest(id, country, continent)).toBe(said === owner ? undefined : said);
      }),
    );
  });
});

describe("the check", () => {
  const near = { clientContinent: { AS: "ap" } };
  test.each<[copies: unknown, pointer: string, message: RegExp]>([
    [{ ...near }, "/lagSeconds", /missing/],
    [{ lagSeconds: 30 }, "", /No client reads/],
    [{ ...near, lagSeconds: 0 }, "/lagSeconds", /./],
    [{ ...near, lagSeconds: 86_401 }, "/lagSeconds", /./],
    [{ clientContinent: { AS: "mars" }, lagSeconds: 1 }, "/clientContinent/AS", /mars/],
    [{ clientContinent: { XX: "ap" }, lagSeconds: 1 }, "/clientContinent/XX", /./],
    [{ clientContinent: {}, lagSeconds: 1 }, "/clientContinent", /Name a region/],
    [{ clientCountry: { KAZ: "ap" }, lagSeconds: 1 }, "/clientCountry/KAZ", /ISO 3166/],
    [{ clientCountry: { KZ: "mars" }, lagSeconds: 1 }, "/clientCountry/KZ", /mars/],
    [{ ...near, lagSeconds: 1, owners: ["mars"] }, "/owners/0", /mars/],
    [{ ...near, lagSeconds: 1, owners: ["eu", "eu"] }, "/owners/1", /duplicated/],
    [{ ...near, lagSeconds: 1, owners: [] }, "/owners", /./],
    [{ ...near, lagSeconds: 1, owners: ["ap"] }, "", /only copy/],
    [{ ...near, lagSeconds: 1, countryHeader: "x-country" }, "/countryHeader", /clientCountry/],
    [{ ...near, lagSeconds: 1, afterWriteCookie: "a b" }, "/afterWriteCookie", /cookie/],
  ])("%j has a fault at %s", (copies, pointer, message) => {
    const table = sampleTable();
    const entities = { ...table.entities, order: { ...table.entities["order"], readCopies: copies } };
    const faults = faultsOf({ ...table, entities });
    expect(faults.map((fault) => fault.pointer)).toEqual([`/entities/order/readCopies${pointer}`]);
    expect(faults[0]?.message).toMatch(message);
  });
});

describe("what else shows the table", () => {
  it("explain names the regions and the lag", () => {
    const table = load(tableWith(COPIES));
    const shown = (id: string) => explain(table, id, NOW_MS).decision?.readCopies;
    expect(shown(EU)).toEqual({ regions: ["us", "ap"], lagSeconds: 30 });
    expect(shown(AP)).toEqual({ regions: ["us", "eu"], lagSeconds: 30 });
    expect(shown(MOVED)).toBeUndefined();
  });

  it("a difference is seen", () => {
    const diff = diffTables(tableWith(COPIES), tableWith({ ...COPIES, lagSeconds: 31 }));
    expect([diff.isEmpty, Object.keys(diff.entities.changed)]).toEqual([false, ["order"]]);
  });

  it("other engines leave such entities to Waybill", () => {
    const { forwarded } = planExport(tableWith(COPIES));
    expect(forwarded).toContainEqual({ what: "order at /orders/:id", why: "read copies" });
  });
});

it("the page's example is a table without faults", () => {
  const page = readFileSync(new URL("../../docs/guides/read-copies.md", import.meta.url), "utf8");
  const [, block = ""] = /^```jsonc\n(.*?)^```$/ms.exec(page) ?? [];
  const { order } = JSON.parse(`{${block}}`) as NonNullable<DeclaredTable["entities"]>;
  const table = sampleTable();
  expect(Object.keys(order?.readCopies ?? {})).toContain("lagSeconds");
  expect(loadTable({ ...table, entities: { ...table.entities, order } }, 1)).toMatchObject({ ok: true });
});
