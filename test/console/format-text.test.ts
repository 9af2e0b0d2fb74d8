import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatText } from "../../src/formats/console/edit.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

describe("a text that is formatted", () => {
  it.each([
    ["a table on one line", JSON.stringify(DECLARED_TABLE), `${JSON.stringify(DECLARED_TABLE, null, 2)}\n`],
    ["comments", '{ // why\n"a":1,/* b */"b":[1]}', '{ // why\n  "a": 1, /* b */\n  "b": [\n    1\n  ]\n}\n'],
    ["keys that come twice", '{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}\n'],
    [
      "numbers as they are written",
      '{"a":1.0,"b":12345678901234567890}',
      '{\n  "a": 1.0,\n  "b": 12345678901234567890\n}\n',
    ],
    ["escapes as they are written", '{"a":"\\u00e9"}', '{\n  "a": "\\u00e9"\n}\n'],
    ["faults of syntax, as it is", '{"a":1,,}', '{"a":1,,}'],
    ["nothing", "", ""],
  ])("keeps %s", (_, text, formatted) => {
    expect(formatText(text)).toBe(formatted);
    expect(formatText(formatted)).toBe(formatted);
  });

  it("is written as JSON.stringify does, whatever its values", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(formatText(JSON.stringify(value))).toBe(`${JSON.stringify(value, null, 2)}\n`);
      }),
    );
  });
});
