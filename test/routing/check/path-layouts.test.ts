import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  diffTables,
  explain,
  findAmbiguities,
  hintNamed,
  resolveAny,
  resolvePath,
} from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { compare } from "../resolve/compare.ts";
import { readAll, readAs } from "../resolve/oracle.ts";
import { faultsOf, load, NOW_MS, type TableOfEntities } from "../tables.ts";

/** Snowflakes of two epochs have no bit that tells them apart, and go to different regions here. */
const declared: TableOfEntities = {
  regions: Object.fromEntries(["eu", "us", "ap"].map((name) => [name, { origins: [{ url: `https://${name}.test` }] }])),
  entities: {
    post: {
      path: [
        { path: "/legacy/:id", layout: "snowflake" },
        { path: "/posts/:id", layout: "discord" },
        { path: "/v2/*/posts/:id", layout: "discord" },
      ],
      ids: [{ layout: "discord" }, { layout: "snowflake" }],
    },
    job: { path: ["/jobs/:id", { path: "/xjobs/:id", layout: "xid" }], ids: [{ layout: "xid" }, { layout: "ulid" }] },
    person: {
      path: [
        { path: "/p/:id", layout: "luuid-short" },
        { path: "/people/:id", layout: "luuid" },
      ],
      ids: [{ layout: "luuid", class: "com.example.Person" }],
    },
    tweet: { path: { path: "/tweets/:id", layout: "snowflake" }, ids: [{ layout: "snowflake" }] },
  },
  layouts: { discord: { like: "snowflake", epoch: "2015-01-01T00:00:00Z" } },
  routes: [
    { when: { layout: "snowflake", mintedBefore: "2020-01-01T00:00:00Z" }, region: "ap" },
    { when: { layout: "snowflake" }, region: "us" },
    { when: { layout: "discord", fields: { worker: "0-15" } }, region: "ap" },
  ],
  default: "eu",
};
const table = load(declared);

const FLAKE = "1541815603606036480";
const XID = "9m4e2mr0ui3e8a215n4g";
const PERSON = "00000023-122e-6d0b-a789-28ef27ab7c62";

const goes = (path: string, said?: string): string => {
  const match = table.paths.match(path);
  const hint = hintNamed(table, said);
  if (match === undefined || !hint.ok) return "no path or layout";
  const resolved = resolvePath(table, match, path, NOW_MS, hint.value);
  return resolved.ok ? `${resolved.value.layout} ${resolved.value.target.region.name}` : resolved.error.reason;
};

describe("on a pattern that names a layout, an ID is of it", () => {
  test.each([
    [`/legacy/${FLAKE}`, "snowflake us"],
    [`/legacy/${FLAKE}/likes`, "snowflake us"],
    [`/posts/${FLAKE}`, "discord eu"],
    [`/v2/eu/posts/${FLAKE}`, "discord eu"],
    [`/tweets/${FLAKE}`, "snowflake us"],
    [`/xjobs/${XID}`, "xid eu"],
    [`/jobs/${XID}`, "xid eu"],
    ["/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid eu"],
    ["/xjobs/01ARZ3NDEKTSV4RRFFQ69G5FAV", "malformed-id"],
    [`/legacy/${XID}`, "malformed-id"],
    ["/p/23122e", "luuid-short eu"],
    [`/p/${PERSON}`, "malformed-id"],
    [`/people/${PERSON}`, "luuid eu"],
    ["/people/23122e", "malformed-id"],
  ])("%s: %s", (path, expected) => expect(goes(path)).toBe(expected));

  test.each([
    [`/legacy/${FLAKE}`, "snowflake", "snowflake us"],
    [`/legacy/${FLAKE}`, "discord", "layout-mismatch"],
    [`/legacy/${FLAKE}`, "luuid-short", "layout-mismatch"],
    [`/posts/${FLAKE}`, "discord", "discord eu"],
    [`/jobs/${XID}`, "xid", "xid eu"],
    [`/xjobs/${XID}`, "ulid", "layout-mismatch"],
    [`/legacy/nonsense`, "discord", "layout-mismatch"],
    ["/p/23122e", "luuid-short", "luuid-short eu"],
    ["/p/23122e", "luuid", "layout-mismatch"],
    ["/people/23122e", "luuid-short", "layout-mismatch"],
  ])("%s with id-layout: %s is %s", (path, said, expected) => expect(goes(path, said)).toBe(expected));

  test("the refusal names both layouts, and a malformed ID only that of the pattern", () => {
    const [mismatch, malformed, short] = [
      [`/legacy/${FLAKE}`, "discord"],
      ["/xjobs/1", undefined],
      ["/p/xyz", undefined],
    ].map(([path = "", said]) => {
      const hint = hintNamed(table, said);
      const match = table.paths.match(path);
      return match && hint.ok ? resolvePath(table, match, path, NOW_MS, hint.value) : undefined;
    });
    expect(mismatch).toMatchObject({ error: { id: FLAKE, entity: "post", layout: "snowflake", said: "discord" } });
    expect(malformed).toMatchObject({ error: { faults: [{ layout: "xid" }] } });
    expect(short).toMatchObject({ error: { faults: [{ layout: "luuid-short" }] } });
  });
});

test("an ID leads to the first pattern for its layout, and /any refuses what could go to two regions", () => {
  const pathOf = (text: string, layout?: string) => {
    const hint = hintNamed(table, layout);
    return explain(table, text, NOW_MS, hint.ok ? hint.value : undefined).decision?.path;
  };
  const alone: TableOfEntities = { ...declared, entities: { ...declared.entities } };
  delete alone.entities["tweet"];
  const lone = load(alone);
  expect(resolveAny(lone, FLAKE, NOW_MS)).toMatchObject({ error: { reason: "ambiguous-id" } });
  expect(pathOf(FLAKE, "discord")).toBe(`/posts/${FLAKE}`);
  expect(pathOf(PERSON)).toBe(`/people/${PERSON}`);
  expect(pathOf(XID)).toBe(`/jobs/${XID}`);
  const { enabled } = { enabled: lone.layouts.get("snowflake") };
  expect(explain(lone, FLAKE, NOW_MS, { enabled }).decision?.path).toBe(`/legacy/${FLAKE}`);
});

test("a short key is explained with a path that takes it, and not at all where none does", () => {
  const against = explain(table, "23122e", NOW_MS).candidates.flatMap((candidate) => candidate.against);
  expect(against).toEqual(["a short key needs its entity's path, such as /p/:id"]);
  const person = { path: { path: "/people/:id", layout: "luuid" }, ids: declared.entities["person"]?.ids ?? [] };
  const without = load({ ...declared, entities: { ...declared.entities, person } });
  expect(explain(without, "23122e", NOW_MS).candidates).toEqual([]);
});

test("a comparison of tables shows a pattern that names another layout, and one that names it no more", () => {
  const job = {
    path: ["/jobs/:id", { path: "/xjobs/:id", layout: "ulid" }],
    ids: [{ layout: "xid" }, { layout: "ulid" }],
  };
  const { tweet, ...others } = declared.entities;
  const after = {
    ...declared,
    entities: { ...others, job, tweet: { ...tweet, path: "/tweets/:id" } },
  } as DeclaredTable;
  const diff = diffTables(declared, after);
  expect([diff.isEmpty, Object.keys(diff.entities.changed).toSorted(), diff.keys]).toEqual([
    false,
    ["job", "tweet"],
    [],
  ]);
});

describe("what it separates", () => {
  const [snowflake, discord] = ["snowflake", "discord"].map((layout) => ({ path: `/${layout}/:id`, layout }));
  const withPaths = (...path: NonNullable<unknown>[]) => ({
    ...declared,
    entities: { post: { path, ids: [{ layout: "snowflake" }, { layout: "discord" }] } },
  });

  test("layouts whose routes differ may be in one entity if every pattern names one", () => {
    const kinds = (value: unknown) => faultsOf(value).map(({ kind, pointer }) => `${kind} ${pointer}`);
    expect(kinds(withPaths(snowflake as object, discord as object))).toEqual([]);
    const fault = ["indistinguishable-layouts /entities/post/ids/1"];
    expect(kinds(withPaths("/posts/:id"))).toEqual(fault);
    expect(kinds(withPaths(snowflake as object, discord as object, "/posts/:id"))).toEqual(fault);
  });

  test("such a pair is open on /any alone, and told apart by its paths", () => {
    const [found, ...others] = findAmbiguities(load(withPaths(snowflake as object, discord as object)));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      entity: undefined,
      isRefused: true,
      entities: [["post"], ["post"]],
      hints: [
        { by: "path", paths: ["/snowflake/:id", "/discord/:id"] },
        { by: "header", values: ["snowflake", "discord"] },
      ],
    });
  });

  test("a pattern that names none leaves them open there, and a layout in the pattern is a way to tell", () => {
    const open = { ...withPaths("/posts/:id", snowflake as object), routes: [] };
    expect(findAmbiguities(load(open))).toMatchObject([
      {
        entity: "post",
        isRefused: false,
        hints: [{ by: "pattern", layouts: ["snowflake", "discord"], paths: ["/snowflake/:id"] }, { by: "header" }],
      },
    ]);
  });
});

/** Times and workers make texts that both kinds of Snowflakes read, and some that one does. None is so short as a short key. */
const flake = fc
  .record({ ms: fc.integer({ min: 1_000_000, max: NOW_MS }), low: fc.integer({ min: 0, max: 4_194_303 }) })
  .map(({ ms, low }) => ((BigInt(ms) << 22n) | BigInt(low)).toString());

const text = fc.oneof(
  { weight: 6, arbitrary: flake },
  fc.constantFrom(XID, PERSON, FLAKE, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "4d88e15b60f486e428412dc9"),
);

test("every pattern reads what the slow reader reads as its layout, and /any what it reads as any", () => {
  const patterns = Object.entries(declared.entities).flatMap(([entity, { path }]) =>
    [path].flat().map((one) => ({ entity, ...(typeof one === "string" ? { path: one, layout: undefined } : one) })),
  );
  fc.assert(
    fc.property(text, (id) => {
      for (const { entity, path, layout } of patterns) {
        const at = path.replace("*", "x").replace(":id", id);
        const match = table.paths.match(at);
        if (match === undefined) throw new Error(`no match for ${at}`);
        expect(match.entity.name).toBe(entity);
        compare(resolvePath(table, match, at, NOW_MS), readAs(declared, entity, id, NOW_MS, layout));
      }
      compare(resolveAny(table, id, NOW_MS), readAll(declared, id, NOW_MS));
    }),
    { numRuns: runs(100) },
  );
});
