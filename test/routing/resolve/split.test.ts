import { describe, expect, test } from "vitest";
import { formatShortKey, hotguid, toSql, type Words } from "../../../src/ids/index.ts";
import { explain, resolveAny, resolvePath } from "../../../src/routing/index.ts";
import { partOf } from "../../../src/routing/resolve/match.ts";
import type { CompiledTable } from "../../../src/routing/table.ts";
import { load, NOW_MS } from "../tables.ts";

/** A region for each part, so that the region says the part. */
const REGIONS = ["p0", "p1", "p2", "p3"];

const declared = (parts: number, regions: readonly string[]) => ({
  regions: Object.fromEntries(
    [...new Set(regions)].map((name) => [name, { origins: [{ url: `https://${name}.example` }] }]),
  ),
  countries: { BR: 7 },
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    crate: { path: "/crates/:id", ids: [{ layout: "hotguid-sql" }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
  },
  routes: [{ when: {}, split: { by: "hash", parts, regions: [...regions] } }],
});

const SPLIT = load(declared(4, REGIONS));

const regionOn = (table: CompiledTable, path: string): string => {
  const match = table.paths.match(path);
  if (match === undefined) throw new Error(`no entity has the path ${path}`);
  const resolved = resolvePath(table, match, path, NOW_MS);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
  return resolved.value.target.region.name;
};

const person = (primaryKey: number, random: string): string => {
  const hex = primaryKey.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-6d0b-a${random.slice(0, 3)}-${random.slice(3)}`;
};

const order = (n: number): string => `01990f04-d900-8007-8040-${n.toString(16).padStart(12, "0")}`;

/** A parcel's ID in both forms, with time and counter from `n`. */
const parcel = (n: number): readonly [own: string, sql: string] => {
  const words = [0x6347eb00 + n, 0xbbaa01cc, (0x02010000 + (n & 0xffff)) >>> 0, 0xd0000000] as Words;
  return [hotguid.format(words), hotguid.format(toSql(words))];
};

const NUMBERS = Array.from({ length: 300 }, (_, n) => n);

describe("an entity is in one part, whatever text it is written in:", () => {
  test("an LUUID by each of its texts and by its short key", () => {
    for (const n of NUMBERS) {
      const texts = [
        person(n + 100, "000000000000000"),
        person(n + 100, "123456789abcdef"),
        person(n + 100, "fedcba987654321").toUpperCase(),
        formatShortKey(n + 100),
      ];
      expect(new Set(texts.map((text) => regionOn(SPLIT, `/person/${text}`))).size, String(n)).toBe(1);
    }
  });

  test("a HotGuid in both of its forms", () => {
    for (const n of NUMBERS) {
      const [own, sql] = parcel(n);
      const texts = [`/parcels/${own}`, `/parcels/${own.toUpperCase()}`, `/crates/${sql}`];
      expect(new Set(texts.map((path) => regionOn(SPLIT, path))).size, own).toBe(1);
    }
  });

  test("on its own path, anywhere, and explained", () => {
    for (const n of NUMBERS) {
      const text = order(n);
      const region = regionOn(SPLIT, `/orders/${text}`);
      expect(resolveAny(SPLIT, text, NOW_MS)).toMatchObject({ value: { target: { region: { name: region } } } });
      expect(explain(SPLIT, text, NOW_MS).decision).toMatchObject({ region });
    }
  });
});

/** Never to change: whoever has split a country has its data where these say. */
const PARTS: readonly (readonly [layout: string, words: Words, ofFour: number, ofEight: number, of256: number])[] = [
  ["iuid", [0x01990f04, 0xd9008007, 0x80400000, 0x00000001], 1, 3, 100],
  ["iuid", [0x0192f0c1, 0x7a308005, 0x80408f3b, 0x2a1c9d77], 3, 6, 209],
  ["hotguid", [0x6347eb00, 0xbbaa01cc, 0x02010203, 0xd0000000], 2, 5, 189],
  ["hotguid-sql", [0x000000d0, 0x03020102, 0x01cc6347, 0xeb00bbaa], 2, 5, 189],
  ["luuid", [0x00000023, 0x122e6d0b, 0xa78928ef, 0x27ab7c62], 2, 4, 139],
  ["luuid-short", [0x00000023, 0x122e6d0b, 0xa0000000, 0x00000000], 2, 4, 139],
  ["snowflake", [0x15650000, 0x00023001], 0, 1, 53],
];

describe("parts", () => {
  test.each(PARTS)("of %s %j stay what they are: %d of 4, %d of 8, %d of 256", (layout, words, ...expected) => {
    expect([4, 8, 256].map((parts) => partOf(layout, words, parts))).toEqual(expected);
  });

  test("are equal: of 40,000 orders each of four takes a fourth, within two hundredths of it", () => {
    const taken = new Map(REGIONS.map((region) => [region, 0]));
    for (let n = 0; n < 40_000; n++) {
      const part = partOf("iuid", [0x01990f04, 0xd9008007, 0x80400000, n], 4);
      const region = REGIONS[part] as string;
      taken.set(region, (taken.get(region) ?? 0) + 1);
    }
    for (const [region, many] of taken) expect(Math.abs(many - 10_000), region).toBeLessThan(200);
  });

  test("that are doubled are cut in two, and nothing moves until the list says so", () => {
    const doubled = load(
      declared(
        8,
        REGIONS.flatMap((region) => [region, region]),
      ),
    );
    for (const n of NUMBERS) {
      const path = `/orders/${order(n)}`;
      expect(regionOn(doubled, path)).toBe(regionOn(SPLIT, path));
    }
  });
});
