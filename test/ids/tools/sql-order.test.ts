import fc from "fast-check";
import { expect, test } from "vitest";
import { fromSql, hotguid, hotguidSql, toSql } from "../../../src/ids/index.ts";
import { anyWords } from "../arbitraries.ts";

test("both forms hold the same fields, and each way undoes the other", () => {
  fc.assert(
    fc.property(anyWords(), (words) => {
      expect(hotguidSql.decode(toSql(words))).toEqual(hotguid.decode(words));
      expect(fromSql(toSql(words))).toEqual(words);
      expect(toSql(fromSql(words))).toEqual(words);
    }),
  );
});
