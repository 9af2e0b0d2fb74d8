import { expect, test } from "vitest";
import { declaredPacks } from "../../../src/features/packs/table/schema.ts";

const PACK = { sha256: "0".repeat(64), bytes: 100, ranges: 1, bits: 32, regions: ["eu"] };

test.each([
  ["as it is", "packs"],
  ["with an escape", "p\\u0061cks"],
  ["with escapes alone", "\\u0070\\u0061\\u0063\\u006b\\u0073"],
])("the packs of a text are found by their key, written %s", (_, key) => {
  expect(declaredPacks(`{"${key}" :{"shards":${JSON.stringify(PACK)}}}`)).toEqual([["shards", PACK]]);
});

test.each(["", "{", '{"routes":[]}', '"packs"', '{"packs":[]}', '{"routes":[{"pack":"packs"}]}', '{"packs":{"a":{}}}'])(
  "no packs are declared in %s",
  (text) => expect(declaredPacks(text)).toEqual([]),
);
