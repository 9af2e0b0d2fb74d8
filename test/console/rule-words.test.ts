import { describe, expect, it } from "vitest";
import { routeInWords, ruleInWords } from "../../src/console/lookup/rule-words.ts";
import { pointerOf } from "../../src/formats/console-pointers.ts";
import { lineOf, positionsOf, spanOf } from "../../src/formats/console-positions.ts";
import type { DeclaredRoute } from "../../src/routing/schema/table.ts";

describe("a rule in words", () => {
  it.each<[DeclaredRoute, string]>([
    [{ when: {}, region: "eu" }, "all IDs go to eu."],
    [{ when: { entity: "shop" }, directory: "slug" }, "IDs of shop go to what directory slug says."],
    [
      { when: { layout: "iuid", country: ["PL", "DE", "FR"] }, region: "eu" },
      "IDs in layout iuid with country PL, DE or FR go to eu.",
    ],
    [
      { when: { entity: "order", mintedBefore: "2026-06-01T00:00:00Z" }, region: "eu" },
      "IDs of order minted before 2026-06-01T00:00:00Z go to eu.",
    ],
    [
      { when: { shardKey: "0-1023" }, region: "eu", canary: { region: "us", percent: 5 } },
      "IDs with shard key 0-1023 go to eu, and 5 % of them to us.",
    ],
    [
      { when: { slices: { m49: 276 } }, split: { by: "hash", parts: 2, regions: ["eu", "us"] } },
      "IDs with m49 276 go to 2 parts of eu, us.",
    ],
    [
      { when: { country: Array.from({ length: 20 }, (_, at) => `C${at}`) }, pack: "p" },
      "IDs with country C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11 or 8 more go to what pack p says.",
    ],
  ])("%j", (route, words) => {
    expect(routeInWords(route)).toBe(words);
  });

  it("names the route alone where its text is not known", () => {
    expect(ruleInWords({ kind: "route", index: 2 }, undefined)).toBe("/routes/2 takes it.");
  });

  it("names its place in the table", () => {
    expect(pointerOf({ kind: "route", index: 2 }, "")).toBe("/routes/2");
    expect(pointerOf({ kind: "moved" }, "a/b~c")).toBe("/moved/a~1b~0c");
  });
});

describe("places in a text", () => {
  const text = '{\n  // why\n  "a": [1, { "b/c": "x\\"y" }],\n  "d": {}\n}';

  it("finds values behind comments and escapes", () => {
    const { values, keys } = positionsOf(text);
    const shown = [...values].map(([pointer, { from, to }]) => [pointer, text.slice(from, to)]);
    expect(Object.fromEntries(shown)).toMatchObject({ "/a/0": "1", "/a/1/b~1c": '"x\\"y"', "/d": "{}" });
    expect(keys.has("/a/1/b~1c")).toBe(true);
    expect([lineOf(text, "/d"), lineOf(text, "/a/1"), lineOf(text, "/none")]).toEqual([4, 3, undefined]);
  });

  it("falls back to what is around a place that is not there", () => {
    const span = spanOf(positionsOf(text), "/a/1/none/deeper");
    expect(text.slice(span.from, span.to)).toBe('{ "b/c": "x\\"y" }');
  });

  it.each([
    ['{"a": 1 "b": 2}', 8],
    ['{"a": }', 6],
    ['{"a": [1,], // why\n}', 20],
    ['{"a": 1} x', 9],
    ["[".repeat(10_000), 64],
  ])("%j is JSON up to %i", (faulty, end) => {
    expect(positionsOf(faulty).end).toBe(end);
  });

  it.each(["", "{", '{"a"', '{"a":', "[1,", '{"a":}', "]", '"', "[".repeat(10_000)])("ends with %j", (broken) => {
    expect(positionsOf(broken).values.size).toBeGreaterThan(0);
  });
});
