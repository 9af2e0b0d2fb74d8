import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CopyBuilder, type EncodedCopy } from "../../../src/features/directory/table/copy-builder.ts";
import * as format from "../../../src/features/directory/table/copy-format.ts";
import { KeyHash } from "../../../src/features/directory/table/key-hash.ts";
import { sha256 } from "../packs/pack-cases.ts";

const KEY = Uint8Array.from({ length: 16 }, (_, at) => at);
const BUILT_AT_MS = Date.parse("2026-11-23T09:00:00.000Z");

const encode = async (rows: Iterable<readonly [key: string, region: string]>, hashKey = KEY) => {
  const builder = new CopyBuilder(hashKey);
  for (const [key, region] of rows) builder.add(key, region);
  return builder.build({ directory: "slug", builtAtMs: BUILT_AT_MS, sha256 });
};

const open = async ({ sha256: name, header, pages }: EncodedCopy): Promise<format.LoadedCopy> => {
  const read = await format.readCopyHeader(header, sha256, name);
  if (!read.ok) throw new Error(format.formatCopyFault(read.error));
  const copy = new format.LoadedCopy(read.value);
  for (const [number, bytes] of pages.entries()) {
    const page = await format.readCopyPage(read.value, number, bytes, sha256);
    if (!page.ok) throw new Error(format.formatCopyFault(page.error));
    copy.pages[number] = page.value;
  }
  return copy;
};

const made = async (rows: Iterable<readonly [key: string, region: string]>): Promise<EncodedCopy> => {
  const encoded = await encode(rows);
  if (!encoded.ok) throw new Error(format.formatCopyFault(encoded.error));
  return encoded.value;
};

const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => [`key-${at}`, ["eu", "ap", "us"][at % 3] as string] as const);

describe("SipHash-2-4", () => {
  // The reference's vectors: key 00 to 0f, message 00 to one less than its length.
  test.for([
    [0, "310e0edd47db6f72"],
    [1, "fd67dc93c539f874"],
    [2, "5a4fa9d909806c0d"],
    [7, "37d1018bf50002ab"],
    [8, "6224939a79f5f593"],
    [15, "e545be4961ca29a1"],
    [16, "db9bc2577fcc2a3f"],
    [63, "724506eb4c328a95"],
  ] as const)("of %i bytes is the reference's", ([length, expected]) => {
    const hash = new KeyHash(KEY);
    hash.ofBytes(Uint8Array.from({ length }, (_, at) => at));
    const bytes = Buffer.alloc(8);
    bytes.writeInt32LE(hash.low, 0);
    bytes.writeInt32LE(hash.high, 4);
    expect(bytes.toString("hex")).toBe(expected);
  });

  test("of a text is that of its UTF-8, whatever was hashed before", () => {
    const one = new KeyHash(KEY);
    const other = new KeyHash(KEY);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        one.of(text);
        other.ofBytes(new TextEncoder().encode(text));
        expect([one.high, one.low]).toEqual([other.high, other.low]);
      }),
    );
  });

  test("tells lone surrogates apart", () => {
    const hash = new KeyHash(KEY);
    const of = (text: string): string => {
      hash.of(text);
      return `${hash.high} ${hash.low}`;
    };
    expect(new Set(["\ud800", "\ud801", "\udc00", "\ufffd", "\ud800\udc00"].map(of)).size).toBe(5);
  });
});

describe("a copy", () => {
  test("finds what a map of its rows finds, and nothing else", async () => {
    const rows = fc.uniqueArray(fc.tuple(fc.string({ unit: "grapheme" }), fc.constantFrom("eu", "ap", "us")), {
      selector: ([key]) => key,
      minLength: 1,
      maxLength: 200,
    });
    await fc.assert(
      fc.asyncProperty(rows, fc.array(fc.string()), async (rows, others) => {
        const copy = await open(await made(rows));
        const oracle = new Map(rows);
        for (const key of [...oracle.keys(), ...others]) {
          expect(copy.header.regions[copy.find(key)]).toBe(oracle.get(key));
        }
      }),
    );
  });

  test.for([5_600, 5_601, 50_000])("of %i keys has pages of at most 64 KiB that find each", async (count) => {
    const encoded = await made(numbered(count));
    const copy = await open(encoded);
    expect(encoded.pages.length).toBe(2 ** format.pageBitsFor(count));
    expect(Math.max(...encoded.pages.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
    if (count > 5_600) expect(Math.min(...encoded.pages.map(({ length }) => length))).toBeGreaterThan(16_384);
    for (const [key, region] of numbered(count)) {
      if (copy.header.regions[copy.find(key)] !== region) throw new Error(`${key} is not found`);
      if (copy.find(`x${key}`) !== format.COPY_NOT_FOUND) throw new Error(`x${key} is found`);
    }
  });

  test("of ten million keys needs 2,048 pages and less than 100 MB", () => {
    expect(format.pageBitsFor(10_000_000)).toBe(11);
    expect(2 ** format.pageBitsFor(format.COPY_KEYS_MAX)).toBe(4_096);
    expect(10_000_000 * 8 + 2_048 * 64).toBeLessThan(100e6);
  });

  test("compares at least 56 bits beside the page's number, so that one in 10^12 is a stricter bound", () => {
    const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 12 }), (high, low, bits) => {
        const hash = (BigInt(high) << 32n) | BigInt(low);
        const page = BigInt(format.pageOfHash(high | 0, bits));
        const tail =
          (BigInt(format.wordOf(high | 0, low | 0, bits)) << 24n) | BigInt(format.restOf(low | 0, bits) >>> 0);
        // The page's number, 32 and 24 bits, one after the other, are the hash from its first bit on.
        const compared = (page << 56n) | tail;
        expect(compared).toBe(bits <= 8 ? hash >> BigInt(8 - bits) : hash << BigInt(bits - 8));
      }),
    );
    const chance = (keys: number) => keys / 2 ** Math.min(64, 56 + format.pageBitsFor(keys));
    for (const keys of [1, 5_600, 5_601, 1_000_000, 1_433_601, 10_000_000, format.COPY_KEYS_MAX]) {
      expect(chance(keys), `${keys} keys`).toBeLessThan(1e-12);
    }
  });

  test("says how often a hash is there twice, and takes no empty one", async () => {
    const twice = await encode([...numbered(10), ["key-3", "eu"], ["key-4", "us"]]);
    expect(twice).toEqual({ ok: false, error: { reason: "same-hash", count: 2 } });
    expect(await encode([])).toEqual({ ok: false, error: { reason: "empty" } });
    const regions = Array.from({ length: 256 }, (_, at) => [`k${at}`, `r${at}`] as const);
    expect(await encode(regions)).toEqual({ ok: false, error: { reason: "too-many-regions" } });
  });

  test("does not find a page that is not in memory, and names it", async () => {
    const copy = await open(await made(numbered(12_000)));
    copy.find("key-7");
    const { page } = copy;
    copy.pages[page] = undefined;
    expect(copy.find("key-7")).toBe(format.COPY_NOT_LOADED);
    expect(copy.page).toBe(page);
  });
});

describe("a hostile copy", () => {
  const header = { regions: ["eu", "ap"], pageBits: 0, digests: "" };
  const record = (word: number, rest: number, place: number): readonly number[] => [(rest << 8) | place, word];
  const faultOf = async (words: readonly number[], spoil = {}): Promise<unknown> => {
    const bytes = new Uint8Array(Uint32Array.from(words).buffer);
    const digests = Buffer.from(await sha256(bytes)).toString("hex");
    const read = await format.readCopyPage({ ...header, digests, ...spoil }, 0, bytes, sha256);
    return read.ok ? undefined : read.error;
  };

  test("page with each fault is refused", async () => {
    const good = [...record(5, 1, 0), ...record(5, 2, 1), ...record(9, 0, 0)];
    expect(await faultOf(good)).toBeUndefined();
    expect(await faultOf([...record(5, 1, 0), ...record(5, 1, 1)])).toMatchObject({ reason: "page-order", at: 1 });
    expect(await faultOf([...record(6, 1, 0), ...record(5, 1, 1)])).toMatchObject({ reason: "page-order", at: 1 });
    expect(await faultOf([...record(5, 2, 0), ...record(5, 1, 0)])).toMatchObject({ reason: "page-order", at: 1 });
    expect(await faultOf(record(5, 1, 2))).toMatchObject({ reason: "unknown-region", at: 0, regions: 2 });
    expect(await faultOf(record(5, 1, 0), { pageBits: 9 })).toMatchObject({ reason: "spare-bits", at: 0 });
    expect(await faultOf(record(5, 2, 0), { pageBits: 9 })).toBeUndefined();
    expect(await faultOf([1])).toMatchObject({ reason: "page-bytes", bytes: 4 });
    expect(await faultOf(new Array(16_386).fill(0))).toMatchObject({ reason: "page-bytes", bytes: 65_544 });
    expect(await faultOf(good, { digests: "00".repeat(32) })).toMatchObject({ reason: "digest-mismatch", part: 0 });
  });

  test("page whose hashes lie together is searched correctly", async () => {
    const words = Array.from({ length: 8_000 }, (_, at) => record(at < 7_999 ? at * 2 : 2 ** 32 - 1, 7, at % 2)).flat();
    const page = new format.CopyPage(Uint32Array.from(words));
    for (const at of [0, 1, 15, 16, 17, 4_000, 7_998]) {
      expect(page.find(at * 2, 7)).toBe(at % 2);
      expect(page.find(at * 2, 8)).toBe(format.COPY_NOT_FOUND);
      expect(page.find(at * 2 + 1, 7)).toBe(format.COPY_NOT_FOUND);
    }
    expect(page.find(2 ** 32 - 1, 7)).toBe(1);
    expect(page.find(2 ** 32 - 2, 7)).toBe(format.COPY_NOT_FOUND);
  });

  test("header with each fault is refused", async () => {
    const { header: bytes, sha256: name } = await made(numbered(12_000));
    const good = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
    const read = async (text: string, expected?: string) => {
      const own = new Uint8Array(Buffer.from(text));
      const digest = expected ?? Buffer.from(await sha256(own)).toString("hex");
      const found = await format.readCopyHeader(own, sha256, digest);
      return found.ok ? undefined : found.error.reason;
    };
    expect(await read(JSON.stringify(good))).toBeUndefined();
    expect(await read(JSON.stringify({ ...good, keys: 1 }), name)).toBe("digest-mismatch");
    for (const spoilt of [
      { format: 2 },
      { keys: 0 },
      { keys: 2 ** 25 },
      { pageBits: 1 },
      { pageBits: 13 },
      { hashKey: "00" },
      { regions: [] },
      { regions: ["eu", "eu"] },
      { regions: ["é"] },
      { digests: "" },
      { builtAt: "yesterday" },
      { more: 1 },
    ]) {
      expect(await read(JSON.stringify({ ...good, ...spoilt })), JSON.stringify(spoilt)).toBe("not-a-copy");
    }
    expect(await read("{")).toBe("not-a-copy");
    expect(await read(" ".repeat(format.COPY_HEADER_BYTES_MAX + 1))).toBe("not-a-copy");
  });
});
