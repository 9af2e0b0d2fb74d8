import { isDeepStrictEqual } from "node:util";
import { parse } from "jsonc-parser";
import { describe, expect, it, test } from "vitest";
import { loadTable, parseTableText, plainJson } from "../../../src/routing/index.ts";
import { parseJson } from "../../../src/routing/schema/json-scanner.ts";
import { processorMs } from "../../fixtures/processor-ms.ts";
import { sampleTable } from "../tables.ts";

describe("a text with comments and trailing commas", () => {
  it("becomes JSON whose values keep their line and column", () => {
    const text = `// the table\r\n{ "a": [1, 2, /* three */], "url": "http://x//y/*z*/", // end\n"b": {"c": null ,\n}, /*\n*/ }\n// done`;
    const plain = plainJson(text);
    expect(plain.length).toBe(text.length);
    expect(JSON.parse(plain)).toEqual({ a: [1, 2], url: "http://x//y/*z*/", b: { c: null } });
    for (const part of ['"a"', "2", '"url"', '"b"', "null"]) expect(plain.indexOf(part)).toBe(text.indexOf(part));
    expect(plain.replace(/[^\r\n]/g, "")).toBe(text.replace(/[^\r\n]/g, ""));
  });

  it("is otherwise the same text", () => {
    const text = JSON.stringify(sampleTable(), undefined, 2);
    expect(plainJson(text)).toBe(text);
    const lines = text.replaceAll("\n", " // why, {[\n").replaceAll(/([^{[,\s])( \/\/[^\n]*\n\s*[}\]])/g, "$1,$2");
    const read = parseTableText(plainJson(lines));
    expect(read).toEqual({ ok: true, value: JSON.parse(text) });
    expect(read.ok && loadTable(read.value, 1).ok).toBe(true);
  });

  it.each([
    "{,}",
    "[,]",
    "[1,,]",
    '{"a":,}',
    ",",
    "[1,] , ",
    '{"a" /* b : 1}',
    "/",
    "[1 / 2]",
    '{"a": "b // c\n"}',
    "[/*/]",
  ])("stays wrong where it is wrong: %s", (text) => expect(parseJson(plainJson(text))).toBeUndefined());

  test("random texts are read as a second parser reads them", () => {
    const pieces = ["{", "}", "[", "]", ",", ":", '"a"', "1", " ", "\n", "// x\n", "/* , */", '"/*"', "null"];
    let state = 20_261_122;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    let valid = 0;
    const other: string[] = [];
    for (let round = 0; round < 200_000; round++) {
      const text = Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join("");
      const errors: Parameters<typeof parse>[1] = [];
      const expected: unknown = parse(text, errors, { allowTrailingComma: true });
      const isValid = errors.length === 0;
      if (isValid) valid++;
      if (!isDeepStrictEqual(parseJson(plainJson(text)), isValid ? expected : undefined)) other.push(text);
    }
    expect(other).toEqual([]);
    expect(valid).toBeGreaterThan(1_000);
  });

  test("openings of comments that never close take no time to speak of", () => {
    const ms = processorMs(() => {
      plainJson("/*".repeat(1_000_000));
      plainJson("[,".repeat(1_000_000));
    });
    expect(ms).toBeLessThan(2_000);
  });
});
