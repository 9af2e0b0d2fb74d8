import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countPackedKeys } from "../../../src/features/packs/table/diff.ts";
import type { PackRange } from "../../../src/features/packs/table/format.ts";
import { encodePack } from "../../../src/features/packs/table/format.ts";
import { type PackRanges, rangesOfFile, verifyPack } from "../../../src/features/packs/table/pack.ts";
import type { DeclaredPack } from "../../../src/features/packs/table/schema.ts";
import type { KeyOutcome } from "../../../src/routing/diff/key-changes.ts";
import { diffTables } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { drawRanges, sha256, slowFind, wordsFrom } from "../packs/pack-cases.ts";
import { sampleTable } from "../tables.ts";

/** Packs by their digest, and the entries that tables have of them. */
const packFiles = new Map<string, PackRanges>();

const make = async (
  ranges: readonly PackRange[],
  bits = 32,
  of: Pick<DeclaredPack, "field" | "slice"> = {},
): Promise<DeclaredPack> => {
  const encoded = await encodePack(ranges, { fieldBits: bits, sha256, rangesPerPage: 3 });
  if (!encoded.ok) throw new Error(encoded.error.reason);
  const { header, pages, sha256: digest, bytes, regions, ranges: count } = encoded.value;
  const file = new Uint8Array(Buffer.concat([header, ...pages]));
  const pack = await verifyPack(file, sha256, digest);
  if (!pack.ok) throw new Error(pack.error.reason);
  packFiles.set(digest, rangesOfFile(file, pack.value.header));
  return { sha256: digest, bytes, ranges: count, bits, ...of, regions: [...regions] };
};

const rangesIn = (pack: DeclaredPack): PackRanges => {
  const ranges = packFiles.get(pack.sha256);
  if (ranges === undefined) throw new Error("the pack was not made");
  return ranges;
};

const contents = (digest: string) => packFiles.get(digest);

const tableWith = (packs: Record<string, DeclaredPack>, routes: DeclaredTable["routes"]): DeclaredTable => ({
  ...sampleTable(),
  packs,
  routes: [...Object.keys(packs).map((pack) => ({ when: { layout: "hotguid" }, pack })), ...routes],
});

const BEHIND: DeclaredTable["routes"] = [{ when: { layout: "hotguid" }, region: "ap" }];

/** Each way with its number of keys. */
const waysOf = (before: DeclaredTable, after: DeclaredTable) =>
  diffTables(before, after, { packs: contents })
    .keys.filter(({ layout }) => layout === "hotguid")
    .map(({ before: from, after: to, keys, where }) => [from?.region, to?.region, keys, where]);

describe("what packs hold", () => {
  it("comes out of the file as it went in", async () => {
    for (const bits of [12, 32, 48]) {
      const random = drawRanges(wordsFrom(bits), 20, bits);
      const { bounds, numbers, regions } = rangesIn(await make(random, bits));
      const found = Array.from(numbers, (number, at) => ({
        from: bounds[at * 2],
        to: bounds[at * 2 + 1],
        region: regions[number],
      }));
      for (const { from, to, region } of found) {
        expect([slowFind(random, Number(from)), slowFind(random, Number(to))]).toEqual([region, region]);
      }
      expect(found.length).toBeGreaterThan(3);
    }
  });

  it("is counted as one key after the other would be", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 2 ** 31 }), { minLength: 0, maxLength: 4 }),
        async (seeds) => {
          const lists = seeds.map((seed) => drawRanges(wordsFrom(seed), 1 + (seed % 9), 8));
          const packs = await Promise.all(lists.map(async (ranges) => rangesIn(await make(ranges, 8))));
          const set = [3, 60, 62, 62, 100, 255];
          const half = Math.ceil(lists.length / 2);
          const slow = new Map<string, number>();
          for (let key = 0; key < 256; key++) {
            if (!(key >= 100 || key === 62 || (key >= 3 && key <= 60))) continue;
            const regionIn = (side: typeof lists) => side.map((ranges) => slowFind(ranges, key)).find(Boolean);
            const way = `${regionIn(lists.slice(0, half))} ${regionIn(lists.slice(half))}`;
            slow.set(way, (slow.get(way) ?? 0) + 1);
          }
          const fast = countPackedKeys(set, packs.slice(0, half), packs.slice(half));
          expect(new Map(fast.map(({ before, after, keys }) => [`${before} ${after}`, keys]))).toEqual(slow);
        },
      ),
      { numRuns: runs(30) },
    );
  });
});

describe("a change of packs", () => {
  it("is told by the keys that go elsewhere, with their part of all", async () => {
    const before = tableWith({ shards: await make([{ from: 0, to: 999, region: "eu" }]) }, BEHIND);
    const after = tableWith(
      {
        shards: await make([
          { from: 0, to: 899, region: "eu" },
          { from: 950, to: 1049, region: "us" },
        ]),
      },
      BEHIND,
    );
    const { keys } = diffTables(before, after, { packs: contents });
    const parcel = (region: string): KeyOutcome => ({ entity: "parcel", region });
    const change = { layout: "hotguid", where: {}, percentOfSpace: expect.any(Number), byPacks: true };
    expect(keys.filter(({ layout }) => layout === "hotguid")).toEqual([
      expect.objectContaining({ ...change, keys: "50", before: parcel("ap"), after: parcel("us") }),
      expect.objectContaining({ ...change, keys: "50", before: parcel("eu"), after: parcel("ap") }),
      expect.objectContaining({ ...change, keys: "50", before: parcel("eu"), after: parcel("us") }),
    ]);
    expect(keys[0]?.percentOfSpace).toBeCloseTo((50 / 2 ** 32) * 100, 12);
  });

  it("is none where every key goes where it went: another name, another cut, a range in place of a route", async () => {
    const shards = await make([{ from: 0, to: 99, region: "eu" }]);
    const [low, high] = [
      await make([{ from: 0, to: 49, region: "eu" }]),
      await make([{ from: 50, to: 99, region: "eu" }]),
    ];
    const plain = [{ when: { layout: "hotguid", shardKey: "0-99" }, region: "eu" }, ...BEHIND];
    expect(waysOf(tableWith({ shards }, BEHIND), tableWith({ others: shards }, BEHIND))).toEqual([]);
    expect(waysOf(tableWith({ shards }, BEHIND), tableWith({ low, high }, BEHIND))).toEqual([]);
    expect(waysOf(tableWith({}, plain), tableWith({ shards }, BEHIND))).toEqual([]);
    expect(waysOf(tableWith({}, BEHIND), tableWith({ shards }, BEHIND))).toEqual([["ap", "eu", "100", {}]]);
  });

  it("leaves to the first of two packs what both hold, and says whole boxes as it says them without packs", async () => {
    const first = await make([{ from: 0, to: 9, region: "eu" }]);
    const second = await make([{ from: 5, to: 19, region: "us" }]);
    expect(waysOf(tableWith({ first, second }, BEHIND), tableWith({ second, first }, BEHIND))).toEqual([
      ["eu", "us", "5", {}],
    ]);
    const whole = await make([{ from: 0, to: 2 ** 32 - 1, region: "eu" }]);
    const [change] = diffTables(tableWith({}, BEHIND), tableWith({ whole }, BEHIND), { packs: contents }).keys.filter(
      ({ layout }) => layout === "hotguid",
    );
    expect(change).toMatchObject({ keys: String(2 ** 32), after: { region: "eu" } });
    expect(change?.byPacks).toBeUndefined();
  });

  it("is exact beside routes for slices of the key, and for packs of a slice", async () => {
    const shards = await make([{ from: 2 ** 22 * 32 - 10, to: 2 ** 22 * 32 + 9, region: "eu" }]);
    const routes: DeclaredTable["routes"] = [{ when: { slices: { partition: "0-3" } }, region: "us" }, ...BEHIND];
    expect(waysOf(tableWith({}, routes), tableWith({ shards }, routes))).toEqual([
      ["us", "eu", "4", { "slices.partition": "0-3" }],
      ["ap", "eu", "16", { "slices.partition": "4-4194303" }],
    ]);
    const parts = (to: number, region: string) => make([{ from: 0, to, region }], 22, { slice: "partition" });
    const few = await parts(3, "eu");
    const more = await parts(5, "eu");
    expect(waysOf(tableWith({ few }, BEHIND), tableWith({ more }, BEHIND))).toEqual([
      ["ap", "eu", String(2 * 1024), {}],
    ]);
  });

  it("stays one of all keys where the contents are not at hand, or are of several numbers", async () => {
    const shards = await make([{ from: 0, to: 9, region: "eu" }]);
    const parts = await make([{ from: 0, to: 9, region: "eu" }], 22, { slice: "partition" });
    const all = [["ap", "ap", String(2 ** 32)]];
    const ways = (after: DeclaredTable, known: typeof contents) =>
      diffTables(tableWith({}, BEHIND), after, { packs: known })
        .keys.filter(({ layout }) => layout === "hotguid")
        .map(({ before, after: next, keys }) => [before?.region, next?.region, keys]);
    expect(ways(tableWith({ shards }, BEHIND), () => undefined)).toEqual(all);
    expect(ways(tableWith({ shards, parts }, BEHIND), contents)).toMatchObject([["ap", "ap", expect.any(String)]]);
  });
});
