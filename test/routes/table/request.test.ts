import fc from "fast-check";
import { expect, it } from "vitest";
import { memberText } from "../../../src/routing/index.ts";

it.each([
  ['{"table":1e400,"share":5}', "1e400"],
  ['{"share":5,"table": {"a":[1,{"table":2}]}\n}', ' {"a":[1,{"table":2}]}\n'],
  ['{"a":"\\"table\\":1,","table":"}"}', '"}"'],
  ['{"a":{"table":1},"t\\u0061ble" : []}', " []"],
  ['{"a":"table","b":["table",{"table":1}]}', undefined],
  ["{}", undefined],
  ['["table",1]', undefined],
  ["7", undefined],
])("%s: %s", (text, member) => {
  expect(memberText(text, "table")).toBe(member);
});

it("is what JSON.parse reads as the member, whatever stands beside and in it", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string(),
      fc.jsonValue(),
      fc.nat(3),
      (others, name, value, indent) => {
        const text = JSON.stringify({ ...others, [name]: value }, null, indent);
        expect(JSON.stringify(JSON.parse(memberText(text, name) ?? ""))).toBe(JSON.stringify(value));
      },
    ),
  );
});
