import { expect, test } from "vitest";
import { explain } from "../../../src/routing/index.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";

const sample = load(sampleTable());

test("an ID is read in every layout, with the reasons for and against each, and led to its region", () => {
  const explanation = explain(sample, "6347EB00-BBAA-01CC-0201-0203D0000000", NOW_MS);
  expect(explanation).toMatchObject({
    text: "6347EB00-BBAA-01CC-0201-0203D0000000",
    decision: {
      entity: "parcel",
      layout: "hotguid",
      region: "eu",
      rule: { kind: "route", index: 2 },
      path: "/parcels/6347EB00-BBAA-01CC-0201-0203D0000000",
    },
    error: undefined,
    forms: [
      { layout: "hotguid", form: "uuid", text: "6347eb00-bbaa-01cc-0201-0203d0000000" },
      { layout: "hotguid", form: "hex", text: "6347eb00bbaa01cc02010203d0000000" },
      { layout: "hotguid", form: "hotguid-sql", text: "000000d0-0302-0102-01cc-6347eb00bbaa" },
    ],
  });
  expect(explanation.candidates).toEqual([
    expect.objectContaining({ layout: "iuid", entity: undefined, excluded: true, region: undefined }),
    expect.objectContaining({ layout: "luuid", excluded: true }),
    {
      layout: "hotguid",
      form: "uuid",
      entity: "parcel",
      fields: { mintedAt: "1665657600", machine: "11189196", process: "258", counter: "66051", shardKey: "208" },
      mintedAt: "2022-10-13T10:40:00.000Z",
      for: ["minted 2022-10-13T10:40:00.000Z, inside of the window from 2000-01-01T00:00:00.000Z"],
      against: ["no bit is fixed, so nothing in the text marks this layout"],
      excluded: false,
      region: "eu",
      rule: { kind: "route", index: 2 },
    },
  ]);
  expect(explanation.candidates[0]?.against).toContain("version is 0, and it is always 8");
});

test("the times of a layout speak against it when they are outside of its window", () => {
  const [iuid, , hotguid] = explain(sample, "01990f04-d900-8005-8040-000000000001", NOW_MS).candidates;
  expect(iuid).toMatchObject({
    for: [
      "fixed bits version=8, formatVersion=0, variant=2 match (10 bits)",
      "minted 2025-09-03T10:00:00.000Z, inside of the window from 2000-01-01T00:00:00.000Z",
      "service 1 is order",
    ],
    against: [],
  });
  expect(hotguid).toMatchObject({
    excluded: true,
    against: expect.arrayContaining([expect.stringMatching(/^minted 1970-.*, before 2000-01-01T00:00:00.000Z$/)]),
  });
  const early = explain(sample, "01990f04-d900-8005-8040-000000000001", Date.UTC(2025, 0, 1)).candidates[0];
  expect(early?.against).toEqual(["minted 2025-09-03T10:00:00.000Z, after 2025-01-02T00:00:00.000Z"]);
});

test("a short key is shown for each group, and needs its path", () => {
  const { candidates, forms, error } = explain(sample, "23122e", NOW_MS);
  expect(candidates).toMatchObject([
    {
      layout: "luuid-short",
      entity: "person",
      excluded: true,
      region: "us",
      rule: { kind: "moved" },
      fields: { primaryKey: "2298414", group: "3339" },
    },
  ]);
  expect(forms).toEqual([]);
  expect(error).toMatchObject({ reason: "malformed-id" });
});

test("an LUUID has its short key among its forms", () => {
  const { forms } = explain(sample, "00000023-122e-6d0b-a789-28ef27ab7c62", NOW_MS);
  expect(forms).toContainEqual({ layout: "luuid", form: "short-key", text: "23122e" });
});

test.each([
  "6347eb00-bbaa-01cc-0201-0203d0000000",
  "ffffffff-ffff-6fff-afff-ffffffffffff",
  "23122e",
  "x",
  "",
  "0".repeat(200),
])("what is said of %.40j is plain JSON", (text) => {
  const explanation = explain(sample, text, NOW_MS);
  expect(JSON.parse(JSON.stringify(explanation))).toEqual(JSON.parse(JSON.stringify(explanation)));
  expect(explanation).toEqual(JSON.parse(JSON.stringify(explanation)) as unknown);
  expect((explanation.decision === undefined) !== (explanation.error === undefined)).toBe(true);
});

const KZ = "01990f04-d900-8005-8040-000000000001";

test.each([
  [
    { moves: { [KZ]: { from: "ap", to: "us", state: "fenced", epoch: 2 } } },
    { region: "ap", rule: { kind: "moving" }, move: { state: "fenced", epoch: 2, to: "us" } },
  ],
  [
    { moved: { [KZ]: { region: "us", epoch: 3 } } },
    { region: "us", rule: { kind: "moved" }, move: { state: "moved", epoch: 3, to: "us" } },
  ],
])("a move is shown with its state and its epoch: %j", (override, way) => {
  const { candidates, decision } = explain(load({ ...sampleTable(), ...override }), KZ, NOW_MS);
  expect(decision).toMatchObject(way);
  expect(candidates[0]).toMatchObject(way);
});

test("an entry without an epoch shows none", () => {
  const { decision } = explain(load({ ...sampleTable(), moved: { [KZ]: "us" } }), KZ, NOW_MS);
  expect(decision).toMatchObject({ region: "us", rule: { kind: "moved" } });
  expect(decision).not.toHaveProperty("move");
});

test("a tombstone leads nowhere, and says so", () => {
  const { candidates, decision, error } = explain(load({ ...sampleTable(), gone: { [KZ]: { epoch: 4 } } }), KZ, NOW_MS);
  expect(decision).toBeUndefined();
  expect(error).toEqual({ reason: "entity-gone", id: KZ, entity: "order" });
  expect(candidates[0]).toMatchObject({ entity: "order", excluded: false, region: undefined, rule: { kind: "gone" } });
});

test("a decision names the shadow of its route, and nothing where there is none", () => {
  const table = sampleTable();
  const routes = table.routes.map((route, index) =>
    index === 2 ? { ...route, shadow: { region: "us", percent: 7 } } : route,
  );
  const shadowOf = (declared: ReturnType<typeof sampleTable>) =>
    explain(load(declared), "6347eb00-bbaa-01cc-0201-0203d0000000", NOW_MS).decision;
  expect(shadowOf({ ...table, routes })?.shadow).toEqual({ region: "us", percent: 7 });
  expect(shadowOf(table)).not.toHaveProperty("shadow");
});
