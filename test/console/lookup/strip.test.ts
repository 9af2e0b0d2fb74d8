import { describe, expect, it } from "vitest";
import { markedText, stripOf } from "../../../src/console/lookup/label/strip.ts";
import { bareReader } from "../../../src/console/lookup/reader.ts";
import { iuid, type Layout, uuidV7 } from "../../../src/ids/index.ts";

/** The bar code of an ID, against its text read as a number. */

const ID = "01a219c1-91d1-8005-805e-926d709be1b4";

const wordsOf = (layout: Layout, text: string) => {
  const parsed = layout.parse(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
};

describe("the strip of an iUID", () => {
  const of = { layout: iuid, words: wordsOf(iuid, ID) };
  const strip = stripOf(of);

  it("has the fields of the layout from left to right, keys as what decides", () => {
    expect(strip.map(({ field, kind, first, bits }) => [field, kind, first, bits])).toEqual([
      ["mintedAt", "time", 0, 48],
      ["version", "fixed", 48, 4],
      ["formatVersion", "fixed", 52, 4],
      ["country", "key", 56, 8],
      ["variant", "fixed", 64, 2],
      ["service", "key", 66, 8],
      ["random", "random", 74, 54],
    ]);
  });

  it("has a bar for each run of ones", () => {
    const bits = BigInt(`0x${ID.replaceAll("-", "")}`)
      .toString(2)
      .padStart(128, "0");
    const drawn = new Array(128).fill("0");
    for (const { bars } of strip) for (const [first, count] of bars) drawn.fill("1", first, first + count);
    expect(drawn.join("")).toBe(bits);
  });

  it("marks the characters with bits that decide, in every text whose digits have bits of their own", () => {
    const shown = (text: string, layout: Layout = iuid) =>
      markedText({ layout, words: wordsOf(layout, text) }, text)
        .map((piece) => (piece.isMarked ? `[${piece.text}]` : piece.text))
        .join("");
    expect(shown(ID)).toBe("01a219c1-91d1-80[05]-[805]e-926d709be1b4");
    expect(shown(ID.toUpperCase())).toBe("01A219C1-91D1-80[05]-[805]E-926D709BE1B4");
    expect(shown("01a219c1-91d1-7005-805e-926d709be1b4", uuidV7)).toBe("01a219c1-91d1-7005-805e-926d709be1b4");
  });

  it("a time that a route asks for decides too", () => {
    const timed = { ...of, deciding: new Set(["mintedAt"]) };
    expect(stripOf(timed).map(({ kind }) => kind)).toEqual(["key", "fixed", "fixed", "key", "fixed", "key", "random"]);
    expect(markedText(timed, ID)[0]).toEqual({ text: "01a219c1", isMarked: true });
  });
});

it.each(["hotguid", "snowflake", "ulid", "luuid", "iuid"])(
  "characters of %s that its keys change are those that are marked, if any are",
  (name) => {
    const layout = bareReader.layout(name);
    if (layout === undefined) throw new Error(name);
    const idOf = (keys: number) => {
      const fields = layout.fields.filter(({ role }) => role !== "fixed");
      const values = fields.map(({ name: field, role, max }): [string, number | bigint] => {
        const value = role === "key" ? keys : 3;
        return [field, typeof max === "bigint" ? BigInt(value) : Math.min(max, value)];
      });
      const words = layout.encode(Object.fromEntries(values));
      if (!words.ok) throw new Error(`${name}: ${JSON.stringify(words.error)}`);
      return words.value;
    };
    const [one, other] = [idOf(0x15), idOf(0x2a)];
    for (const form of layout.texts) {
      const [text, changed] = [form.format(one), form.format(other)];
      const pieces = markedText({ layout, words: one }, text);
      expect(pieces.map((piece) => piece.text).join("")).toBe(text);
      const isMarked = pieces.flatMap((piece) => [...piece.text].map(() => piece.isMarked));
      if (!isMarked.includes(true)) continue;
      for (const [at, character] of [...text].entries()) {
        if (character !== changed.charAt(at)) expect([form.name, at, isMarked[at]]).toEqual([form.name, at, true]);
      }
    }
  },
);

it("the bits of a short key that are not known have no bars", () => {
  const luuid = bareReader.layout("luuid");
  if (luuid === undefined) throw new Error("luuid");
  const words = luuid.fixed.value;
  const strip = stripOf({ layout: luuid, words: words.map(() => 0xffffffff), isShort: true });
  expect(strip.filter(({ kind, bars }) => kind === "random" && bars.length > 0)).toEqual([]);
  expect(markedText({ layout: luuid, words, isShort: true }, "2a")).toEqual([{ text: "2a", isMarked: false }]);
});
