import fc from "fast-check";
import { expect, test } from "vitest";
import { everyLayout, type Layout, TEXT_NAMES } from "../../../src/ids/index.ts";
import { ticksIn, timeValue } from "../../../src/ids/layout/time.ts";
import { checkTable, hintNamed, resolveAny, resolvePath } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { routeOf } from "../random-routes.ts";
import { bothWays } from "../restored.ts";
import { NOW_MS } from "../tables.ts";
import { compare } from "./compare.ts";
import { layoutOf, readAll, readAs } from "./oracle.ts";

/** Few values, so that routes overlap and meet the IDs. */
const REGIONS = ["eu", "us", "ap"];
const COUNTRIES = { KZ: 5, UZ: 6 };
const TIMES = ["2012-03-01T00:00:00Z", "2024-01-01T00:00:00Z", "2026-06-01T00:00:00+05:00"];
const VALUES = [0, 1, 5, 6, 7, 31, 255, 8191, 65_535];

const some = <Item>(items: readonly Item[]) => fc.constantFrom(...items);
const numbers = fc.oneof(
  some(VALUES),
  fc.tuple(some(VALUES), some(VALUES)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  fc.uniqueArray(some(VALUES), { minLength: 1, maxLength: 3 }),
);

/** Rows of one's own, to a whole number of bytes. */
const ownLayout = fc
  .record({
    timeBits: some([32, 40, 48]),
    unit: some(["ms", "s"] as const),
    fixed: fc.option(fc.nat(15), { nil: undefined }),
    country: fc.boolean(),
    shardBits: some([3, 8, 16, 54]),
    machineBits: some([0, 5, 12]),
    bytes: some([12, 16, 20]),
    text: some(TEXT_NAMES),
    prefix: fc.option(some(["ord_", "o", "x-"]), { nil: undefined }),
    isMoved: fc.boolean(),
  })
  .map(({ timeBits, unit, fixed, country, shardBits, machineBits, bytes, text, prefix, isMoved }) => {
    const bits = text === "uuid" ? 128 : bytes * 8;
    const rows = [
      { field: "mintedAt", bits: timeBits, role: "time", unit, epoch: "2010-01-01T00:00:00Z" },
      ...(fixed === undefined ? [] : [{ field: "format", bits: 4, role: "fixed", value: fixed }]),
      ...(country ? [{ field: "country", bits: 8, role: "key" }] : []),
      { field: "shard", bits: shardBits, role: "key" },
      ...(machineBits === 0 ? [] : [{ field: "machine", bits: machineBits, role: "node" }]),
    ];
    const rest = bits - rows.reduce((sum, row) => sum + row.bits, 0);
    const order = Array.from({ length: bits / 8 }, (_, byte) => bits / 8 - 1 - byte);
    return {
      rows: rest > 0 ? [...rows, { field: "random", bits: rest, role: "random" }] : rows,
      text,
      ...(prefix === undefined ? {} : { prefix }),
      ...(isMoved ? { octetOrder: order } : {}),
    };
  })
  .filter(({ rows, text }) => {
    const bits = rows.reduce((sum, row) => sum + row.bits, 0);
    return text === "uuid" ? bits === 128 : bits <= 160 && bits % 8 === 0;
  });

const OURS = everyLayout.map(({ name }) => name);

const when = fc.record(
  {
    layout: fc.oneof(
      some([...OURS, "own", "other", "fork"]),
      fc.uniqueArray(some([...OURS, "own"]), { minLength: 1, maxLength: 6 }),
    ),
    entity: some(["one", "two", "three", "four"]),
    country: some(Object.keys(COUNTRIES)),
    fields: fc.oneof(
      fc.record({ shard: numbers }),
      fc.record({ machine: numbers }),
      fc.record({ worker: numbers }),
      fc.record({ datacenter: numbers, worker: numbers }),
      fc.record({ country: numbers }),
      fc.record({ shardKey: numbers }),
      fc.record({ process: numbers }),
    ),
    mintedFrom: some(TIMES),
    mintedBefore: some(TIMES),
  },
  { requiredKeys: [] },
);

const randomTable = fc.record({
  routes: fc.array(routeOf(when, REGIONS), { maxLength: 10 }),
  default: fc.option(some(REGIONS), { nil: undefined }),
  own: ownLayout,
  other: ownLayout,
  names: fc.uniqueArray(some([...OURS, "own", "other", "fork"]), { minLength: 4, maxLength: 8 }),
});

const declare = ({
  routes,
  default: fallback,
  own,
  other,
  names,
}: typeof randomTable extends fc.Arbitrary<infer T> ? T : never) => {
  const layouts = { own, other, fork: { like: "snowflake", epoch: "2015-01-01T00:00:00Z" } };
  const used = Object.fromEntries(Object.entries(layouts).filter(([name]) => names.includes(name)));
  const entities = ["one", "two", "three", "four"].map((name, at) => {
    const ids = names.filter((_, index) => index % 4 === at).map((layout) => ({ layout }));
    return [name, { path: `/${name}/:id`, ids }] as const;
  });
  return {
    regions: Object.fromEntries(REGIONS.map((name) => [name, { origins: [{ url: `https://${name}.example.com` }] }])),
    countries: COUNTRIES,
    entities: Object.fromEntries(entities),
    layouts: used,
    routes,
    ...(fallback === undefined ? {} : { default: fallback }),
  } as DeclaredTable;
};

/** Takes out what a check refuses: routes that ask for what there is not, and layouts that their path cannot tell apart. */
const mend = (declared: DeclaredTable): DeclaredTable => {
  const checked = checkTable(declared);
  if (checked.ok) return checked.value;
  const routes = new Set<number>();
  const entities = { ...declared.entities };
  for (const { pointer, kind } of checked.error) {
    const [, part, name = ""] = pointer.split("/");
    if (part === "routes") {
      expect(["unreachable-route", "time-range", "unknown-name", "key-range"]).toContain(kind);
      routes.add(Number(name));
      continue;
    }
    expect([part, kind]).toEqual(["entities", "indistinguishable-layouts"]);
    const entity = entities[name];
    if (entity !== undefined) entities[name] = { ...entity, ids: entity.ids.slice(0, 1) };
  }
  const inUse = new Set(Object.values(entities).flatMap(({ ids }) => ids.map(({ layout }) => layout)));
  const layouts = Object.fromEntries(Object.entries(declared.layouts ?? {}).filter(([name]) => inUse.has(name)));
  return mend({
    ...declared,
    entities,
    layouts,
    routes: declared.routes.filter((_, index) => !routes.has(index)),
  });
};

/** Parts of a random ID: each is taken modulo the layout's room for it. */
const randomId = fc.record({
  layout: fc.nat(),
  form: fc.nat(),
  time: some(TIMES),
  stepMs: some([-1000, -1, 0, 1, 1000]),
  values: fc.array(fc.oneof(some(VALUES), fc.bigInt({ min: 0n, max: 2n ** 160n })), { minLength: 8, maxLength: 8 }),
  damage: fc.option(fc.tuple(fc.nat(), some([..."09afzAZ-_ ~"])), { nil: undefined, freq: 8 }),
});

const textOf = (
  layouts: readonly Layout[],
  { layout: at, form: formAt, time, stepMs, values, damage }: typeof randomId extends fc.Arbitrary<infer T> ? T : never,
): string => {
  const layout = layouts[at % layouts.length] as Layout;
  const words = layout.fixed.value.slice();
  const row = layout.table.rows.find(({ role }) => role === "time");
  for (const [index, field] of layout.fields.entries()) {
    if (field.role === "fixed") continue;
    const value = BigInt(values[index % values.length] ?? 0) % (BigInt(field.max) + 1n);
    const own =
      row?.role === "time" && row.field === field.name
        ? timeValue(row.unit, ticksIn(row.unit, Date.parse(time) + stepMs - row.epochMs))
        : value;
    if (own >= 0n && own <= BigInt(field.max)) field.write(words, own);
  }
  const form = layout.texts[formAt % layout.texts.length];
  const text = form?.format(words) ?? "";
  if (damage === undefined) return text;
  const [place, character] = damage;
  const index = place % (text.length + 1);
  return encodeURI(text.slice(0, index) + character + text.slice(index + 1)) || "-";
};

test("tables of many layouts, declared ones among them, lead every text where a slow reader leads it", async () => {
  let resolved = 0;
  await fc.assert(
    fc.asyncProperty(
      randomTable,
      fc.array(randomId, { minLength: 10, maxLength: 30 }),
      fc.boolean(),
      async (random, ids, isMoving) => {
        const unmoved = mend(declare(random));
        const layouts = [...new Set(Object.values(unmoved.entities ?? {}).flatMap((entity) => entity.ids))].map(
          ({ layout }) => layoutOf(unmoved, layout),
        );
        const texts = ids.map((id) => textOf(layouts, id));
        const moved = Object.fromEntries(texts.slice(0, 1).map((text) => [text, "ap"]));
        const declared = isMoving && checkTable({ ...unmoved, moved }).ok ? { ...unmoved, moved } : unmoved;
        for (const compiled of await bothWays(declared)) {
          for (const [at, text] of texts.entries()) {
            const name = layouts[at % layouts.length]?.name;
            for (const hint of [undefined, name]) {
              const named = hintNamed(compiled, hint);
              if (!named.ok) throw new Error(JSON.stringify(named.error));
              const any = resolveAny(compiled, text, NOW_MS, named.value);
              if (any.ok) resolved += 1;
              compare(any, readAll(declared, text, NOW_MS, hint));
              for (const entity of compiled.entities.values()) {
                const path = `/${entity.name}/${text}/below`;
                const match = compiled.paths.match(path);
                if (match === undefined) throw new Error(`no match for ${path}`);
                compare(
                  resolvePath(compiled, match, path, NOW_MS, named.value),
                  readAs(declared, entity.name, text, NOW_MS, hint),
                );
              }
            }
          }
        }
      },
    ),
    { numRuns: runs(40) },
  );
  expect(resolved).toBeGreaterThan(3 * runs(40));
});
