import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { isUnambiguous, regionByWords } from "../../../src/features/mint/table/verify.ts";
import type { Words } from "../../../src/ids/index.ts";
import { resolvePath } from "../../../src/routing/index.ts";
import type { CompiledTable, Entity } from "../../../src/routing/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { faultsOf, load, NOW_MS } from "../tables.ts";

const REGIONS = { eu: origin("eu"), us: origin("us"), ap: origin("ap") };

function origin(name: string) {
  return { origins: [{ url: `https://${name}.example.com` }] };
}

const UUID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";

/** Some share a form, some a layout, some have two, and some paths have a text of an ID in the place of one. */
const ENTITIES = {
  order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
  ride: { path: ["/rides/:id", "/v2/*/rides/:id"], ids: [{ layout: "iuid", service: 2 }] },
  bill: { path: "/bills/:id", ids: [{ layout: "iuid" }] },
  parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
  row: { path: "/rows/:id", ids: [{ layout: "hotguid-sql" }] },
  person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
  event: { path: "/events/:id", ids: [{ layout: "uuid-v7" }] },
  note: { path: "/notes/:id", ids: [{ layout: "uuid-v4" }, { layout: "iuid", service: 3 }] },
  song: { path: "/songs/:id", ids: [{ layout: "ulid" }] },
  tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
  job: { path: "/jobs/:id", ids: [{ layout: "xid" }] },
  push: { path: "/pushes/:id", ids: [{ layout: "push-id" }] },
  literal: { path: `/orders/${UUID}/:id`, ids: [{ layout: "ksuid" }] },
  secret: { path: "/secrets/:id", ids: [{ layout: "iuid", service: 7 }], public: true },
};
type Name = keyof typeof ENTITIES;
const NAMES = Object.keys(ENTITIES) as Name[];

const region = fc.constantFrom("eu", "us", "ap");
const target = fc.oneof(
  fc.record({ region }),
  fc.record({ region, canary: fc.record({ region, percent: fc.constantFrom(1, 50, 99) }) }),
  fc.constant({ split: { parts: 3, regions: ["eu", "us", "ap"] } }),
);
const INSTANTS = ["2025-01-01T00:00:00Z", "2026-11-21T12:00:00Z"];
const when = fc.oneof(
  fc.record({ layout: fc.constant("iuid"), country: fc.constantFrom("KZ", "BR") }),
  fc.record({ layout: fc.constantFrom("iuid", "uuid-v7", "hotguid"), mintedBefore: fc.constantFrom(...INSTANTS) }),
  fc.record({ layout: fc.constant("hotguid"), shardKey: fc.constantFrom("0-999", "0-3000000000") }),
  fc.record({ entity: fc.constantFrom(...NAMES) }),
);
const route = fc.tuple(when, target).map(([condition, to]) => ({ when: condition, ...to }));

const word = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(0, 1, 0x7fffffff, 0xffffffff));
const instant = fc.oneof(
  fc.constantFrom(...INSTANTS.flatMap((text) => [-1, 0, 1].map((step) => Date.parse(text) + step))),
  fc.constantFrom(Date.UTC(1999, 0), Date.UTC(2026, 5), Date.UTC(2031, 0)),
);

/** An ID of the entity's first layout: its number, a country, random bits, and a time in and out of windows. */
function wordsOf(entity: Entity, random: readonly number[], country: number, ms: number): Words {
  const [id] = entity.ids;
  if (id === undefined) throw new Error("every entity has IDs");
  const { layout } = id.enabled;
  const words = layout.fixed.value.map((value, at) => {
    const free = ~(layout.fixed.mask[at] as number);
    return ((value as number) | ((random[at] as number) & free)) >>> 0;
  });
  layout.field("country")?.write(words, country);
  if (layout.name === "iuid" || layout.name === "uuid-v7") layout.field("mintedAt")?.write(words, ms);
  if (layout.name === "hotguid") layout.field("mintedAt")?.write(words, Math.floor(ms / 1000));
  if (id.service !== undefined) layout.field("service")?.write(words, id.service);
  if (id.group !== undefined) layout.field("group")?.write(words, id.group);
  // Random words may have bits beyond the layout's width. No minted ID has.
  const read = layout.parse(layout.format(words));
  if (!read.ok) throw new Error(`${layout.name} does not read its own text`);
  return read.value;
}

const tableOf = (names: readonly Name[], routes: readonly { readonly when: object }[], moved: object) => {
  const layouts = new Set(names.flatMap((name) => ENTITIES[name].ids.map(({ layout }) => layout as string)));
  return {
    regions: REGIONS,
    countries: { KZ: 5, BR: 7 },
    entities: Object.fromEntries(names.map((name) => [name, ENTITIES[name]])),
    routes: routes.filter(({ when: condition }) => {
      const { entity, layout } = condition as { readonly entity?: Name; readonly layout?: string };
      return (entity === undefined || names.includes(entity)) && (layout === undefined || layouts.has(layout));
    }),
    moved,
    default: "eu",
  };
};

/** The route that a request for the text finds. */
const regionByText = (table: CompiledTable, path: string): readonly [string, string] | undefined => {
  const match = table.paths.match(path);
  const decision = match && resolvePath(table, match, path, NOW_MS);
  return decision?.ok === true ? [decision.value.entity.name, decision.value.target.region.name] : undefined;
};

test("what the words of an ID decide, its text decides too, by its path and by /any", () => {
  const seen = { decided: 0, left: 0 };
  fc.assert(
    fc.property(
      fc.subarray(NAMES, { minLength: 1, maxLength: 5 }),
      fc.array(route, { maxLength: 5 }),
      fc.array(fc.tuple(fc.tuple(word, word, word, word, word), fc.constantFrom(5, 7, 9), instant), {
        minLength: 6,
        maxLength: 12,
      }),
      fc.boolean(),
      (names, routes, drawn, isMoved) => {
        const declared = tableOf(names, routes, {});
        fc.pre(faultsOf(declared).length === 0);
        const plain = load(declared);
        const idsOf = (table: CompiledTable) =>
          [...table.entities.values()].flatMap((entity) =>
            drawn.map(([random, ...rest]) => ({ entity, words: wordsOf(entity, random, ...rest) })),
          );
        const [first] = idsOf(plain);
        const firstText = first?.entity.ids[0]?.enabled.layout.format(first.words) ?? "";
        const withMoved = { ...declared, moved: isMoved ? { [firstText]: "ap" } : {} };
        const table = faultsOf(withMoved).length === 0 ? load(withMoved) : plain;
        for (const { entity, words } of idsOf(table)) {
          const text = entity.ids[0]?.enabled.layout.format(words) ?? "";
          const byWords = regionByWords(table, entity)?.(words, NOW_MS);
          seen[byWords === undefined ? "left" : "decided"]++;
          if (byWords === undefined) continue;
          expect(regionByText(table, (entity.paths[0] as string).replace(":id", text))).toEqual([entity.name, byWords]);
          expect(isUnambiguous(table, entity, text)).toBe(true);
        }
      },
    ),
    { numRuns: runs(300) },
  );
  if (runs(20) > 20) expect(Math.min(seen.decided, seen.left)).toBeGreaterThan(100);
});

describe("the text is read", () => {
  const decide = (names: readonly Name[], more: object = {}, text = UUID) => {
    const table = load({ ...tableOf(names, [], {}), ...more });
    const entity = table.entities.get(names[0] as string);
    const words = entity?.ids[0]?.enabled.layout.parse(text);
    if (entity === undefined || words?.ok !== true) throw new Error(`no ID: ${text}`);
    return regionByWords(table, entity)?.(words.value, NOW_MS);
  };
  const XID = "d4ga7o2r0ui3e8a215n0";

  it("not where nothing else can be it", () => {
    expect([decide(["order", "ride", "event", "tweet"]), decide(["job", "order"], {}, XID)]).toEqual(["eu", "eu"]);
  });
  it("where a path has a literal of its form", () => expect(decide(["order", "literal"])).toBeUndefined());
  it("where IDs are public", () => expect(decide(["order", "secret"])).toBeUndefined());
  it("where another layout can have the same bits", () => {
    const layouts = { hotguid: { mintedWithin: false } };
    expect(decide(["order", "parcel"], { layouts })).toBeUndefined();
  });
  it("where another form can read it", () => expect(decide(["job", "push"], {}, XID)).toBeUndefined());
  it("where the table says more of this ID", () =>
    expect(decide(["order"], { moved: { [UUID]: "ap" } })).toBeUndefined());
  it("where it was minted outside the window", () => {
    const layouts = { iuid: { mintedWithin: { from: "2026-01-01T00:00:00Z", aheadSeconds: 60 } } };
    expect(decide(["order"], { layouts })).toBeUndefined();
  });
});
