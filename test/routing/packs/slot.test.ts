import { describe, expect, it } from "vitest";
import type { PackHeader } from "../../../src/features/packs/table/decode.ts";
import { entryFault, formatEntryFault } from "../../../src/features/packs/table/pack.ts";

const header: PackHeader = {
  version: 1,
  fieldBits: 32,
  keyBytes: 4,
  ranges: 3,
  regions: ["eu", "us"],
  pages: [],
  headerBytes: 100,
  bytes: 200,
};
const declared = { sha256: "0".repeat(64), bytes: 200, ranges: 3, bits: 32, regions: ["eu", "us"] };

describe("what a table says of a pack, and the pack's own header", () => {
  it("agree where all four are the same", () => {
    expect(entryFault(declared, header)).toBeUndefined();
  });

  it.each([
    ["bytes", { bytes: 201 }, "the table says bytes 200, and it has 201"],
    ["ranges", { ranges: 2 }, "the table says ranges 3, and it has 2"],
    ["bits", { fieldBits: 33 }, "the table says bits 32, and it has 33"],
    [
      "regions in another order",
      { regions: ["us", "eu"] },
      'the table says regions ["eu","us"], and it has ["us","eu"]',
    ],
    [
      "one region whose name looks like a list",
      { regions: ["eu,us"] },
      'the table says regions ["eu","us"], and it has ["eu,us"]',
    ],
    [
      "a region more",
      { regions: ["eu", "us", "ap"] },
      'the table says regions ["eu","us"], and it has ["eu","us","ap"]',
    ],
  ])("differ by %s", (_, other, text) => {
    const fault = entryFault(declared, { ...header, ...other });
    expect(fault && formatEntryFault(fault)).toBe(text);
  });
});
