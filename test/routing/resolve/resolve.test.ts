import { describe, expect, test } from "vitest";
import type { Result } from "../../../src/ids/index.ts";
import type { RoutingError } from "../../../src/routing/errors.ts";
import { resolveAny, resolvePath } from "../../../src/routing/index.ts";
import type { CompiledTable, IdDecision } from "../../../src/routing/table.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";

const IUID_KZ_ORDER = "01990f04-d900-8005-8040-000000000001";
const IUID_KZ_RIDE = "01990f04-d900-8005-8080-000000000001";
const IUID_OTHER_SERVICE = "01990f04-d900-8005-80c0-000000000001";
const HOTGUID_KEY_208 = "6347eb00-bbaa-01cc-0201-0203d0000000";
const PERSON = "00000000-2078-6d0b-a000-00000000abcd";
const MOVED_PERSON = "00000023-122e-6d0b-a789-28ef27ab7c62";

const sample = load(sampleTable());

const onPath = (table: CompiledTable, path: string, nowMs = NOW_MS): Result<IdDecision, RoutingError> => {
  const match = table.paths.match(path);
  if (match === undefined) throw new Error(`no entity has the path ${path}`);
  return resolvePath(table, match, path, nowMs);
};

/** Entity, layout, region and rule in one line; or the reason. */
const say = (result: Result<IdDecision, RoutingError>): string => {
  if (!result.ok) return result.error.reason;
  const { entity, layout, target } = result.value;
  const rule = target.rule.kind === "route" ? `route ${target.rule.index}` : target.rule.kind;
  return `${entity.name} ${layout} ${target.region.name} ${rule}`;
};

describe("on an entity's path", () => {
  test.each([
    [`/orders/${IUID_KZ_ORDER}`, "order iuid eu route 0"],
    [`/orders/${IUID_KZ_ORDER.toUpperCase()}/events`, "order iuid eu route 0"],
    [`/v2/x/rides/${IUID_KZ_RIDE}`, "ride iuid eu route 0"],
    [`/parcels/${HOTGUID_KEY_208}`, "parcel hotguid eu route 2"],
    [`/person/${PERSON}`, "person luuid eu route 4"],
    ["/person/2078", "person luuid-short eu route 4"],
    ["/person/2078/x", "person luuid-short eu route 4"],
    ["/person/23122e", "person luuid-short us moved"],
    [`/person/${MOVED_PERSON}`, "person luuid us moved"],
    ["/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d77", "order iuid us moved"],
    ["/orders/0192F0C1-7A30-8005-8040-8F3B2A1C9D77", "order iuid us moved"],
    [`/orders/${IUID_KZ_RIDE}`, "wrong-entity"],
    [`/orders/${IUID_OTHER_SERVICE}`, "wrong-entity"],
    [`/orders/${HOTGUID_KEY_208}`, "wrong-entity"],
    [`/parcels/${IUID_KZ_ORDER}`, "wrong-entity"],
    ["/person/00000000-2078-6d0c-a000-00000000abcd", "wrong-entity"],
    ["/orders/00000000-2078-6d0c-a000-00000000abcd", "unknown-id"],
    ["/orders/f47ac10b-58cc-4372-a567-0e02b2c3d479", "unknown-id"],
    ["/orders/01990f04-d900-8001-8040-000000000001", "unassigned-key"],
    ["/parcels/6347eb00-bbaa-01cc-0201-020300040000", "unassigned-key"],
    ["/orders/2078", "malformed-id"],
    ["/person/02078", "malformed-id"],
    ["/person/2078G", "malformed-id"],
    ["/person/2078F", "malformed-id"],
    ["/person/1234567890abc", "malformed-id"],
    ["/person/%32078", "malformed-id"],
    [`/orders/%30${IUID_KZ_ORDER.slice(1)}`, "malformed-id"],
    [`/orders/${IUID_KZ_ORDER}%2Fx`, "malformed-id"],
    [`/orders/{${IUID_KZ_ORDER}}`, "malformed-id"],
    [`/orders/${IUID_KZ_ORDER};v=1`, "malformed-id"],
    [`/orders/${"0".repeat(100_000)}`, "malformed-id"],
  ])("%.60s is %s", (path, expected) => {
    expect(say(onPath(sample, path))).toBe(expected);
  });

  test("the decision carries the text of the request and the bits of the ID", () => {
    expect(onPath(sample, `/orders/${IUID_KZ_ORDER.toUpperCase()}/x`)).toMatchObject({
      value: { id: IUID_KZ_ORDER.toUpperCase(), words: [0x01990f04, 0xd9008005, 0x80400000, 1] },
    });
    expect(onPath(sample, "/person/2078")).toMatchObject({
      value: { id: "2078", words: [0, 0x20786d0b, 0xa0000000, 0] },
    });
  });

  test("one route's target is one object, so that a look-up makes none", () => {
    const [one, other] = [onPath(sample, `/orders/${IUID_KZ_ORDER}`), onPath(sample, `/rides/${IUID_KZ_RIDE}`)];
    expect(one.ok && other.ok && one.value.target === other.value.target).toBe(true);
    expect(one.ok && Object.isFrozen(one.value.target)).toBe(true);
  });

  test("a wrong entity names the right one", () => {
    expect(onPath(sample, `/orders/${IUID_KZ_RIDE}`)).toMatchObject({
      error: { entity: "order", candidates: [{ entity: "ride", layout: "iuid", region: "eu", excluded: false }] },
    });
  });

  test("an unassigned key says what it is, slices included", () => {
    expect(onPath(sample, "/parcels/6347eb00-bbaa-01cc-0201-020300040000")).toMatchObject({
      error: {
        entity: "parcel",
        layout: "hotguid",
        key: { shardKey: "1024", "slices.m49": "0", "slices.partition": "1024", mintedAt: "2022-10-13T10:40:00.000Z" },
      },
    });
    expect(onPath(sample, "/orders/01990f04-d900-8001-8040-000000000001")).toMatchObject({
      error: { key: { country: "1", service: "1", mintedAt: "2025-09-03T10:00:00.000Z" } },
    });
  });

  test("a malformed ID says why for each layout of the entity, short keys included", () => {
    expect(onPath(sample, "/person/2078F")).toMatchObject({
      error: {
        faults: [
          { layout: "luuid", error: { reason: "length" } },
          { layout: "luuid-short", error: { reason: "alphabet", at: 4 } },
        ],
      },
    });
  });
});

describe("time", () => {
  const cutOver = load({
    ...sampleTable(),
    moved: {},
    routes: [
      { when: { layout: "iuid", mintedBefore: "2025-09-03T10:00:00Z" }, region: "eu" },
      {
        when: { layout: "iuid", mintedFrom: "2025-09-03T10:00:00Z", mintedBefore: "2025-09-03T10:00:00.001Z" },
        region: "us",
      },
      { when: { layout: "iuid" }, region: "ap" },
    ],
  });

  test.each([
    ["01990f04-d8ff-8005-8040-000000000001", "order iuid eu route 0"],
    ["01990f04-d900-8005-8040-000000000001", "order iuid us route 1"],
    ["01990f04-d901-8005-8040-000000000001", "order iuid ap route 2"],
  ])("the beginning of a span belongs to it and its end does not: %s", (id, expected) => {
    expect(say(onPath(cutOver, `/orders/${id}`))).toBe(expected);
  });

  test("an ID may be minted up to a day ahead of the gateway's clock, and not later", () => {
    const mintedMs = Date.UTC(2025, 8, 3, 10);
    const path = `/orders/${IUID_KZ_ORDER}`;
    expect(say(onPath(sample, path, mintedMs - 86_400_000))).toBe("order iuid eu route 0");
    expect(say(onPath(sample, path, mintedMs - 86_400_001))).toBe("unknown-id");
  });

  test("the window begins at its first millisecond", () => {
    const from = (time: string) =>
      load({
        ...sampleTable(),
        moved: {},
        layouts: { ...sampleTable().layouts, iuid: { mintedWithin: { from: time, aheadSeconds: 0 } } },
      });
    expect(say(onPath(from("2025-09-03T10:00:00Z"), `/orders/${IUID_KZ_ORDER}`))).toBe("order iuid eu route 0");
    expect(say(onPath(from("2025-09-03T10:00:00.001Z"), `/orders/${IUID_KZ_ORDER}`))).toBe("unknown-id");
  });

  test("a table can move the window, or do without", () => {
    const year1970 = "00000000-d900-8005-8040-000000000001";
    const withWindow = (mintedWithin: unknown) =>
      load({ ...sampleTable(), moved: {}, layouts: { ...sampleTable().layouts, iuid: { mintedWithin } } });
    expect(say(onPath(sample, `/orders/${year1970}`))).toBe("unknown-id");
    expect(say(onPath(withWindow(false), `/orders/${year1970}`))).toBe("order iuid eu route 0");
    expect(say(onPath(withWindow({ from: "1970-01-01T00:00:00Z", aheadSeconds: 0 }), `/orders/${year1970}`))).toBe(
      "order iuid eu route 0",
    );
    expect(
      say(onPath(withWindow({ from: "2025-09-03T10:00:00.001Z", aheadSeconds: 0 }), `/orders/${IUID_KZ_ORDER}`)),
    ).toBe("unknown-id");
  });
});

describe("without a path", () => {
  test.each([
    [IUID_KZ_ORDER, "order iuid eu route 0"],
    [HOTGUID_KEY_208, "parcel hotguid eu route 2"],
    [MOVED_PERSON, "person luuid us moved"],
    [IUID_OTHER_SERVICE, "unknown-id"],
    ["f47ac10b-58cc-4372-a567-0e02b2c3d479", "unknown-id"],
    ["2078", "malformed-id"],
    ["", "malformed-id"],
    [` ${IUID_KZ_ORDER}`, "malformed-id"],
    ["0".repeat(129), "malformed-id"],
  ])("%.50s is %s", (id, expected) => {
    expect(say(resolveAny(sample, id, NOW_MS))).toBe(expected);
  });

  test("a HotGuid that several entities use is ambiguous, even where they live in one region", () => {
    const table = load({
      ...sampleTable(),
      entities: { ...sampleTable().entities, box: { path: "/boxes/:id", ids: [{ layout: "hotguid" }] } },
    });
    expect(resolveAny(table, HOTGUID_KEY_208, NOW_MS)).toMatchObject({
      error: {
        reason: "ambiguous-id",
        candidates: [
          { entity: "parcel", region: "eu" },
          { entity: "box", region: "eu" },
        ],
      },
    });
    expect(say(onPath(table, `/boxes/${HOTGUID_KEY_208}`))).toBe("box hotguid eu route 2");
  });
});

describe("several layouts of one entity", () => {
  const both = (routes: object[]) =>
    load({
      ...sampleTable(),
      moved: {},
      layouts: {},
      entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }, { layout: "hotguid-sql" }] } },
      routes,
    });

  test("an ID that both can be goes where both lead", () => {
    const either = "6347eb00-bbaa-01cc-0201-6347eb000000";
    expect(say(onPath(both([{ when: {}, region: "eu" }]), `/parcels/${either}`))).toBe("parcel hotguid eu route 0");
  });

  test("an LUUID's short key must mean one region in all groups of the entity", () => {
    const groups = (routes: object[]) =>
      load({
        ...sampleTable(),
        moved: {},
        layouts: {},
        entities: {
          pet: {
            path: "/pets/:id",
            ids: [
              { layout: "luuid", group: 1 },
              { layout: "luuid", group: 2 },
            ],
          },
        },
        routes,
      });
    const one = groups([{ when: { group: [1, 2] }, region: "eu" }]);
    const two = groups([
      { when: { group: 1 }, region: "eu" },
      { when: { group: 2 }, region: "us" },
    ]);
    expect(say(onPath(one, "/pets/7"))).toBe("pet luuid-short eu route 0");
    expect(onPath(two, "/pets/7")).toMatchObject({
      error: { reason: "ambiguous-id", candidates: [{ layout: "luuid-short", region: "eu" }, { region: "us" }] },
    });
  });
});

test("the default takes what no route takes, and says so", () => {
  const table = load({ ...sampleTable(), default: "us" });
  expect(say(onPath(table, "/orders/01990f04-d900-8001-8040-000000000001"))).toBe("order iuid us default");
});

test("a moved HotGuid is found in its SQL form too, where the table reads both", () => {
  const table = load({
    ...sampleTable(),
    entities: {
      parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
      row: { path: "/rows/:id", ids: [{ layout: "hotguid-sql" }] },
    },
    routes: [{ when: {}, region: "eu" }],
    moved: { [HOTGUID_KEY_208]: "us" },
  });
  expect(say(onPath(table, `/parcels/${HOTGUID_KEY_208}`))).toBe("parcel hotguid us moved");
  expect(say(onPath(table, "/rows/000000d0-0302-0102-01cc-6347eb00bbaa"))).toBe("row hotguid-sql us moved");
  expect(say(onPath(table, "/rows/000000d1-0302-0102-01cc-6347eb00bbaa"))).toBe("row hotguid-sql eu route 0");
});

describe("what the table says of single entities", () => {
  const EARLY = IUID_KZ_ORDER;
  const LATE = "01990f04-d900-8005-8040-000000000002";
  const table = load({
    ...sampleTable(),
    routes: [{ when: {}, region: "eu", canary: { region: "us", percent: 100 } }],
    moved: { [EARLY]: { region: "ap", epoch: 3 } },
    moves: {
      [LATE]: { from: "ap", to: "us", state: "fenced", epoch: 5 },
      [MOVED_PERSON]: { from: "us", to: "eu", state: "started", epoch: 1 },
    },
    gone: { [HOTGUID_KEY_208]: { epoch: 4 }, [PERSON]: { epoch: 1 } },
  });

  test.each([
    [`/orders/${EARLY}`, "order iuid ap moved"],
    [`/orders/${LATE.toUpperCase()}/x`, "order iuid ap moving"],
    ["/person/23122e", "person luuid-short us moving"],
    [`/person/${MOVED_PERSON}`, "person luuid us moving"],
    [`/parcels/${HOTGUID_KEY_208}`, "entity-gone"],
    ["/person/2078", "entity-gone"],
    [`/person/${PERSON}`, "entity-gone"],
    [`/rides/${IUID_KZ_RIDE}`, "ride iuid us canary"],
  ])("goes before routes and canaries: %s is %s", (path, expected) => {
    expect(say(onPath(table, path))).toBe(expected);
  });

  test("is there on /any too", () => {
    expect(say(resolveAny(table, LATE, NOW_MS))).toBe("order iuid ap moving");
    expect(say(resolveAny(table, HOTGUID_KEY_208, NOW_MS))).toBe("entity-gone");
  });

  test("is carried by the target with its epoch", () => {
    const moveOf = (id: string) => {
      const decision = onPath(table, `/orders/${id}`);
      return decision.ok ? decision.value.target.move : decision;
    };
    expect(moveOf(EARLY)).toEqual({ state: "moved", epoch: 3, to: "ap" });
    expect(moveOf(LATE)).toEqual({ state: "fenced", epoch: 5, to: "us" });
    expect(moveOf("01990f04-d900-8005-8040-000000000003")).toBeUndefined();
  });

  test("is counted by part", () => {
    expect(table.moved).toMatchObject({ counts: { moved: 1, moving: 2, gone: 2 } });
  });
});
