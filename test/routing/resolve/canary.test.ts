import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { regionsOfMinted } from "../../../src/features/mint/table/verify.ts";
import { canarySelectorSchema } from "../../../src/formats/table-requests.ts";
import { everyLayout, formatShortKey, luuid, mixWords, toSql, type Words } from "../../../src/ids/index.ts";
import { identityWords, isOneIdentity, LUUID_SHORT } from "../../../src/routing/identity.ts";
import { explain, readSelector, resolveAny, resolvePath } from "../../../src/routing/index.ts";
import { percentTaking, placeOf, shareHash } from "../../../src/routing/resolve/match.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import type { CompiledTable, Target } from "../../../src/routing/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";
import { slowMurmur3, slowPlace } from "./slow-canary.ts";

const COUNT = 100_000;

/** Mulberry32: the same words in each run. */
const randomWords = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
};

const random = (seed: number): readonly Words[] => {
  const word = randomWords(seed);
  return Array.from({ length: COUNT }, () => [word(), word(), word(), word()]);
};

/** IDs as minters count them up, at each place where a layout may have its counter. */
const SERIES: Readonly<Record<string, readonly Words[]>> = {
  "random IDs": random(1),
  "other random IDs": random(20261121),
  "a counter in the last bits": count((n) => [0x0192f0c1, 0x7a308005, 0x80408f3b, n]),
  "a counter in the first bits": count((n) => [(n << 12) >>> 0, 0, 0, 0]),
  "a counter in the second word": count((n) => [0x6347eb00, (n << 8) >>> 0, 0x02010203, 0xd0000000]),
  "LUUIDs by their primary keys": count((n) => [n >>> 16, (((n & 0xffff) << 16) | 0x6d0b) >>> 0, 0xa0000000, 0]),
  "Snowflakes of one worker": count((n) => [(0x15650000 + (n >>> 12)) >>> 0, ((n & 0xfff) | 0x23000) >>> 0]),
  "even numbers of two words": count((n) => [0, n * 2]),
};

function count(idOf: (n: number) => Words): readonly Words[] {
  return Array.from({ length: COUNT }, (_, n) => idOf(n));
}

/** Chi-square of 99 degrees of freedom: beyond it lies less than one chance in a million. */
const CHI_SQUARE_MAX = 182;

const chiSquare = (buckets: readonly number[]): number => {
  const expected = buckets.reduce((sum, many) => sum + many, 0) / buckets.length;
  return buckets.reduce((sum, many) => sum + (many - expected) ** 2 / expected, 0);
};

const tally = (bucketCount: number, all: readonly Words[], bucketOf: (words: Words) => number): readonly number[] => {
  const buckets = new Array<number>(bucketCount).fill(0);
  for (const words of all) {
    const bucket = bucketOf(words);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  return buckets;
};

describe.each(Object.entries(SERIES))("%s", (_, all) => {
  test("stand evenly in a hundred hundredths", () => {
    expect(chiSquare(tally(100, all, (words) => Math.floor(placeOf("", words) * 100)))).toBeLessThan(CHI_SQUARE_MAX);
  });

  test.each([1, 5, 10, 37.5, 50, 90, 99])(
    "are taken to within half a percent of the whole by %d percent",
    (percent) => {
      const taken = all.filter((words) => placeOf("", words) < percent / 100).length;
      expect(Math.abs(taken / COUNT - percent / 100)).toBeLessThan(0.005);
    },
  );

  test("stand independently of the hash that chooses an origin", () => {
    const both = (words: Words): number =>
      Math.floor(placeOf("", words) * 10) * 10 + Math.floor((mixWords(words) / 2 ** 32) * 10);
    const rows = tally(100, all, both);
    // Whatever the other hash does with such IDs: in each of its tenths ours takes a tenth.
    for (let other = 0; other < 10; other++) {
      const row = rows.filter((_, at) => at % 10 === other);
      if (row.reduce((sum, many) => sum + many, 0) > 1000) expect(chiSquare(row)).toBeLessThan(55);
    }
  });
});

describe("the hash", () => {
  test.each([
    ["aaaa", 0x9747b28c, 0x5a97808a],
    ["abcd", 0x9747b28c, 0xf0478627],
    ["\0\0\0\0", 0, 0x2362f9de],
    ["", 1, 0x514e28b7],
  ])("is MurmurHash3: %j", (text, seed, hash) => {
    const bytes = [...text].map((character) => character.charCodeAt(0));
    const words = bytes.length === 0 ? [] : [bytes.reduceRight((word, byte) => word * 256 + byte, 0)];
    expect(shareHash(words, seed)).toBe(hash);
    expect(slowMurmur3(bytes.map(BigInt), BigInt(seed))).toBe(hash);
  });

  test("is the slow one, for each layout", () => {
    const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const random = fc.tuple(fc.constantFrom(...everyLayout), fc.array(word, { minLength: 8, maxLength: 8 }));
    fc.assert(
      fc.property(random, ([layout, noise]) => {
        const { mask, value } = layout.fixed;
        const words = mask.map((bits, at) => (((noise[at] as number) & ~bits) | (value[at] as number)) >>> 0);
        expect(placeOf(layout.name, words)).toBe(slowPlace(layout, words));
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("an entity", () => {
  test("is one in both forms of a HotGuid", () => {
    for (const words of random(7).slice(0, 1000)) {
      expect(identityWords("hotguid-sql", toSql(words))).toEqual(identityWords("hotguid", words));
    }
  });

  test("is one by an LUUID and by its short key", () => {
    for (const words of random(8).slice(0, 1000)) {
      const { mask, value } = luuid.fixed;
      const long = words.map((word, at) => ((word & ~(mask[at] as number)) | (value[at] as number)) >>> 0);
      const short = [long[0] as number, long[1] as number, 0xa0000000, 0];
      expect(identityWords("luuid", long)).toEqual(identityWords(LUUID_SHORT, short));
    }
  });

  test("is another one by another group or another primary key", () => {
    const places = [
      [0, 0x20786d0b, 0xa0000000, 0],
      [0, 0x20786d0c, 0xa0000000, 0],
      [0, 0x20796d0b, 0xa0000000, 0],
      [1, 0x20786d0b, 0xa0000000, 0],
    ].map((words) => placeOf("luuid", words));
    expect(new Set(places).size).toBe(4);
  });

  test("is told by all of its words in every other layout", () => {
    const words = [1, 2, 3, 4];
    for (const { name } of everyLayout) {
      if (name === "luuid" || name === "hotguid-sql") continue;
      expect(identityWords(name, words)).toBe(words);
    }
  });

  test("is known to be one by two layouts only where both read the same words and tell it by them", () => {
    const layout = (name: string) => {
      const found = everyLayout.find((each) => each.name === name);
      if (found === undefined) throw new Error(`no layout ${name}`);
      return found;
    };
    expect(isOneIdentity(layout("hotguid"), layout("uuid-v4"))).toBe(true);
    expect(isOneIdentity(layout("hotguid"), layout("hotguid-sql"))).toBe(false);
    expect(isOneIdentity(layout("luuid"), layout("uuid-v4"))).toBe(false);
    expect(isOneIdentity(layout("xid"), layout("object-id"))).toBe(false);
    expect(isOneIdentity(layout("distributed-id"), layout("snowflake"))).toBe(false);
  });
});

const HOTGUID = "6347eb00-bbaa-01cc-0201-0203d0000000";
const HOTGUID_SQL = "000000d0-0302-0102-01cc-6347eb00bbaa";
const MOVED_PERSON = "00000023-122e-6d0b-a789-28ef27ab7c62";

const ramped = (percent: number, changes: Partial<DeclaredTable> = {}): CompiledTable => {
  const sample = sampleTable();
  const entities = {
    ...sample.entities,
    crate: { path: "/crates/:id", ids: [{ layout: "hotguid-sql" }] },
  };
  const routes = [
    ...sample.routes.map((route) => ({ ...route, canary: { region: route.region === "us" ? "ap" : "us", percent } })),
    { when: { entity: "crate" }, region: "eu", canary: { region: "us", percent } },
  ];
  return load({ ...sample, entities, routes, ...changes });
};

const goOn = (table: CompiledTable, path: string): Target => {
  const match = table.paths.match(path);
  if (match === undefined) throw new Error(`no entity has the path ${path}`);
  const resolved = resolvePath(table, match, path, NOW_MS);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
  return resolved.value.target;
};

const regionOn = (table: CompiledTable, path: string): string => goOn(table, path).region.name;

const person = (primaryKey: number, random: string): string => {
  const hex = primaryKey.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-6d0b-a${random.slice(0, 3)}-${random.slice(3)}`;
};

describe("a share", () => {
  const order = (n: number): string => `/orders/01990f04-d900-8005-8040-${n.toString(16).padStart(12, "0")}`;
  const orders = Array.from({ length: 2000 }, (_, n) => order(n));

  test("of nothing takes none, of everything takes all, and a part of a percent takes its part", () => {
    const takenBy = (percent: number): number => {
      const table = ramped(percent);
      return orders.filter((path) => regionOn(table, path) === "us").length;
    };
    expect([takenBy(0), takenBy(100)]).toEqual([0, 2000]);
    expect(takenBy(0.1)).toBeLessThan(10);
    const few = load({
      ...sampleTable(),
      routes: [{ when: { entity: "order" }, region: "eu", canary: { region: "us", percent: 0.01 } }],
      layouts: {},
      entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } },
      moved: {},
    });
    const taken = Array.from({ length: COUNT }, (_, n) => order(n)).filter((path) => regionOn(few, path) === "us");
    expect(taken.length).toBeGreaterThan(0);
    expect(taken.length).toBeLessThan(30);
  });

  test("that only grows never gives an entity back", () => {
    const steps = [0, 0.01, 1, 5, 10, 10.5, 33.3, 50, 99.9, 100].map((percent) => ramped(percent));
    let before = new Set<string>();
    for (const table of steps) {
      const taken = new Set(orders.filter((path) => regionOn(table, path) === "us"));
      expect([...before].filter((path) => !taken.has(path))).toEqual([]);
      before = taken;
    }
    expect(before.size).toBe(orders.length);
  });

  test("takes an entity whatever its place among the routes", () => {
    const sample = sampleTable();
    const canary = { region: "us", percent: 30 };
    const way = { when: { entity: "order" }, region: "eu", canary };
    const first = load({ ...sample, routes: [way, ...sample.routes.slice(2)] });
    const last = load({ ...sample, routes: [...sample.routes.slice(2), way] });
    for (const path of orders.slice(0, 200)) expect(regionOn(first, path)).toBe(regionOn(last, path));
  });

  test("takes an LUUID by each of its texts and by its short key, or by none", () => {
    const table = ramped(40);
    let taken = 0;
    for (let primaryKey = 100; primaryKey < 400; primaryKey++) {
      const texts = [
        person(primaryKey, "000000000000000"),
        person(primaryKey, "123456789abcdef"),
        person(primaryKey, "123456789abcdef").toUpperCase(),
        formatShortKey(primaryKey),
      ];
      const regions = new Set(texts.map((text) => regionOn(table, `/person/${text}`)));
      expect(regions.size).toBe(1);
      if (regions.has("us")) taken++;
    }
    expect(taken).toBeGreaterThan(80);
    expect(taken).toBeLessThan(160);
  });

  test("takes a HotGuid in both of its forms, or in none", () => {
    const at = percentTaking("hotguid", [0x6347eb00, 0xbbaa01cc, 0x02010203, 0xd0000000]);
    for (const [percent, region] of [
      [at - 0.0001, "eu"],
      [at, "us"],
    ] as const) {
      const table = ramped(percent);
      expect(regionOn(table, `/parcels/${HOTGUID}`)).toBe(region);
      expect(regionOn(table, `/crates/${HOTGUID_SQL}`)).toBe(region);
    }
  });

  test("takes no entity that was moved", () => {
    const table = ramped(100, { moved: { [MOVED_PERSON]: "ap" } });
    expect(goOn(table, `/person/${MOVED_PERSON}`)).toMatchObject({ region: { name: "ap" }, rule: { kind: "moved" } });
    expect(regionOn(table, "/person/23122e")).toBe("ap");
    expect(regionOn(table, "/person/23122f")).toBe("us");
  });

  test("is the same for an ID that is minted, looked up anywhere, and explained", () => {
    const table = ramped(50);
    const entity = table.entities.get("order");
    const enabled = table.layouts.get("iuid");
    if (entity === undefined || enabled === undefined) throw new Error("the sample has these");
    for (const path of orders.slice(0, 200)) {
      const text = path.slice("/orders/".length);
      const words = enabled.layout.parse(text);
      if (!words.ok) throw new Error(`no ID: ${text}`);
      const region = regionOn(table, path);
      expect(regionsOfMinted(entity, enabled, [words.value])).toEqual({ ok: true, value: [region] });
      expect(resolveAny(table, text, NOW_MS)).toMatchObject({
        ok: true,
        value: { target: { region: { name: region } } },
      });
      const explanation = explain(table, text, NOW_MS);
      expect(explanation.decision).toMatchObject({ region });
      expect(explanation.candidates.filter(({ excluded }) => !excluded).map((each) => each.region)).toEqual([region]);
    }
  });

  test("is explained with the least percent at which it takes the ID", () => {
    const text = "01990f04-d900-8005-8040-00000000002a";
    const canaryIn = (table: CompiledTable) =>
      explain(table, text, NOW_MS).candidates.find(({ entity }) => entity === "order");
    const { takesFrom = 0 } = canaryIn(ramped(0))?.canary ?? {};
    expect(takesFrom).toBeGreaterThan(0);
    const below = Number((takesFrom - 0.0001).toFixed(4));
    for (const [percent, region] of [
      [0, "eu"],
      [below, "eu"],
      [takesFrom, "us"],
      [100, "us"],
    ] as const) {
      expect(canaryIn(ramped(percent))).toMatchObject({ region, canary: { region: "us", percent, takesFrom } });
    }
    const moved = ramped(100, { moved: { [text]: "ap" } });
    expect(canaryIn(moved)).toMatchObject({ region: "ap" });
    expect(canaryIn(moved)).not.toHaveProperty("canary");
    expect(canaryIn(load(sampleTable()))).not.toHaveProperty("canary");
  });

  test("names its route, and its target takes nothing of a canary itself", () => {
    const target = goOn(ramped(100), `/parcels/${HOTGUID}`);
    expect(target).toMatchObject({ region: { name: "us" }, rule: { kind: "canary", index: 2 } });
    expect(target.canary).toBeUndefined();
  });
});

test("a pointer's audience is read by the rules for callers", () => {
  const share = fc.oneof(
    fc.constantFrom(0, 1e-4, 1e-5, 33.3333, 33.33333, 100, 100.0001, Number.NaN, -1),
    fc.double(),
    fc.integer(),
  );
  const name = fc.constantFrom("KZ", "kz", "KZT", "order", "a-b_1", "1a", "", "a".repeat(64), "a".repeat(65), "ä");
  const names = fc.oneof(fc.array(fc.oneof(name, fc.integer()), { maxLength: 4 }), fc.constant(Array(301).fill("KZ")));
  const audience = fc.oneof(
    fc.record({ share, countries: names, entities: names, plan: name }, { requiredKeys: [] }),
    fc.record({ share }),
    fc.record({ countries: fc.oneof(names, name) }),
    fc.record({ entities: fc.oneof(names, name) }),
    fc.anything(),
  );
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(audience, (value) => {
      const { success } = v.safeParse(canarySelectorSchema, value);
      expect(readSelector(value)).toEqual(success ? value : undefined);
      seen[success ? "read" : "refused"] += 1;
    }),
    { numRuns: runs(1_000) },
  );
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(20);
});
