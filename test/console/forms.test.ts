import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { valuesOf } from "../../src/console/routing/forms/conditions.ts";
import { planDefault, planOrigin, planRegion, planWeights } from "../../src/console/routing/forms/places.ts";
import type { Planned } from "../../src/console/routing/forms/planned.ts";
import { planSend, planSendRegion } from "../../src/console/routing/forms/send.ts";
import { builtinLayouts } from "../../src/ids/index.ts";
import { checkTable, compileTable, resolveAny } from "../../src/routing/index.ts";
import type { DeclaredConditions, DeclaredRoute, DeclaredTable } from "../../src/routing/schema/table.ts";
import { NOW_MS } from "../routing/tables.ts";
import { runs } from "../setup/property-runs.ts";

const REGIONS = ["eu", "us", "ap"];
const TIMES = ["2024-01-01T00:00:00Z", "2025-06-01T12:00:00Z"];

const declare = (routes: readonly DeclaredRoute[], more: Partial<DeclaredTable> = {}): DeclaredTable => ({
  regions: Object.fromEntries(REGIONS.map((name) => [name, { origins: [{ url: `https://${name}.example.com` }] }])),
  countries: { KZ: 5, UZ: 6, BR: 7, DE: 8 },
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }] },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
  },
  layouts: { hotguid: { slices: { m49: { offset: 0, bits: 10, codes: "m49" } } } },
  routes: [...routes],
  ...more,
});

const format = (layout: string, values: Readonly<Record<string, number | bigint>>): string => {
  const found = builtinLayouts.get(layout);
  const words = found?.encode(values);
  if (found === undefined || !words?.ok) throw new Error(`no ${layout}`);
  return found.format(words.value);
};

const iuid = (country: number, service = 1, mintedAt = Date.parse("2025-01-01T00:00:00Z")) =>
  format("iuid", { mintedAt, country, service, random: 5n });

const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const few = <Item>(items: readonly Item[]) =>
  fc.oneof(some(items), fc.uniqueArray(some(items), { minLength: 1, maxLength: 3 }));
const keys = fc.oneof(
  some([0, 7, 1023]),
  fc.tuple(some([0, 7, 100]), some([0, 50, 1023])).map(([a, more]) => `${a}-${a + more}`),
);
const minted = some<DeclaredConditions>([
  {},
  {},
  { mintedFrom: "2024-01-01T00:00:00Z" },
  { mintedBefore: "2025-06-01T12:00:00Z" },
  { mintedFrom: "2024-01-01T00:00:00Z", mintedBefore: "2025-06-01T12:00:00Z" },
]);
/** Most can hold. */
const when: fc.Arbitrary<DeclaredConditions> = fc
  .tuple(
    fc.oneof(
      fc.record(
        { layout: some(["iuid"]), entity: few(["order", "ride"]), country: few(["KZ", "UZ", "BR", "DE"]) },
        { requiredKeys: [] },
      ),
      fc.record({ layout: some(["hotguid"]), entity: some(["parcel"]), shardKey: keys }, { requiredKeys: [] }),
    ),
    minted,
  )
  .map(([own, times]) => ({ ...own, ...times }));
const id = fc.oneof(
  fc
    .tuple(some([5, 6, 7, 8, 9]), some([1, 2]), some(TIMES), some([-1, 0]))
    .map(([country, service, time, step]) => iuid(country, service, Date.parse(time) + step)),
  fc
    .tuple(some([0, 7, 50, 1023, 5000]), some(TIMES), some([-1, 0]))
    .map(([shardKey, time, step]) =>
      format("hotguid", { mintedAt: Date.parse(time) / 1000 + step, machine: 1, process: 2, counter: 3, shardKey }),
    ),
);
const route = fc.record({ when, region: some(REGIONS) });

/** Without the routes that the check refuses. */
const mend = (table: DeclaredTable): DeclaredTable => {
  const checked = checkTable(table);
  if (checked.ok) return table;
  const faulty = new Set(checked.error.map(({ pointer }) => Number(pointer.split("/")[2])));
  return mend({ ...table, routes: table.routes.filter((_, at) => !faulty.has(at)) });
};

/** The region of each ID, by the code of the gateway. */
const regionsOf = (table: DeclaredTable, ids: readonly string[]) => {
  const compiled = compileTable(table, 1);
  return ids.map((text) => {
    const answer = resolveAny(compiled, text, NOW_MS);
    return answer.ok ? answer.value.target.region.name : answer.error.reason;
  });
};

const textOf = (table: DeclaredTable): string => JSON.stringify(table, null, 2);
const linesOf = (planned: Planned) => (planned.ok ? planned.table.routes : planned.faults);

describe("a form that sends IDs elsewhere", () => {
  it("sends these and no others, in any table", () => {
    let planned = 0;
    fc.assert(
      fc.property(
        fc.array(route, { maxLength: 8 }),
        fc.option(some(REGIONS), { nil: undefined }),
        when,
        some(REGIONS),
        fc.array(id, { minLength: 12, maxLength: 24 }),
        (routes, fallback, own, region, ids) => {
          const before = mend(declare(routes, fallback === undefined ? {} : { default: fallback }));
          const own1 = checkTable(declare([{ when: own, region: "ap" }]));
          const after = planSend(textOf(before), before, { when: own, region });
          if (!after.ok) {
            // The check of the table says the same, or all is so already.
            expect(own1.ok ? after.faults[0]?.message : "").toMatch(/^(?:Nothing changes by this\.)?$/);
            if (own1.ok) expect(before.routes).toContainEqual({ when: own, region });
            return;
          }
          planned++;
          const meant = regionsOf(declare([{ when: own, region: "ap" }]), ids).map((each) => each === "ap");
          const was = regionsOf(before, ids);
          expect(regionsOf(after.table, ids)).toEqual(was.map((each, at) => (meant[at] ? region : each)));
          expect(JSON.parse(after.text)).toEqual(after.table);
        },
      ),
      { numRuns: runs(150) },
    );
    expect(planned).toBeGreaterThan(20);
  });

  const TABLE = declare([
    { when: { layout: "iuid", country: ["KZ", "UZ"] }, region: "ap" },
    { when: { layout: "iuid", country: "BR" }, region: "us" },
    { when: { entity: "parcel", shardKey: "0-1023" }, region: "eu" },
  ]);

  it("changes the one line of the route that takes just these", () => {
    const planned = planSend(textOf(TABLE), TABLE, { when: { layout: "iuid", country: "BR" }, region: "eu" });
    expect(planned.ok && planned.text).toBe(textOf(TABLE).replace('"region": "us"', '"region": "eu"'));
  });

  it("takes a country out of the list of another route", () => {
    const planned = planSend(textOf(TABLE), TABLE, { when: { country: "UZ" }, region: "us" });
    expect(linesOf(planned).slice(0, 2)).toEqual([
      { when: { country: "UZ" }, region: "us" },
      { when: { layout: "iuid", country: ["KZ"] }, region: "ap" },
    ]);
  });

  it("replaces routes that nothing would reach", () => {
    const planned = planSend(textOf(TABLE), TABLE, { when: { country: ["BR", "KZ", "UZ"] }, region: "eu" });
    expect(linesOf(planned)).toEqual([{ when: { country: ["BR", "KZ", "UZ"] }, region: "eu" }, TABLE.routes[2]]);
  });

  it("says at the field what the check says, and nothing of pointers", () => {
    expect(planSend(textOf(TABLE), TABLE, { when: { country: "KZ" }, region: "nowhere" })).toMatchObject({
      faults: [{ field: "region", message: expect.stringContaining('There is no region "nowhere"') }],
    });
    const late = { when: { country: "KZ" }, region: "eu", isLast: true };
    expect(planSend(textOf(TABLE), TABLE, late)).toEqual({
      ok: false,
      faults: [{ field: undefined, message: expect.stringMatching(/^route 1 comes earlier and takes every ID/) }],
    });
    expect(planSend(textOf(TABLE), TABLE, { when: { shardKey: "0-99999999999" }, region: "eu" })).toMatchObject({
      faults: [{ field: "values" }],
    });
  });
});

describe("the values of a condition", () => {
  it.each([
    ["7", 7],
    ["0-1023", "0-1023"],
    // As a number it would be the key before.
    ["9007199254740993", "9007199254740993"],
    ["007", 7],
  ])("%s", (typed, value) => {
    expect(valuesOf("primaryKey", typed, declare([]))).toEqual({ ok: true, when: { primaryKey: value } });
  });
});

describe("a form that sends a region elsewhere", () => {
  const table = declare(
    [
      { when: { country: "KZ" }, region: "us", canary: { region: "eu", percent: 5 } },
      { when: { country: "UZ" }, region: "ap", shadow: { region: "us", percent: 5 } },
      { when: { entity: "parcel" }, split: { by: "hash", parts: 2, regions: ["us", "ap"] } },
    ],
    { default: "us", moved: { [iuid(5)]: "us" } },
  );
  const now = "2025-06-01T12:00:00Z";

  it("leaves nothing behind but single entities, and says so", () => {
    const planned = planSendRegion(textOf(table), table, { from: "us", to: "eu", ids: "all", now });
    expect(planned).toMatchObject({
      ok: true,
      notes: ["One single entity with an entry of their own stay in us."],
      table: {
        routes: [
          { when: { country: "KZ" }, region: "eu" },
          { when: { country: "UZ" }, region: "ap", shadow: { region: "eu", percent: 5 } },
          { when: { entity: "parcel" }, split: { by: "hash", parts: 2, regions: ["eu", "ap"] } },
        ],
        default: "eu",
      },
    });
  });

  it("sends only new IDs, and says which stay", () => {
    const planned = planSendRegion(textOf(table), table, { from: "us", to: "eu", ids: "new", now });
    expect(planned).toMatchObject({ ok: true, notes: [expect.stringContaining("Route 3"), expect.anything()] });
    const ids = [iuid(6, 1, Date.parse(now)), iuid(8, 1, Date.parse(now)), iuid(8, 1, Date.parse(now) - 1)];
    expect(planned.ok && regionsOf(planned.table, ids)).toEqual(["ap", "eu", "us"]);
  });

  it("refuses what changes nothing", () => {
    expect(planSendRegion(textOf(table), table, { from: "us", to: "us", ids: "all", now })).toMatchObject({
      faults: [{ field: "to" }],
    });
    expect(planSendRegion(textOf(declare([])), declare([]), { from: "us", to: "eu", ids: "all", now })).toMatchObject({
      faults: [{ message: "No route leads to us." }],
    });
  });
});

describe("forms of regions", () => {
  const table = declare([{ when: {}, region: "eu" }], { default: "eu" });
  const text = textOf(declare([]));

  it("adds a region, and says that no route leads there", () => {
    const asked = { name: "sa", url: "https://sa.example.com", failover: "us" };
    expect(planRegion(text, table, asked)).toMatchObject({
      ok: true,
      table: { regions: { sa: { origins: [{ url: "https://sa.example.com" }], failover: ["us"] } } },
      notes: ["No ID goes to sa before a route leads there."],
    });
    for (const [wrong, field] of [
      [{ ...asked, name: "eu" }, "name"],
      [{ ...asked, name: "9" }, "name"],
      [{ ...asked, name: "" }, "name"],
      [{ ...asked, url: "sa.example.com" }, "url"],
      [{ ...asked, url: "" }, "url"],
    ] as const) {
      expect(planRegion(text, table, wrong)).toMatchObject({ ok: false, faults: [{ field }] });
    }
  });

  it("adds an origin, drains it, and refuses to drain the last one", () => {
    const added = planOrigin(text, table, { region: "us", url: "https://us-2.example.com", weight: "50" });
    if (!added.ok) throw new Error(JSON.stringify(added));
    expect(added.table.regions["us"]?.origins[1]).toEqual({ url: "https://us-2.example.com", weight: 50 });
    const drained = planWeights(added.text, added.table, "us", ["", "0"]);
    expect(drained.ok && drained.table.regions["us"]?.origins).toEqual([
      { url: "https://us.example.com" },
      { url: "https://us-2.example.com", weight: 0 },
    ]);
    expect(planWeights(added.text, added.table, "us", ["0", "0"])).toMatchObject({ faults: [{ field: "weight-0" }] });
    expect(planWeights(added.text, added.table, "us", ["1", "many"])).toMatchObject({
      faults: [{ field: "weight-1" }],
    });
    const twice = planOrigin(text, table, { region: "us", url: "https://us.example.com", weight: "" });
    expect(twice).toMatchObject({ faults: [{ field: "url" }] });
  });

  it("sets a default, and takes it away", () => {
    const planned = planDefault(text, "us");
    expect(planned.ok && planned.table.default).toBe("us");
    expect(planned.ok && planDefault(planned.text, "")).toMatchObject({ ok: true, text });
    expect(planDefault(text, "")).toMatchObject({ faults: [{ message: "Nothing changes by this." }] });
  });
});

describe("values that one types", () => {
  const table = declare([]);
  it.each([
    ["shardKey", "0-1023, 7; 0009", { shardKey: ["0-1023", 7, 9] }],
    ["shardKey", "5 to 9", { shardKey: "5-9" }],
    ["country", "KZ", { country: "KZ" }],
    ["slices.m49", "poland, 143", { slices: { m49: [616, 143] } }],
    ["all", "", {}],
  ])("%s %j", (kind, typed, conditions) => {
    expect(valuesOf(kind, typed, table)).toEqual({ ok: true, when: conditions });
  });

  it.each([
    ["shardKey", "9-5", "9-5 is reversed: write 5-9."],
    ["shardKey", "seven", '"seven" is no number or range: write 7, or 0-1023 for a range.'],
    ["shardKey", " , ", "Say which ones."],
    ["country", "", "Choose a country."],
    ["slices.m49", "Polnad", 'There is no area "Polnad": write Poland.'],
    ["slices.m49", "999", "999 is no UN M.49 code: write the name."],
  ])("%s %j is wrong", (kind, typed, message) => {
    expect(valuesOf(kind, typed, table)).toEqual({ ok: false, message });
  });
});
