import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareRegions, type SpaceSide } from "../../src/routing/diff-space.ts";
import { diffTables } from "../../src/routing/index.ts";
import { countOf, includes, pairsOf, rangesOf } from "../../src/routing/ranges.ts";
import type { DeclaredTable } from "../../src/routing/schema.ts";
import { sampleTable } from "./tables.ts";

const change = (changes: Partial<DeclaredTable>): DeclaredTable => ({ ...sampleTable(), ...changes });
const keysOf = (before: DeclaredTable, after: DeclaredTable) => diffTables(before, after).keys;

describe("what the tables say", () => {
  test("a table does not differ from itself, whatever the order of its keys", () => {
    const turned = Object.fromEntries(Object.entries(sampleTable()).toReversed()) as DeclaredTable;
    expect(diffTables(sampleTable(), turned)).toMatchObject({ isEmpty: true, keys: [], hosts: undefined });
  });

  test("every part is compared by name", () => {
    const { eu, us } = sampleTable().regions;
    if (eu === undefined || us === undefined) throw new Error("the sample has these regions");
    const after = change({
      gateway: { hosts: [] },
      regions: { ...sampleTable().regions, eu: { ...eu, failover: [] }, sa: us },
      countries: { KZ: 5, BR: 8, DE: 6 },
      moved: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": "ap" },
      routes: [{ when: {}, region: "eu" }],
      layouts: {},
      default: "us",
    });
    expect(diffTables(sampleTable(), after)).toMatchObject({
      isEmpty: false,
      hosts: { before: ["api.example.com"], after: [] },
      regions: { added: { sa: us }, removed: {}, changed: { eu: { before: eu, after: { failover: [] } } } },
      countries: { added: { DE: 6 }, removed: { UZ: 6 }, changed: { BR: { before: 7, after: 8 } } },
      moved: {
        added: {},
        removed: { "00000023-122e-6d0b-a789-28ef27ab7c62": "us" },
        changed: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": { before: "us", after: "ap" } },
      },
      layouts: { removed: { hotguid: {} } },
      default: { before: undefined, after: "us" },
      routes: { before: 5, after: 1, differ: true },
    });
  });
});

describe("which keys change their region", () => {
  test("a country is cut over from a moment on", () => {
    const routes = sampleTable().routes.with(0, {
      when: { layout: "iuid", country: "KZ", mintedBefore: "2027-01-01T00:00:00Z" },
      region: "eu",
    });
    expect(keysOf(sampleTable(), change({ routes }))).toEqual(
      [
        ["order", 1],
        ["ride", 2],
      ].map(([entity, service]) => ({
        entity,
        layout: "iuid",
        service,
        group: undefined,
        mintedFrom: "2026-06-01T00:00:00.000Z",
        mintedBefore: "2027-01-01T00:00:00.000Z",
        where: { country: "KZ" },
        keys: "1",
        before: "ap",
        after: "eu",
      })),
    );
  });

  test("ranges of keys are counted exactly, and neighbours are one", () => {
    const routes = sampleTable().routes.with(2, {
      when: { layout: "hotguid", shardKey: ["0-511", "2000-2999"] },
      region: "eu",
    });
    expect(keysOf(sampleTable(), change({ routes }))).toMatchObject([
      { entity: "parcel", where: { shardKey: "512-1023" }, keys: "512", before: "eu", after: undefined },
      { entity: "parcel", where: { shardKey: "2000-2999" }, keys: "1000", before: undefined, after: "eu" },
    ]);
  });

  test("a slice in the middle of the key is counted with every other bit", () => {
    const routes = [...sampleTable().routes, { when: { slices: { partition: "0-1" } }, region: "us" }];
    const changes = keysOf(sampleTable(), change({ routes }));
    // 1,024 prefixes and two partitions, less those of country 32 and of area 143, and 0 and 1, which other routes have.
    expect(changes.reduce((sum, { keys }) => sum + BigInt(keys), 0n)).toBe(BigInt((1024 - 7) * 2 - 2));
    expect(changes.every(({ before, after }) => before === undefined && after === "us")).toBe(true);
    expect(changes[0]?.where["slices.partition"]).toBe("0-1");
  });

  test("a route that changes nothing shows as a change of routes only", () => {
    const routes = sampleTable().routes.with(1, { when: { country: ["UZ", "KZ"] }, region: "ap" });
    expect(diffTables(sampleTable(), change({ routes }))).toMatchObject({
      isEmpty: false,
      keys: [],
      routes: { differ: true },
    });
  });

  test("a new default takes all that no route takes", () => {
    const changes = keysOf(sampleTable(), change({ default: "us" }));
    expect(changes.filter(({ entity }) => entity === "order")).toMatchObject([
      { where: { country: "0-4, 7-255" }, keys: "254", before: undefined, after: "us" },
    ]);
    expect(changes.some(({ entity }) => entity === "person")).toBe(false);
  });
});

test("boxes of changes hold exactly the points that change, each once", () => {
  const SPAN = 12;
  const set = fc
    .array(fc.tuple(fc.nat(SPAN - 1), fc.nat(4)), { minLength: 1, maxLength: 2 })
    .map((pairs) => rangesOf(pairs.map(([low, more]) => [low, Math.min(SPAN - 1, low + more)])));
  const region = fc.constantFrom("eu", "us");
  const side: fc.Arbitrary<SpaceSide> = fc.record({
    routes: fc.array(
      fc.record({ region, sets: fc.tuple(...[0, 1, 2].map(() => fc.option(set, { nil: undefined }))) }),
      { maxLength: 5 },
    ),
    fallback: fc.option(region, { nil: undefined }),
  });
  const regionAt = ({ routes, fallback }: SpaceSide, point: readonly number[]) => {
    const found = routes.find(({ sets }) =>
      sets.every((own, at) => own === undefined || includes(own, point[at] as number)),
    );
    return found === undefined ? fallback : found.region;
  };
  fc.assert(
    fc.property(side, side, (before, after) => {
      const spans = [0, 1, 2].map(() => [0, SPAN - 1]);
      const changes = compareRegions(spans, before, after);
      let changed = 0;
      for (let value = 0; value < SPAN ** 3; value++) {
        const point = [value % SPAN, Math.floor(value / SPAN) % SPAN, Math.floor(value / SPAN ** 2)];
        const [from, to] = [regionAt(before, point), regionAt(after, point)];
        const holding = changes.filter(({ sets }) => sets.every((own, at) => includes(own, point[at] as number)));
        expect(holding.map((one) => [one.before, one.after])).toEqual(from === to ? [] : [[from, to]]);
        if (from !== to) changed++;
      }
      expect(changes.reduce((sum, { sets }) => sum + sets.reduce((product, own) => product * countOf(own), 1), 0)).toBe(
        changed,
      );
      for (const { sets } of changes) for (const own of sets) expect(rangesOf(pairsOf(own))).toEqual(own);
    }),
    { numRuns: 60 },
  );
});
