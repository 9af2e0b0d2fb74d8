import { describe, expect, test } from "vitest";
import { duplicateKey, parseUniqueJson } from "../../../src/routing/schema/json-scanner.ts";

describe("a key that stands twice", () => {
  test.each([
    ['{"a":1,"a":2}', "a"],
    ['{"a":{"b":1},"c":[{"d":1,"d" : 2}]}', "d"],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"":1,"":2}', ""],
    ['{"a\\"":1,"b":2,"a\\u0022"\n\t:2}', 'a"'],
    ['[{"__proto__":1,"__proto__":1}]', "__proto__"],
  ])("%s", (text, key) => expect(duplicateKey(text)).toBe(key));

  test.each([
    "{}",
    "[]",
    '"a"',
    "1",
    '{"a":{"a":{"a":"a"}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"b","b":"a","c":["a","a"]}',
    '{"a":"\\"a\\":","b":"{\\"b\\":"}',
    '{"a\\\\":1,"a":2}',
    '{"__proto__":{"a":1},"a":"\\\\\\""}',
  ])("none in %s", (text) => expect(duplicateKey(text)).toBeUndefined());

  test("is no value", () => {
    expect(parseUniqueJson('{"a":{"b":1,"b":1}}')).toBeUndefined();
    expect(parseUniqueJson("{")).toBeUndefined();
    expect(parseUniqueJson('{"a":[{"b":1},{"b":2}]}')).toEqual({ a: [{ b: 1 }, { b: 2 }] });
  });

  test("none in a text that nests deeper than calls can", () => {
    const text = `${"[".repeat(100_000)}{"a":1}${"]".repeat(100_000)}`;
    expect(duplicateKey(text)).toBeUndefined();
  });
});
