import { expect, it } from "vitest";
import { bitDiagram } from "../../../src/cli/commands/explain/explain.ts";
import { hotguid, iuid, type Layout } from "../../../src/ids/index.ts";

const plain = (_style: unknown, text: string): string => text;

const stripOf = (layout: Layout, text: string): readonly string[] => {
  const words = layout.parse(text);
  if (!words.ok) throw new Error(`${text} is no ${layout.name}`);
  return bitDiagram(layout, words.value, plain);
};

it("names the field of every bit by a letter where there are no colours", () => {
  expect(stripOf(iuid, "019e807a-ec00-8005-805e-2d8e9c7ac355")).toEqual([
    "019e807a  0000 0001 1001 1110 1000 0000 0111 1010",
    "          aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa",
    "ec008005  1110 1100 0000 0000 1000 0000 0000 0101",
    "          aaaa aaaa aaaa aaaa bbbb cccc dddd dddd",
    "805e2d8e  1000 0000 0101 1110 0010 1101 1000 1110",
    "          eeff ffff ffgg gggg gggg gggg gggg gggg",
    "9c7ac355  1001 1100 0111 1010 1100 0011 0101 0101",
    "          gggg gggg gggg gggg gggg gggg gggg gggg",
    "a mintedAt, b version, c formatVersion, d country, e variant, f service, g random",
  ]);
});

it("follows a field to where the text puts its bytes", () => {
  const lines = stripOf(hotguid, "6347eb00-bbaa-01cc-0201-0203d0000000");
  expect(lines[3]).toBe("          bbbb bbbb bbbb bbbb cccc cccc bbbb bbbb");
  expect(lines[5]).toBe("          cccc cccc dddd dddd dddd dddd dddd dddd");
});
