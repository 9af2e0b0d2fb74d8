import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cookieValues, nameTest, parameterValues } from "../../../src/routing/lookup/values.ts";
import { processorMs } from "../../fixtures/processor-ms.ts";
import { runs } from "../../setup/property-runs.ts";

const valuesOf = (text: string, name: string) => parameterValues(text, nameTest(name));

describe("values of a name", () => {
  test.each([
    ["a=1&b=2&a=3", "a", ["1", "3"]],
    ["", "a", []],
    ["a", "a", [""]],
    ["a=", "a", [""]],
    ["&&a=1&", "a", ["1"]],
    ["a==b=c", "a", ["=b=c"]],
    ["%61=1&%6F=2", "o", ["2"]],
    ["%6f=1&%6F=2&O=3", "o", ["1", "2"]],
    ["a+b=1&a%20b=2&a%2Bb=3", "a b", ["1", "2"]],
    ["a+b=1&a%20b=2&a%2bb=3", "a+b", ["3"]],
    ["%C3%A9=1&%c3%a9=2&é=3", "é", ["1", "2", "3"]],
    ["ids[]=1&ids%5B%5D=2&ids%5b]=3", "ids[]", ["1", "2", "3"]],
    ["a.b=1&axb=2", "a.b", ["1"]],
    ["a=%zz&a=%41+%", "a", ["%zz", "%41+%"]],
    ["%=1&%25=2", "%", ["2"]],
    ["%ff=1", "\ufffd", []],
  ])("%s of %s", (text, name, expected) => {
    expect(valuesOf(text, name)).toEqual(expected);
  });

  test("are those that the URL standard reads, where all escapes are good", () => {
    const name = fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom(..."ab+%&=[]-.~ é𝄞*'") });
    const pair = fc.tuple(name, name, fc.boolean(), fc.boolean());
    fc.assert(
      fc.property(fc.array(pair), name, (pairs, wanted) => {
        const text = pairs
          .map(([key, value, isWanted, isPlain]) => {
            const written = encodeURIComponent(isWanted ? wanted : key);
            const free = isPlain ? decodeURIComponent(written).replaceAll(/[%+&=]/g, encodeURIComponent) : written;
            return `${free.replaceAll(" ", "+")}=${encodeURIComponent(value)}`;
          })
          .join("&");
        expect(valuesOf(text, wanted)).toEqual(new URLSearchParams(text).getAll(wanted));
      }),
      { numRuns: runs(300) },
    );
  });

  test("of a body that is made to be slow take a moment", () => {
    const texts = ["a&", "%ff&", "a=%ff&", "=&", "%61"].map((part) => part.repeat(65_536 / part.length));
    const ms = processorMs(() => {
      for (const text of texts) expect(valuesOf(text, "a").length).toBeLessThanOrEqual(101);
    });
    expect(ms).toBeLessThan(1_000);
  });
});

/** RFC 6265 §4.2.1 and §5.4; lines that the runtime joins with a comma and a space (RFC 9110 §5.3). */
describe("values of a cookie", () => {
  test.each<[string, readonly string[] | undefined]>([
    ["", []],
    ["id=1", ["1"]],
    ["a=b; id=1", ["1"]],
    ["a=b;id=1;c", ["1"]],
    ["id=1; id=2", ["1", "2"]],
    [" id\t= 1 ", ["1"]],
    ["ID=1; xid=2; idx=3; id", []],
    ["id=", [""]],
    ["id=1=2", ["1=2"]],
    // Two lines, and crumbs (RFC 9113 §8.2.3) that somebody joined like other fields.
    ["a=b, id=1", ["1"]],
    ["id=1, a=b", ["1"]],
    ["a=b, id=1, c=d", ["1"]],
    ["a=b; c=d, id=1; e=f", ["1"]],
    ["a=b;, id=1", ["1"]],
    ["id=1, id=2", ["1", "2"]],
    ["id=1, a=b; id=1", ["1", "1"]],
    // A comma alone belongs to the value.
    ["prefs=x,id=1; id=2", ["2"]],
    ["prefs=x,id=1", []],
    ["id=1,a=b", ["1,a=b"]],
    ["id=1,2", ["1,2"]],
    // No cookie follows: it is one line.
    ["id=hello, world", ["hello, world"]],
    ["id=hello, world; a=b", ["hello, world"]],
    // The two readings differ.
    ["prefs=x, id=1; id=2", undefined],
    ["id=2; prefs=x, id=1", undefined],
    ["id=1, a=b; id=2", undefined],
    ["prefs=x, id=1; a=b", ["1"]],
    // White space of other kinds is not trimmed.
    ["id=\u00a01", ["\u00a01"]],
    ["\u00a0id=1", []],
  ])("%j has %j", (field, expected) => {
    expect(cookieValues(field, "id")).toEqual(expected);
  });

  test("of a field that is made to be slow take a moment", () => {
    const texts = [", ", ",  ", ", a", ", a=b", "id=1, ", "\t", ";", "id=1;", ", \t"].map((part) =>
      part.repeat(32_768),
    );
    const ms = processorMs(() => {
      for (const text of texts) cookieValues(`${text}x`, "id");
    });
    expect(ms).toBeLessThan(1_000);
  });
});
