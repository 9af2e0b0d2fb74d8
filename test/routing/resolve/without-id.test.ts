import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { diffTables } from "../../../src/routing/index.ts";
import { WHOLE_BUILD } from "../../../src/routing/load.ts";
import { PLAIN_READ } from "../../../src/routing/lookup/choice.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { WITHOUT_ID_CASES } from "../check/without-id-cases.ts";
import { faultsOf, load, sampleTable } from "../tables.ts";

const tableOf = (paths: readonly string[], changes: Partial<DeclaredTable> = {}): DeclaredTable => ({
  ...sampleTable(),
  sources: [{ region: "eu" }],
  withoutId: Object.fromEntries(paths.map((path, at) => [`w${at}`, { path }])),
  ...changes,
});

describe("faults", () => {
  test.each(WITHOUT_ID_CASES)("%s", (_, change, expected) => {
    const faults = faultsOf(change(sampleTable()));
    expect(faults.map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(expected);
    for (const { message } of faults) expect(message).toMatch(/^[^a-z].{15,}\.$/s);
  });
});

describe("paths", () => {
  const patterns = ["/", "/login", "/files/**", "/files/*/meta", "/files/a/*", "/*/b", "/lists/", "/x/*/*", "/x/y/**"];
  const { withoutId } = load(tableOf(patterns));

  test.each([
    ["/", "/"],
    ["/login", "/login"],
    ["/lists/", "/lists/"],
    ["/files/x", "/files/**"],
    ["/files/x/", "/files/**"],
    ["/files/x/y//z", "/files/**"],
    ["/files/x/meta", "/files/*/meta"],
    ["/files/x/meta/y", "/files/**"],
    ["/files/a/meta", "/files/a/*"],
    ["/files/a/", "/files/**"],
    ["/files/a/b/c", "/files/**"],
    ["/files/b", "/files/**"],
    ["/c%2Fd/b", "/*/b"],
    ["/login/b", "/*/b"],
    ["/x/y/z", "/x/y/**"],
    ["/x/y", undefined],
    ["/x/z/z", "/x/*/*"],
    ["/x/z/z/z", undefined],
    ["/login/", undefined],
    ["/login/x", undefined],
    ["/Login", undefined],
    ["/lists", undefined],
    ["/lists//", undefined],
    ["//b", undefined],
    ["//", undefined],
    ["/files", undefined],
    ["/files/", "/files/**"],
    ["/files//", "/files/**"],
    ["/files//x", "/files/**"],
    ["/x//y", undefined],
    ["", undefined],
    ["login", undefined],
    ["/constructor", undefined],
    ["/__proto__", undefined],
  ])("%j is %s", (path, pattern) => {
    expect(withoutId.match(path)?.entity.entity.paths[0]).toBe(pattern);
  });
});

describe("a path below a pattern never goes elsewhere", () => {
  const w = (path: string | string[], region: string) => ({ path, sources: [{ region }] });
  const { withoutId } = load(
    tableOf([], {
      withoutId: {
        rest: w("/**", "us"),
        one: w("/one/**", "eu"),
        deep: w("/one/two/**", "ap"),
        special: w(["/one/special", "/login", "/projects/*/issues", "/Two/x"], "ap"),
        two: w("/two/**", "eu"),
        capital: w("/TWO/**", "us"),
      },
    }),
  );
  const ownerOf = (path: string) => {
    const entry = withoutId.match(path)?.entity;
    return entry === undefined || (!entry.entity.paths.includes(path) && withoutId.isElsewhere(path, entry, PLAIN_READ))
      ? undefined
      : entry.entity.name;
  };

  test.each([
    ["/one/y", "one"],
    ["/one/", "one"],
    ["/one//", "one"],
    ["/one//y", "one"],
    ["/one/y/", "one"],
    ["/one/a%2Fb", "one"],
    ["/one/Y;v=1", "one"],
    ["/one/two/", "deep"],
    ["/one/two//x", "deep"],
    ["/one/two", "one"],
    ["/one/special", "special"],
    // Beside it, and not below.
    ["/one", "rest"],
    ["/ones/y", "rest"],
    ["/one;v=1", "rest"],
    ["/ONE", "rest"],
    ["/login/", "rest"],
    ["/LOGIN", "rest"],
    ["//", "rest"],
    ["//x", "rest"],
    ["/x//y", "rest"],
    ["/x%2Fy", "rest"],
    ["/projects/a%2Fb/issues", "special"],
    ["/two/x", "two"],
    ["/TWO/x", "capital"],
    ["/Two/x", "special"],
    // `/` is the gateway's own, unless the table writes it out.
    ["/", undefined],
    // Below, in a spelling that some servers read.
    ["/ONE/y", undefined],
    ["/One/", undefined],
    ["//one/y", undefined],
    ["//one/", undefined],
    ["/one%2Fy", undefined],
    ["/one%2f", undefined],
    ["/%6fne/y", undefined],
    ["/one%5Cy", undefined],
    ["/one;v=1/y", undefined],
    ["/x%2F..%2Fone/y", undefined],
    ["/one//two/y", undefined],
    ["/one/TWO/y", undefined],
    ["/one/two%2Fy", undefined],
    // Out of it, as some read them.
    ["/one/..%2Fx", undefined],
    ["/one/two/..%2F..%2Fx", undefined],
    ["/one/two/..%2Fx", undefined],
    // The gateway's own pages.
    ["//any/x", undefined],
    ["//-/x", undefined],
  ])("%s is of %s", (path, owner) => {
    expect(ownerOf(path)).toBe(owner);
  });
});

test("an entry is an entity that no ID names, and nothing is remembered of its moves", () => {
  const { withoutId, entities } = load(tableOf(["/login"]));
  const [entry] = withoutId.entries;
  expect(entry?.entity).toMatchObject({ name: "w0", ids: [], readers: [], rememberMovedSeconds: 0, replayBytesMax: 0 });
  expect(entities.has("w0")).toBe(false);
});

test("an entry says what its methods, deadlines and replays are", () => {
  const entry = { path: "/a", methods: ["POST", "GET"], deadlines: { idleMs: 7 }, replayBytesMax: 100 };
  const [compiled] = load(tableOf([], { withoutId: { a: entry } })).withoutId.entries;
  expect(compiled?.methods).toEqual(["POST", "GET", "HEAD"]);
  expect(compiled?.entity.deadlines).toEqual({ firstByteMs: undefined, idleMs: 7, totalMs: undefined });
  expect(compiled?.entity.replayBytesMax).toBe(100);
});

test("its own sources stand in the place of those for all, and the sticky cookie before what is assumed", () => {
  const { entries } = load(
    tableOf([], {
      sources: [{ header: "X-Home" }, { clientCountry: { KZ: "ap" } }, { region: "us" }],
      withoutId: {
        a: { path: "/a" },
        b: { path: "/b", sources: [{ jwtClaim: "/app/region" }, { cookie: "home" }] },
        c: { path: "/c", sticky: { cookie: "stay", maxAgeSeconds: 60 } },
      },
    }),
  ).withoutId;
  expect(entries.map(({ sources }) => sources.map(({ label }) => label))).toEqual([
    ["header x-home", "the client's country", "region us"],
    ["claim /app/region of the token in authorization", "cookie home"],
    ["header x-home", "cookie stay", "the client's country", "region us"],
  ]);
});

test("a diff shows what changes for requests without an ID", () => {
  const before = tableOf(["/a"]);
  const after = tableOf(["/b", "/c"], { sources: [{ region: "us" }] });
  expect(diffTables(before, before).isEmpty).toBe(true);
  expect(diffTables(before, after)).toMatchObject({
    isEmpty: false,
    sources: { before: [{ region: "eu" }], after: [{ region: "us" }] },
    withoutId: {
      added: { w1: { path: "/c" } },
      removed: {},
      changed: { w0: { before: { path: "/a" }, after: { path: "/b" } } },
    },
    keys: [],
  });
  expect(diffTables(before, { ...before, withoutId: {} }).isEmpty).toBe(false);
  expect(diffTables(sampleTable(), { ...sampleTable(), sources: [{ region: "us" }] }).sources).toEqual({
    before: undefined,
    after: [{ region: "us" }],
  });
});

describe("docs/reference/routing-table.md", () => {
  const page = readFileSync(new URL("../../../docs/reference/routing-table.md", import.meta.url), "utf8");

  test("shows a table without fault", () => {
    const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, block = ""]) => block);
    const json = blocks.find((block) => block.includes('"withoutId"')) ?? "";
    expect(load(JSON.parse(json)).withoutId.entries.map(({ entity }) => entity.name)).toEqual([
      "orders",
      "login",
      "files",
    ]);
  });

  test("names every member of an entry and every kind of fault", () => {
    for (const member of Object.keys(WHOLE_BUILD.schemas.withoutId.entries)) expect(page).toContain(`\`${member}\``);
    const kinds = WITHOUT_ID_CASES.flatMap(([, , faults]) => faults.map((fault) => fault.split(" ", 1)[0]));
    for (const kind of new Set(kinds)) {
      if (kind !== "size" && kind !== "public-ids") expect(page).toContain(`\`${kind}\``);
    }
  });
});
