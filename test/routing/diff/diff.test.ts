import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { groupOfClass } from "../../../src/ids/index.ts";
import type { KeyOutcome } from "../../../src/routing/diff/key-changes.ts";
import { compareOutcomes, type SpaceSide } from "../../../src/routing/diff/key-space.ts";
import { type CompiledTable, diffTables, resolveAny } from "../../../src/routing/index.ts";
import { countOf, includes, pairsOf, rangesOf } from "../../../src/routing/lookup/ranges.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";

const change = (changes: Partial<DeclaredTable>): DeclaredTable => ({ ...sampleTable(), ...changes });
const parcelIn = (region: string | undefined) => ({ entity: "parcel", region });
const PARCEL = "6347eb00-bbaa-01cc-0201-0203d0000000";
const PERSON = "00000000-2078-6d0b-a000-00000000abcd";
const keysOf = (before: DeclaredTable, after: DeclaredTable) => diffTables(before, after).keys;

describe("what the tables say", () => {
  test("a table does not differ from itself, whatever the order of its keys", () => {
    const turned = Object.fromEntries(Object.entries(sampleTable()).toReversed()) as DeclaredTable;
    expect(diffTables(sampleTable(), turned)).toMatchObject({ isEmpty: true, keys: [], hosts: undefined });
  });

  test("every part is compared by name", () => {
    const { eu, us } = sampleTable().regions;
    if (eu === undefined || us === undefined) throw new Error("the sample has these regions");
    const move = { from: "eu", to: "us", state: "started", epoch: 1 } as const;
    const after = change({
      gateway: { hosts: [] },
      regions: { ...sampleTable().regions, eu: { ...eu, failover: [] }, sa: us },
      countries: { KZ: 5, BR: 8, DE: 6 },
      moved: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": "ap" },
      moves: { [PARCEL]: move },
      gone: { [PERSON]: { epoch: 1 } },
      epochFloor: 6,
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
      moves: { added: { [PARCEL]: move }, removed: {}, changed: {} },
      gone: { added: { [PERSON]: { epoch: 1 } }, removed: {}, changed: {} },
      epochFloor: { before: undefined, after: 6 },
      default: { before: undefined, after: "us" },
      routes: { before: 5, after: 1, differ: true },
    });
  });
});

describe("which keys go to another region", () => {
  test("a country's number that another one has now is shown with both names", () => {
    const changes = keysOf(sampleTable(), change({ countries: { KZ: 7, UZ: 6, BR: 5 } }));
    expect(changes.map(({ where }) => where["country"])).toEqual(
      expect.arrayContaining(["5 (KZ → BR)", "7 (BR → KZ)"]),
    );
  });

  test("a change that spans of time share is told once for all of them", () => {
    const kz = { layout: "iuid", country: "KZ" } as const;
    const routes = (later: string): DeclaredTable["routes"] => [
      { when: { ...kz, mintedBefore: "2026-06-01T00:00:00Z" }, region: "eu" },
      { when: kz, region: later },
    ];
    const before = { ...sampleTable(), routes: routes("ap") };
    const { keys } = diffTables(before, { ...sampleTable(), routes: routes("us"), default: "us" });
    expect(keys.filter(({ service }) => service === 1)).toMatchObject([
      { where: { country: "0-4, 6-255" }, keys: "255", mintedFrom: undefined, mintedBefore: undefined },
      { where: { country: "KZ" }, keys: "1", mintedFrom: "2026-06-01T00:00:00.000Z", mintedBefore: undefined },
    ]);
  });

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
        layout: "iuid",
        service,
        group: undefined,
        mintedFrom: "2026-06-01T00:00:00.000Z",
        mintedBefore: "2027-01-01T00:00:00.000Z",
        where: { country: "KZ" },
        countries: { count: 1, of: 3 },
        keys: "1",
        percentOfSpace: 100 / 256,
        before: { entity, region: "ap" },
        after: { entity, region: "eu" },
      })),
    );
  });

  test("ranges of keys are counted exactly, and neighbours are one", () => {
    const routes = sampleTable().routes.with(2, {
      when: { layout: "hotguid", shardKey: ["0-511", "2000-2999"] },
      region: "eu",
    });
    expect(keysOf(sampleTable(), change({ routes }))).toMatchObject([
      { where: { shardKey: "512-1023" }, keys: "512", before: parcelIn("eu"), after: parcelIn(undefined) },
      { where: { shardKey: "2000-2999" }, keys: "1000", before: parcelIn(undefined), after: parcelIn("eu") },
    ]);
  });

  test("a slice in the middle of the key is counted with every other bit", () => {
    const routes = [...sampleTable().routes, { when: { slices: { partition: "0-1" } }, region: "us" }];
    const changes = keysOf(sampleTable(), change({ routes }));
    // 1,024 prefixes and two partitions, less those of country 32 and of area 143, and 0 and 1, which other routes have.
    expect(changes.reduce((sum, { keys }) => sum + BigInt(keys), 0n)).toBe(BigInt((1024 - 7) * 2 - 2));
    for (const { before, after } of changes) {
      expect([before, after]).toEqual([parcelIn(undefined), parcelIn("us")]);
    }
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
    expect(changes.filter(({ service }) => service === 1)).toMatchObject([
      { where: { country: "0-4, 7-255" }, keys: "254", before: { entity: "order" }, after: { region: "us" } },
    ]);
    expect(changes.some(({ layout }) => layout === "luuid")).toBe(false);
  });
});

/** Layout and mark, condition, where they went and where they go. */
const waysOf = (before: DeclaredTable, after: DeclaredTable): readonly string[] =>
  keysOf(before, after).map(({ layout, service, group, mintedFrom, mintedBefore, where, keys, ...outcomes }) => {
    const name = (outcome: KeyOutcome | undefined) =>
      outcome === undefined ? "nobody" : `${outcome.entity}@${outcome.region}`;
    const conditions = Object.entries(where).map(([key, value]) => `${key}=${value}`);
    if (mintedFrom !== undefined) conditions.push(`from ${mintedFrom.slice(0, 10)}`);
    if (mintedBefore !== undefined) conditions.push(`before ${mintedBefore.slice(0, 10)}`);
    const mark = service ?? group ?? "any";
    return `${layout} ${mark} ${conditions.join(" ")}: ${name(outcomes.before)} > ${name(outcomes.after)}, ${keys}`;
  });

const withEntities = (entities: DeclaredTable["entities"]): DeclaredTable =>
  change({ entities: { ...sampleTable().entities, ...entities } });

/** The table without one entity, and without the routes that name it. */
const without = (name: string): DeclaredTable => {
  const { [name]: _, ...entities } = sampleTable().entities;
  return change({ entities, routes: sampleTable().routes.filter(({ when }) => when.entity !== name) });
};

const iuidOf = (service: number) => ({ layout: "iuid", service });
const orders = (service: number) => ({ path: "/orders/:id", ids: [iuidOf(service)] });
const PERSON_GROUP = groupOfClass("com.example.Person");
const ALL_PRIMARY_KEYS = `${2 ** 48}`;
const iuidWays = (service: number, from: (region: string) => string, to: (region: string) => string) => [
  `iuid ${service} country=KZ before 2026-06-01: ${from("eu")} > ${to("eu")}, 1`,
  `iuid ${service} country=UZ before 2026-06-01: ${from("ap")} > ${to("ap")}, 1`,
  `iuid ${service} country=KZ, UZ from 2026-06-01: ${from("ap")} > ${to("ap")}, 2`,
];
const orderIn = (region: string) => `order@${region}`;
const rideIn = (region: string) => `ride@${region}`;
const none = () => "nobody";

describe("which keys go to another entity, or to none", () => {
  test("an entity is removed", () => {
    expect(waysOf(sampleTable(), without("order"))).toEqual(iuidWays(1, orderIn, none));
    expect(waysOf(sampleTable(), without("person"))).toEqual([
      `luuid ${PERSON_GROUP} : person@eu > nobody, ${ALL_PRIMARY_KEYS}`,
    ]);
  });

  test("the last entity of a layout is removed, and IDs that no route took are no change", () => {
    const { routes } = sampleTable();
    const slim = { ...without("parcel"), layouts: {}, routes: routes.filter(({ when }) => when.slices === undefined) };
    slim.routes = slim.routes.filter(({ when }) => when.layout !== "hotguid");
    const { keys } = diffTables(sampleTable(), slim);
    expect(keys.every(({ before, after }) => before?.entity === "parcel" && before.region && !after)).toBe(true);
    // 1,024 keys below, and those of country 32 and of area 143 with the five countries in it.
    expect(keys.reduce((sum, each) => sum + BigInt(each.keys), 0n)).toBe(BigInt(1024 + 7 * 2 ** 22));
  });

  test("an entity is added, and what was nowhere is its own", () => {
    expect(waysOf(without("order"), sampleTable())).toEqual(iuidWays(1, none, orderIn));
    expect(waysOf(without("person"), sampleTable())).toEqual([
      `luuid ${PERSON_GROUP} : nobody > person@eu, ${ALL_PRIMARY_KEYS}`,
    ]);
  });

  test("the service of an entity changes", () => {
    const after = withEntities({ order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 3 }] } });
    const ways = waysOf(sampleTable(), after);
    expect(ways.toSorted()).toEqual([...iuidWays(1, orderIn, none), ...iuidWays(3, none, orderIn)].toSorted());
  });

  test("two entities change their services with each other", () => {
    const after = withEntities({
      order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 2 }] },
      ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 1 }] },
    });
    const ways = waysOf(sampleTable(), after);
    expect(ways.toSorted()).toEqual([...iuidWays(1, orderIn, rideIn), ...iuidWays(2, rideIn, orderIn)].toSorted());
  });

  test("the class or the group of an entity changes", () => {
    for (const mark of [{ class: "com.example.Human" }, { group: groupOfClass("com.example.Human") }]) {
      const after = withEntities({ person: { path: "/person/:id", ids: [{ layout: "luuid", ...mark }] } });
      expect(waysOf(sampleTable(), after)).toEqual([
        `luuid ${PERSON_GROUP} : person@eu > nobody, ${ALL_PRIMARY_KEYS}`,
        `luuid ${groupOfClass("com.example.Human")} : nobody > person@eu, ${ALL_PRIMARY_KEYS}`,
      ]);
    }
    const same = withEntities({ person: { path: "/person/:id", ids: [{ layout: "luuid", group: PERSON_GROUP }] } });
    expect(waysOf(sampleTable(), same)).toEqual([]);
  });

  test("a layout is removed from an entity that keeps another", () => {
    const luuid = { layout: "luuid", class: "com.example.Person" };
    const both = withEntities({ person: { path: "/person/:id", ids: [luuid, { layout: "ulid" }] } });
    expect(waysOf(both, sampleTable())).toEqual(["ulid any : person@eu > nobody, 1"]);
  });

  test("an entity that took every group keeps only one", () => {
    const everyGroup = withEntities({ person: { path: "/person/:id", ids: [{ layout: "luuid" }] } });
    const others = `0-${PERSON_GROUP - 1}, ${PERSON_GROUP + 1}-4095`;
    expect(waysOf(everyGroup, sampleTable())).toEqual([
      `luuid any group=${others}: person@eu > nobody, ${4095n * 2n ** 48n}`,
    ]);
    expect(waysOf(sampleTable(), everyGroup)).toEqual([
      `luuid any group=${others}: nobody > person@eu, ${4095n * 2n ** 48n}`,
    ]);
  });

  test("a layout without marks goes from its only entity to another, or to one more", () => {
    const box = { path: "/boxes/:id", ids: [{ layout: "hotguid" }] };
    const { parcel: _, ...others } = sampleTable().entities;
    const renamed = keysOf(sampleTable(), change({ entities: { ...others, box } }));
    expect(renamed.length).toBeGreaterThan(0);
    for (const { before, after } of renamed) {
      expect([before?.entity, after?.entity, before?.region]).toEqual(["parcel", "box", after?.region]);
    }
    const shared = keysOf(sampleTable(), withEntities({ box }));
    expect(shared.map(({ before, after }) => [before, after?.entity])).toEqual(renamed.map(() => [undefined, "box"]));
  });

  test("a window that begins later takes the IDs before it out", () => {
    const mintedWithin = { from: "2021-11-01T00:00:00Z", aheadSeconds: 3600 };
    const after = change({ layouts: { ...sampleTable().layouts, iuid: { mintedWithin } } });
    expect(waysOf(sampleTable(), after)).toContain("iuid 1 country=KZ before 2021-11-01: order@eu > nobody, 1");
  });

  test("a layout that is declared anew has no keys to compare", () => {
    const flake = (epoch: string) => ({
      ...withEntities({ post: { path: "/posts/:id", ids: [{ layout: "flake" }] } }),
      layouts: { ...sampleTable().layouts, flake: { like: "snowflake", epoch } },
      default: "us",
    });
    const { keys, layouts } = diffTables(flake("2015-01-01T00:00:00Z"), flake("2016-01-01T00:00:00Z"));
    expect([keys, Object.keys(layouts.changed)]).toEqual([[], ["flake"]]);
  });

  test("an ID of both tables is listed just where its way differs", () => {
    const tables = [sampleTable(), without("order"), withEntities({ ride: { path: "/r/:id", ids: [iuidOf(1)] } })];
    tables[2] = { ...(tables[2] as DeclaredTable), entities: { ...tables[2]?.entities, order: orders(7) } };
    const compiled = tables.map((table) => load({ ...table, moved: {} }));
    const country = [4, 5, 6, 7];
    for (const [x, y] of [
      [0, 1],
      [1, 0],
      [0, 2],
      [2, 1],
    ] as const) {
      const changes = keysOf(tables[x] as DeclaredTable, tables[y] as DeclaredTable);
      for (const number of country)
        for (const service of [1, 2, 7]) {
          const text = `019e807a-ec00-800${number}-${(0x8000 + service * 64).toString(16)}-000000000001`;
          const [from, to] = [x, y].map((at) => {
            const found = resolveAny(compiled[at] as CompiledTable, text, NOW_MS);
            return found.ok ? `${found.value.entity.name}@${found.value.target.region.name}` : "nowhere";
          });
          const code = { 5: "KZ", 6: "UZ", 7: "BR" }[number] ?? `${number}`;
          const isListed = changes.some(
            (each) =>
              each.service === service &&
              (each.where["country"] ?? code).split(", ").includes(code) &&
              each.mintedBefore === undefined,
          );
          expect([text, x, y, isListed]).toEqual([text, x, y, from !== to]);
        }
    }
  });
});

test("boxes of changes hold exactly the points that change, each once", () => {
  const SPAN = 12;
  const set = fc
    .array(fc.tuple(fc.nat(SPAN - 1), fc.nat(4)), { minLength: 1, maxLength: 2 })
    .map((pairs) => rangesOf(pairs.map(([low, more]) => [low, Math.min(SPAN - 1, low + more)])));
  const region = fc.constantFrom("eu", "us");
  const side: fc.Arbitrary<SpaceSide<string>> = fc.record({
    routes: fc.array(
      fc.record({ outcome: region, sets: fc.tuple(...[0, 1, 2].map(() => fc.option(set, { nil: undefined }))) }),
      { maxLength: 5 },
    ),
    fallback: fc.option(region, { nil: undefined }),
  });
  const outcomeAt = ({ routes, fallback }: SpaceSide<string>, point: readonly number[]) => {
    const found = routes.find(({ sets }) =>
      sets.every((own, at) => own === undefined || includes(own, point[at] as number)),
    );
    return found === undefined ? fallback : found.outcome;
  };
  fc.assert(
    fc.property(side, side, (before, after) => {
      const spans = [0, 1, 2].map(() => [0, SPAN - 1]);
      const changes = compareOutcomes(spans, before, after);
      let changed = 0;
      for (let value = 0; value < SPAN ** 3; value++) {
        const point = [value % SPAN, Math.floor(value / SPAN) % SPAN, Math.floor(value / SPAN ** 2)];
        const from = outcomeAt(before, point);
        const to = outcomeAt(after, point);
        const holding = changes.filter(({ sets }) => sets.every((own, at) => includes(own, point[at] as number)));
        expect(holding.map((one) => [one.before, one.after])).toEqual(from === to ? [] : [[from, to]]);
        if (from !== to) changed++;
      }
      expect(changes.reduce((sum, { sets }) => sum + sets.reduce((product, own) => product * countOf(own), 1), 0)).toBe(
        changed,
      );
      for (const { sets } of changes) for (const own of sets) expect(rangesOf(pairsOf(own))).toEqual(own);
    }),
    { numRuns: runs(30) },
  );
});
