import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { percentMoved, routeOutcome } from "../../../src/routing/diff/outcome.ts";
import { diffTables, resolveAny } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";

type Shares = Partial<Pick<DeclaredTable["routes"][number], "region" | "canary" | "shadow">>;

/** The sample with other shares on the route of HotGuids with low shard keys, to `eu`. */
const parcels = (shares: Shares): DeclaredTable => {
  const { routes, ...table } = sampleTable();
  return {
    ...table,
    routes: routes.with(2, { when: { layout: "hotguid", shardKey: "0-1023" }, region: "eu", ...shares }),
  };
};

const to = (region: string, percent: number) => ({ region, percent });
const parcel = (region: string, canary?: object) => ({
  entity: "parcel",
  region,
  ...(canary === undefined ? {} : { canary }),
});

describe("a canary that differs", () => {
  test.each<[string, Shares, Shares, object, object, number | undefined]>([
    ["begins", {}, { canary: to("us", 5) }, parcel("eu"), parcel("eu", to("us", 5)), 5],
    [
      "grows",
      { canary: to("us", 5) },
      { canary: to("us", 25) },
      parcel("eu", to("us", 5)),
      parcel("eu", to("us", 25)),
      20,
    ],
    [
      "shrinks",
      { canary: to("us", 25) },
      { canary: to("us", 5) },
      parcel("eu", to("us", 25)),
      parcel("eu", to("us", 5)),
      20,
    ],
    ["is aborted", { canary: to("us", 25) }, {}, parcel("eu", to("us", 25)), parcel("eu"), 25],
    ["takes all", { canary: to("us", 25) }, { canary: to("us", 100) }, parcel("eu", to("us", 25)), parcel("us"), 75],
    ["takes all at once", {}, { canary: to("us", 100) }, parcel("eu"), parcel("us"), undefined],
    [
      "leads to another region",
      { canary: to("us", 25) },
      { canary: to("ap", 10) },
      parcel("eu", to("us", 25)),
      parcel("eu", to("ap", 10)),
      25,
    ],
    [
      "stays while the route's region changes",
      { canary: to("us", 30) },
      { region: "ap", canary: to("us", 30) },
      parcel("eu", to("us", 30)),
      parcel("ap", to("us", 30)),
      70,
    ],
    [
      "changes places with the route's region",
      { canary: to("us", 50) },
      { region: "us", canary: to("eu", 50) },
      parcel("eu", to("us", 50)),
      parcel("us", to("eu", 50)),
      undefined,
    ],
  ])("%s", (_, left, right, before, after, percent) => {
    const { keys, isEmpty } = diffTables(parcels(left), parcels(right));
    expect(isEmpty).toBe(false);
    expect(keys).toMatchObject([{ where: { shardKey: "0-1023" }, keys: "1024", before, after }]);
    expect(keys.map((change) => change.percent)).toEqual([percent]);
  });

  test.each<[string, Shares, Shares]>([
    ["is prepared with a share of nothing", {}, { canary: to("us", 0) }],
    ["took all, and is the route's own region now", { canary: to("us", 100) }, { region: "us" }],
    ["is a shadow", {}, { shadow: to("us", 50) }],
  ])("leads no ID elsewhere where it %s, and the tables still differ", (_, left, right) => {
    const diff = diffTables(parcels(left), parcels(right));
    expect([diff.keys, diff.isEmpty, diff.routes.differ]).toEqual([[], false, true]);
    expect(diff.shares).toHaveLength(1);
  });

  test("stands by its route, whatever the route's place", () => {
    const before = parcels({ canary: to("us", 5), shadow: to("ap", 1) });
    const grown = parcels({ canary: to("us", 10) });
    const after = {
      ...grown,
      routes: [{ when: { entity: "ride" }, region: "ap", canary: to("us", 1) }, ...grown.routes],
    };
    expect(diffTables(before, after).shares).toEqual([
      { part: "canary", before: undefined, after: { route: "/routes/0", region: "us", percent: 1 } },
      {
        part: "canary",
        before: { route: "/routes/2", region: "us", percent: 5 },
        after: { route: "/routes/3", region: "us", percent: 10 },
      },
      { part: "shadow", before: { route: "/routes/2", region: "ap", percent: 1 }, after: undefined },
    ]);
    expect(diffTables(before, before)).toMatchObject({ isEmpty: true, shares: [], keys: [] });
  });
});

test("the percent of IDs that go elsewhere is that of IDs that do", () => {
  const region = fc.constantFrom("eu", "us", "ap");
  const percent = fc.oneof(fc.constantFrom(0, 100), fc.integer({ min: 0, max: 100 }));
  const shares = fc
    .record({ region, canary: fc.option(fc.record({ region, percent }), { nil: undefined }) })
    .map(({ region: own, canary }) =>
      canary === undefined || canary.region === own ? { region: own } : { region: own, canary },
    );
  const ids = Array.from(
    { length: 1000 },
    (_, n) => `6347eb00-bbaa-01cc-0201-${n.toString(16).padStart(4, "0")}d0000000`,
  );
  const regionsIn = (own: Shares): readonly string[] => {
    const table = load({ ...parcels(own), moved: {} });
    return ids.map((id) => {
      const found = resolveAny(table, id, NOW_MS);
      if (!found.ok) throw new Error(JSON.stringify(found.error));
      return found.value.target.region.name;
    });
  };
  fc.assert(
    fc.property(shares, shares, (left, right) => {
      const before = regionsIn(left);
      const after = regionsIn(right);
      const moved = before.filter((own, at) => own !== after[at]).length / 10;
      const [from, target] = [left, right].map((own: Shares) => routeOutcome(own.region, own.canary));
      if (from === undefined || target === undefined) throw new Error("two goals");
      expect(Math.abs(moved - percentMoved(from, target))).toBeLessThan(6);
      if (percentMoved(from, target) === 0) expect(moved).toBe(0);
      const [change] = diffTables(parcels(left), parcels(right)).keys;
      expect(change === undefined ? 0 : (change.percent ?? 100)).toBe(percentMoved(from, target));
    }),
    { numRuns: runs(30) },
  );
});
