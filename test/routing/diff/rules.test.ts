import { describe, expect, test } from "vitest";
import { diffRules } from "../../../src/routing/diff/rules.ts";
import { diffTables } from "../../../src/routing/index.ts";
import type { DeclaredRoute, DeclaredTable } from "../../../src/routing/schema/table.ts";
import { sampleTable } from "../tables.ts";

const withRoutes = (routes: DeclaredRoute[], more: Partial<DeclaredTable> = {}): DeclaredTable => ({
  ...sampleTable(),
  routes,
  ...more,
});

/** Rule before and after, entity, regions, conditions. */
const linesOf = (before: DeclaredTable, after: DeclaredTable) =>
  diffRules(before, after).changes.map(
    ({ keys, before: from, after: to }) =>
      `${from} to ${to}: ${keys.before?.entity} ${JSON.stringify(keys.where)} ${keys.before?.region} > ${keys.after?.region}`,
  );

const kz = { layout: "iuid", country: "KZ" } as const;
const both = { layout: "iuid", country: ["KZ", "UZ"] };

describe("routes that decide about changed keys", () => {
  const before = withRoutes([
    { when: both, region: "ap" },
    { when: { layout: "iuid", country: "BR" }, region: "us" },
  ]);

  test("a route that sends all of its IDs elsewhere is whole", () => {
    const after = withRoutes([{ when: both, region: "eu" }, ...before.routes.slice(1)]);
    expect(linesOf(before, after)).toEqual([
      '0 to 0: order {"country":"KZ, UZ"} ap > eu',
      '0 to 0: ride {"country":"KZ, UZ"} ap > eu',
    ]);
    expect([...diffRules(before, after).whole]).toEqual([0]);
  });

  test("a route in front takes a part, and the other one is not whole", () => {
    const after = withRoutes([{ when: kz, region: "eu" }, ...before.routes]);
    const { changes, whole } = diffRules(before, after);
    expect(changes.map(({ before: from, after: to }) => [from, to])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect([...whole]).toEqual([]);
  });

  test("IDs that another route sends to the same region are no change, and leave their route only in part", () => {
    const after = withRoutes([
      { when: kz, region: "ap" },
      { when: { layout: "iuid", country: "UZ" }, region: "eu" },
      ...before.routes.slice(1),
    ]);
    const { changes, whole } = diffRules(before, after);
    expect(changes.map(({ keys, before: from, after: to }) => [from, to, keys.where["country"]])).toEqual([
      [0, 1, "UZ"],
      [0, 1, "UZ"],
    ]);
    expect([...whole]).toEqual([]);
  });

  test("the default is a rule, and its absence is none", () => {
    expect(linesOf(before, { ...before, default: "eu" })[0]).toMatch(/^undefined to default: /);
    const changed = diffRules({ ...before, default: "us" }, { ...before, default: "eu" });
    expect([...changed.whole]).toEqual(["default"]);
  });

  test("routes that only change their places change nothing", () => {
    expect(diffRules(before, withRoutes(before.routes.toReversed()))).toEqual({ changes: [], whole: new Set() });
  });

  test("the keys are those of the difference of the tables", () => {
    const after = withRoutes([{ when: kz, region: "us", canary: { region: "eu", percent: 5 } }, ...before.routes], {
      default: "eu",
    });
    const counted = (all: readonly { readonly keys: string }[]) =>
      all.reduce((sum, { keys }) => sum + BigInt(keys), 0n);
    const { changes } = diffRules(before, after);
    expect(counted(changes.map(({ keys }) => keys))).toBe(counted(diffTables(before, after).keys));
  });
});
