import { describe, expect, it } from "vitest";
import { lineOf, positionsOf, spanOf } from "../../src/formats/console/positions.ts";
import { pointerOf } from "../../src/formats/console-pointers.ts";

it("a pointer names the place of a rule in the table", () => {
  expect(pointerOf({ kind: "route", index: 2 }, "")).toBe("/routes/2");
  expect(pointerOf({ kind: "moved" }, "a/b~c")).toBe("/moved/a~1b~0c");
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
