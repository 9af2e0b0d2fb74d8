import { describe, expect, test } from "vitest";
import { decodePage, NOT_FOUND } from "../../../src/features/packs/table/decode.ts";
import {
  type EncodedPack,
  encodePack,
  formatPackFault,
  type PackFault,
  type PackRange,
} from "../../../src/features/packs/table/format.ts";
import { LoadedPack, NOT_LOADED, verifyPack } from "../../../src/features/packs/table/pack.ts";
import { drawRanges, sha256, slowFind, wordsFrom } from "./pack-cases.ts";

const encode = async (ranges: Iterable<PackRange>, fieldBits = 32, perPage?: number): Promise<EncodedPack> => {
  const encoded = await encodePack(ranges, {
    fieldBits,
    sha256,
    ...(perPage === undefined ? {} : { rangesPerPage: perPage }),
  });
  if (!encoded.ok) throw new Error(formatPackFault(encoded.error));
  return encoded.value;
};

const fileOf = ({ header, pages }: EncodedPack): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat([header, ...pages]));

const regionOf = (pack: LoadedPack, key: number): string | undefined => {
  const number = pack.find(key);
  if (number === NOT_LOADED) throw new Error(`the page of ${key} is not loaded`);
  return number === NOT_FOUND ? undefined : pack.header.regions[number];
};

const faultOf = async (ranges: Iterable<PackRange>, fieldBits = 32): Promise<PackFault | undefined> => {
  const encoded = await encodePack(ranges, { fieldBits, sha256 });
  return encoded.ok ? undefined : encoded.error;
};

const SAMPLE: readonly PackRange[] = [
  { from: 0, to: 9, region: "us" },
  { from: 10, to: 19, region: "eu" },
  { from: 25, to: 25, region: "eu" },
  { from: 100, to: 2 ** 32 - 1, region: "ap" },
];

describe("a pack finds what its ranges say", () => {
  test.for([1, 3, 8, 16, 32, 33, 53])("in a field of %i bits, at every bound and beside it", async (fieldBits) => {
    for (const [count, perPage] of [
      [1, 1],
      [2, 1],
      [50, 7],
      [400, 1000],
    ] as const) {
      const seed = fieldBits * 1000 + count;
      const ranges = drawRanges(wordsFrom(seed), count, fieldBits);
      const verified = await verifyPack(fileOf(await encode(ranges, fieldBits, perPage)), sha256);
      if (!verified.ok) throw new Error(`${formatPackFault(verified.error)} (seed ${seed})`);
      const max = 2 ** fieldBits - 1;
      const keys = new Set([0, max, ...ranges.flatMap(({ from, to }) => [from - 1, from, to, to + 1])]);
      for (const key of keys) {
        if (key < 0 || key > max) continue;
        expect(regionOf(verified.value, key), `key ${key}, seed ${seed}`).toBe(slowFind(ranges, key));
      }
    }
  });

  test("where all ranges but one lie together", async () => {
    const ranges = Array.from({ length: 5000 }, (_, at) => ({ from: at * 2, to: at * 2, region: `r${at % 7}` }));
    ranges.push({ from: 2 ** 32 - 1, to: 2 ** 32 - 1, region: "far" });
    const verified = await verifyPack(fileOf(await encode(ranges)), sha256);
    if (!verified.ok) throw new Error(formatPackFault(verified.error));
    for (const key of [0, 1, 2, 4999, 5000, 9998, 9999, 10_000, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1]) {
      expect(regionOf(verified.value, key), `key ${key}`).toBe(slowFind(ranges, key));
    }
  });

  // A range in memory has 24 bits for its width beside keys of 32 bits, and 45 beside wider ones.
  test.for([
    [25, 24],
    [32, 24],
    [53, 45],
  ] as const)("in a field of %i bits, where ranges are about 2^%i keys wide", async ([fieldBits, widthBits]) => {
    const width = 2 ** widthBits;
    const max = 2 ** fieldBits - 1;
    const regions = Array.from({ length: 255 }, (_, at) => `r${String(at).padStart(3, "0")}`);
    const widths = [width - 1, 1, width, 2, width + 1, 7 * width, 3 * width - 1].filter((each) => each <= max / 2);
    const ranges: PackRange[] = regions.map((region, at) => ({ from: at, to: at, region }));
    for (let from = 300, at = 254; from <= max; from += (widths[at % widths.length] as number) + (at % 2), at++) {
      const to = Math.min(max, from + (widths[at % widths.length] as number) - 1);
      ranges.push({ from, to, region: regions[at % 255] as string });
    }
    const verified = await verifyPack(fileOf(await encode(ranges, fieldBits, 200)), sha256);
    if (!verified.ok) throw new Error(formatPackFault(verified.error));
    for (const { from, to } of ranges) {
      const cuts = [from + width - 1, from + width, from + 2 * width].filter((key) => key < to);
      for (const key of [from - 1, from, ...cuts, to, to + 1]) {
        if (key < 0 || key > max) continue;
        expect(regionOf(verified.value, key), `key ${key}`).toBe(slowFind(ranges, key));
      }
    }
  });

  test("among some thousands, at random keys, in nine octets of memory a range", async () => {
    const word = wordsFrom(77);
    const ranges = drawRanges(word, 5000, 32);
    const verified = await verifyPack(fileOf(await encode(ranges, 32, 1500)), sha256);
    if (!verified.ok) throw new Error(formatPackFault(verified.error));
    for (let random = 0; random < 5000; random++) {
      const key = word();
      expect(regionOf(verified.value, key), `key ${key}`).toBe(slowFind(ranges, key));
    }
    expect(verified.value.bytes / verified.value.header.ranges).toBeLessThan(9);
  });

  test("and says that a page is not in memory, but only where one may hold the key", async () => {
    const { header, pages } = await encode(SAMPLE, 32, 1);
    const whole = await verifyPack(new Uint8Array(Buffer.concat([header, ...pages])), sha256);
    if (!whole.ok) throw new Error(formatPackFault(whole.error));
    const pack = new LoadedPack(whole.value.header);
    expect([0, 12, 25, 5000].map((key) => pack.find(key))).toEqual(Array(4).fill(NOT_LOADED));
    expect([20, 24, 26, 99].map((key) => pack.find(key))).toEqual(Array(4).fill(NOT_FOUND));
    const info = pack.header.pages[1];
    const page = info && decodePage(pack.header, info, pages[1] as Uint8Array<ArrayBuffer>);
    if (!page?.ok) throw new Error("the page is whole");
    pack.pages[1] = page.value;
    expect(regionOf(pack, 12)).toBe("eu");
    expect(pack.find(5)).toBe(NOT_LOADED);
    pack.pages[1] = undefined;
    expect(pack.find(12)).toBe(NOT_LOADED);
  });
});

describe("what routes alike has one file", () => {
  test("however neighbours of one region are cut", async () => {
    const cut = SAMPLE.flatMap((range) =>
      range.to > range.from
        ? [
            { ...range, to: range.from },
            { ...range, from: range.from + 1 },
          ]
        : [range],
    );
    const whole = await encode(SAMPLE);
    const parts = await encode(cut);
    expect(parts.sha256).toBe(whole.sha256);
    expect(parts.ranges).toBe(SAMPLE.length);
    expect(whole.regions).toEqual(["ap", "eu", "us"]);
  });
});

describe("ranges at fault are refused, with the place", () => {
  const eu = (from: number, to: number) => ({ from, to, region: "eu" });
  test.for<[string, readonly PackRange[], PackFault]>([
    ["none", [], { reason: "empty" }],
    ["unsorted", [eu(10, 19), eu(0, 5)], { reason: "unsorted", at: 1, from: 0, before: 19 }],
    ["overlapping", [eu(10, 19), eu(19, 25)], { reason: "overlapping", at: 1, from: 19, before: 19 }],
    ["twice", [eu(10, 10), eu(10, 10)], { reason: "overlapping", at: 1, from: 10, before: 10 }],
    ["reversed", [eu(5, 4)], { reason: "reversed", at: 0, from: 5, to: 4 }],
    ["beyond", [eu(0, 256)], { reason: "beyond-field", at: 0, key: 256, max: 255 }],
    ["negative", [eu(-1, 3)], { reason: "beyond-field", at: 0, key: -1, max: 255 }],
    ["a fraction", [eu(0.5, 3)], { reason: "beyond-field", at: 0, key: 0.5, max: 255 }],
    ["no name", [{ from: 0, to: 1, region: "e u" }], { reason: "region-name", at: 0, region: "e u" }],
  ])("%s", async ([, ranges, expected]) => {
    expect(await faultOf(ranges, 8)).toEqual(expected);
  });

  test("and so is a field that has no numbers", async () => {
    expect(await faultOf(SAMPLE, 54)).toEqual({ reason: "field-bits", bits: 54, max: 53 });
    expect(await faultOf(SAMPLE, 0)).toEqual({ reason: "field-bits", bits: 0, max: 53 });
  });
});

describe("a file at fault is refused", () => {
  const faultOfFile = async (change: (file: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>) => {
    const pack = await encode(SAMPLE, 32, 2);
    const read = await verifyPack(change(fileOf(pack)), sha256, pack.sha256);
    return read.ok ? undefined : read.error;
  };

  test("with any octet changed, cut off or added", async () => {
    const { length } = fileOf(await encode(SAMPLE, 32, 2));
    for (let at = 0; at < length; at++) {
      const changed = await faultOfFile((file) => {
        file[at] = (file[at] as number) ^ 0x11;
        return file;
      });
      expect(changed, `octet ${at} changed`).toBeDefined();
      expect(await faultOfFile((file) => file.slice(0, at)), `cut at ${at}`).toBeDefined();
    }
    expect(await faultOfFile((file) => new Uint8Array([...file, 0]))).toEqual({
      reason: "trailing-octets",
      bytes: length + 1,
      needed: length,
    });
  });

  test("by the name of what is wrong", async () => {
    expect(await faultOfFile(() => new Uint8Array([1, 2, 3]))).toEqual({ reason: "not-a-pack" });
    expect(await faultOfFile((file) => file.slice(0, 40))).toMatchObject({ reason: "truncated", bytes: 40 });
    expect(await faultOfFile((file) => file.with(-1, 1))).toMatchObject({ reason: "digest-mismatch", part: 1 });
    expect(await faultOfFile((file) => file.with(20, 9))).toMatchObject({ reason: "digest-mismatch", part: "header" });
  });

  test("even where its digests are right", async () => {
    const { header, pages } = await encode(SAMPLE, 32, 10);
    const read = await verifyPack(new Uint8Array(Buffer.concat([header, ...pages])), sha256);
    if (!read.ok) throw new Error(formatPackFault(read.error));
    const info = read.value.header.pages[0];
    if (info === undefined) throw new Error("there is a page");
    const faultOfPage = (change: (keys: Uint32Array, numbers: Uint8Array) => void) => {
      const page = (pages[0] as Uint8Array<ArrayBuffer>).slice();
      change(new Uint32Array(page.buffer, 0, 8), page.subarray(32));
      const decoded = decodePage(read.value.header, info, page);
      return decoded.ok ? undefined : decoded.error;
    };
    expect(faultOfPage(() => {})).toBeUndefined();
    expect(faultOfPage((keys) => keys.set([5], 5))).toEqual({ reason: "reversed", at: 2, from: 25, to: 5 });
    expect(faultOfPage((keys) => keys.set([19], 4))).toEqual({ reason: "overlapping", at: 2, from: 19, before: 19 });
    expect(faultOfPage((keys) => keys.set([3], 4))).toEqual({ reason: "unsorted", at: 2, from: 3, before: 19 });
    expect(faultOfPage((keys) => keys.set([1], 0))).toMatchObject({ reason: "page-differs", page: 0 });
    expect(faultOfPage((_, numbers) => numbers.set([3], 1))).toEqual({
      reason: "unknown-region",
      at: 1,
      number: 3,
      regions: 3,
    });
  });
});

describe("versions", () => {
  /** Files as version 1 of this code wrote them: never to be changed. */
  const VERSION_1 = {
    narrow:
      "iVdBWVBBQ0sBAAEAsAAAACAEAwAEAAAAAgAAAAAAAAABAAEACQAAAAJhcAJldQJ1cwAAAAAAAAACAAEAcAAAAAAAAAAAAAAAAAAAAAAAM0ACAAAAGAAAAIhEWeaEzs9qX5Lh7hD6ga2W7N/Es2y0zeF7CtkHfdTVAAAAAAAAOUAAAOD////vQQIAAAAYAAAA4qc+hKNziflXownRdIgOLklIwmSrErE8pgWGbHoqPgMAAAAACQAAAAoAAAATAAAAAgEAAAAAAAAZAAAAGQAAAGQAAAD/////AQAAAAAAAAA=",
    wide: "iVdBWVBBQ0sBAAEAcAAAADUIAgACAAAAAQAAAAAAAAABAAEABgAAAAJldQJ1cwAAAgABADgAAAAAAAAAAAAcQP///////z9DAgAAACgAAACc8eDYGLor4I15Z1kjnJd3Mr2u5gk0uOcYvu3/cxcdZgAAAAAAABxAAAAAAAAAcEIAAAAAAAAwQ////////z9DAAEAAAAAAAA=",
  };
  const WIDE: readonly PackRange[] = [
    { from: 7, to: 2 ** 40, region: "eu" },
    { from: 2 ** 52, to: 2 ** 53 - 1, region: "us" },
  ];

  test.for([
    ["narrow", 32, SAMPLE, VERSION_1.narrow],
    ["wide", 53, WIDE, VERSION_1.wide],
  ] as const)("a %s file of version 1 is read, and still written like this", async ([, bits, ranges, stored]) => {
    const bytes = new Uint8Array(Buffer.from(stored, "base64"));
    const read = await verifyPack(bytes, sha256);
    if (!read.ok) throw new Error(formatPackFault(read.error));
    expect(read.value.header).toMatchObject({ version: 1, fieldBits: bits, ranges: ranges.length });
    for (const { from, to, region } of ranges) {
      expect([from, to].map((key) => regionOf(read.value, key))).toEqual([region, region]);
    }
    expect(Buffer.from(fileOf(await encode(ranges, bits, 2))).toString("base64")).toBe(stored);
  });

  /** A header as later code may write it. */
  const later = (header: Uint8Array, options: { needs?: number; flags?: number }): Uint8Array<ArrayBuffer> => {
    const changed = new Uint8Array([...header, ...new Uint8Array(16)]);
    const view = new DataView(changed.buffer);
    view.setUint16(8, 2, true);
    view.setUint16(10, options.needs ?? 1, true);
    view.setUint32(12, changed.length, true);
    view.setUint16(header.length, 77, true);
    view.setUint16(header.length + 2, options.flags ?? 0, true);
    view.setUint32(header.length + 4, 5, true);
    return changed;
  };

  test("what later code adds is passed over where it may be", async () => {
    const { header, pages } = await encode(SAMPLE, 32, 2);
    const read = async (changed: Uint8Array<ArrayBuffer>) =>
      verifyPack(new Uint8Array(Buffer.concat([changed, ...pages])), sha256);
    const added = await read(later(header, {}));
    if (!added.ok) throw new Error(formatPackFault(added.error));
    expect(added.value.header.version).toBe(2);
    expect(regionOf(added.value, 12)).toBe("eu");
    expect(await read(later(header, { flags: 1 }))).toEqual({
      ok: false,
      error: { reason: "unknown-section", section: 77 },
    });
    expect(await read(later(header, { needs: 2 }))).toEqual({
      ok: false,
      error: { reason: "too-new", version: 2, needs: 2, reads: 1 },
    });
  });
});
