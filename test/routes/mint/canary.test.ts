import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CanarySelector } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

interface Minted {
  readonly entity: string;
  readonly region?: string;
  readonly regions?: readonly string[];
  readonly ids: readonly string[];
  readonly ambiguous?: { readonly count: number };
}

const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }));

const besideEachOther = (stable: unknown, canary: unknown, audience: CanarySelector) =>
  setUp({ publicKeys, gateway: { tables: tablesOf(servedBeside(stable, canary, audience)) } });

type Request = ReturnType<typeof setUp>["request"];

const mint = (request: Request, changeRequest: object) =>
  request("/mint", { method: "POST", body: JSON.stringify(changeRequest) });

/** By which table and to which region a request goes. */
async function wayOf(request: Request, path: string) {
  const { status, headers } = await request(path, { redirect: "manual", headers: { "waybill-debug": "1" } });
  return { status, region: headers.get("waybill-region"), table: headers.get("waybill-table") };
}

const REGIONS = ["eu", "us", "ap"];
const region = fc.constantFrom(...REGIONS);
const country = fc.constantFrom("KZ", "BR", "DE");

const { person, ...plain } = DECLARED_TABLE.entities;
/** `box` has no bit that tells its IDs from parcels; `ticket` has public IDs. */
const ENTITIES = {
  ...plain,
  person,
  box: { path: "/boxes/:id", ids: [{ layout: "hotguid" }] },
  bill: { path: "/bills/:id", ids: [{ layout: "iuid", service: 9 }] },
  ticket: { path: "/tickets/:id", ids: [{ layout: "iuid", service: 7 }], public: true },
};
type Name = keyof typeof ENTITIES;
const NAMES = Object.keys(ENTITIES) as Name[];

const route = fc.oneof(
  fc.record({ when: fc.record({ layout: fc.constant("iuid"), country }), region }),
  fc.record({ when: fc.record({ entity: fc.constantFrom(...NAMES) }), region }),
  fc
    .record({ to: fc.integer({ min: 0, max: 3000 }), region })
    .map(({ to, region: target }) => ({ when: { layout: "hotguid", shardKey: `0-${to}` }, region: target })),
);

/** Some of the entities, under paths that two tables may give to different ones, and routes that leave gaps. */
const table = fc
  .record({
    names: fc.subarray(NAMES, { minLength: 4 }),
    isSwapped: fc.boolean(),
    routes: fc.array(route, { minLength: 1, maxLength: 4 }),
    fallback: fc.option(region, { nil: undefined, freq: 3 }),
  })
  .map(({ names, isSwapped, routes, fallback }) => {
    const entities = Object.fromEntries(names.map((name) => [name, ENTITIES[name]]));
    const swapped = { box: ENTITIES.parcel.path, parcel: ENTITIES.box.path } as Record<string, string>;
    for (const name of isSwapped ? names : []) {
      const path = swapped[name];
      if (path !== undefined) entities[name] = { ...entities[name], path } as never;
    }
    const known = routes.filter(({ when }) => !("entity" in when) || names.includes(when.entity));
    const used = new Set(Object.values(entities).flatMap(({ ids }) => ids.map(({ layout }) => layout)));
    return {
      ...DECLARED_TABLE,
      entities,
      layouts: used.has("hotguid") ? DECLARED_TABLE.layouts : {},
      routes: known.filter(({ when }) => !("layout" in when) || used.has(when.layout)),
      ...(fallback === undefined ? {} : { default: fallback }),
    };
  });

const audience: fc.Arbitrary<CanarySelector> = fc.oneof(
  fc.constantFrom(0.01, 40, 50, 60, 99, 100).map((share) => ({ share })),
  fc.subarray(["KZ", "BR"], { minLength: 1 }).map((countries) => ({ countries })),
  fc.subarray(NAMES, { minLength: 1, maxLength: 3 }).map((entities) => ({ entities })),
);

const request = fc.oneof(
  fc.record({ entity: fc.constantFrom("order", "ride", "bill", "ticket"), country, count: fc.constantFrom(1, 12, 12) }),
  fc.record({
    entity: fc.constantFrom("parcel", "box"),
    shardKey: fc.integer({ min: 0, max: 4000 }),
    count: fc.constantFrom(1, 12, 12),
  }),
  fc.record({ entity: fc.constant("person"), count: fc.constantFrom(1, 12, 12) }),
  fc.record({ layout: fc.constant("hotguid"), shardKey: fc.integer({ min: 0, max: 4000 }) }),
  fc.record({ layout: fc.constant("iuid"), service: fc.constantFrom(1, 9), country }),
);

/** Faults that a drawn table may have, such as a route that none can reach. */
const isTable = (...tables: readonly unknown[]): boolean => {
  try {
    for (const one of tables) servedBeside(one, one, { share: 1 });
    return true;
  } catch {
    return false;
  }
};

const pathOf = (declared: { readonly entities: object }, entity: string): string | undefined => {
  const { path } =
    (declared.entities as Record<string, { path: string | readonly string[] } | undefined>)[entity] ?? {};
  return typeof path === "string" ? path : path?.[0];
};

describe("an ID that is minted while a canary of the table runs", () => {
  it("goes to the region of the answer, by its path and by /any, whatever the tables, the canary and the wish", async () => {
    const seen = { minted: 0, byCanary: 0, mixed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        table,
        table,
        audience,
        fc.array(request, { minLength: 3, maxLength: 6 }),
        async (a, b, who, requests) => {
          fc.pre(isTable(a, b));
          const { request, defects } = besideEachOther(a, b, who);
          for (const requested of requests) {
            const response = await mint(request, requested);
            if (response.status !== 201) {
              expect(["unassigned-key", "unknown-name", "malformed-request"]).toContain(
                slug(await problemOf(response)),
              );
              seen.refused++;
              continue;
            }
            const { entity, region: only, regions, ids, ambiguous } = await response.json<Minted>();
            const isWhole = "entities" in who && who.entities.includes(entity);
            const path = pathOf(isWhole ? b : a, entity) ?? "";
            const ways = await Promise.all(ids.map((id) => wayOf(request, path.replace(":id", id))));
            expect(ways.map((way) => way.region)).toEqual(regions ?? ids.map(() => only));
            const tables = [...new Set(ways.map((way) => way.table))];
            expect(response.headers.get("waybill-table")?.split(", ").toSorted()).toEqual(tables.toSorted());
            const anyWays = await Promise.all(ids.map((id) => wayOf(request, `/any/${id}`)));
            const found = anyWays.filter(
              ({ table: by, region: target }, at) => by === ways[at]?.table && target === ways[at]?.region,
            );
            // A public ID of an entity that redirects tells no region, and no entity of these does.
            expect(found.length).toBeGreaterThanOrEqual(ids.length - (ambiguous?.count ?? 0));
            seen.minted += ids.length;
            seen.byCanary += tables.includes("rev=2; canary") ? 1 : 0;
            seen.mixed += tables.length - 1;
          }
          expect(defects).toEqual([]);
        },
      ),
      { numRuns: runs(60) },
    );
    // Few cases need not contain every kind.
    if (runs(20) > 20) expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  const elsewhere = { ...DECLARED_TABLE, routes: [{ when: {}, region: "us" }] };
  const order = { entity: "order", country: "KZ", count: 200 };

  it("has its own region in the answer where the canary takes a share of them", async () => {
    const { request } = besideEachOther(DECLARED_TABLE, elsewhere, { share: 50 });
    const response = await mint(request, order);
    const { regions = [] } = await response.json<Minted>();
    const toCanary = regions.filter((target) => target === "us").length;
    expect([toCanary > 50, toCanary < 150]).toEqual([true, true]);
    expect(response.headers.get("waybill-region")).toBeNull();
    expect(response.headers.get("waybill-table")?.split(", ").toSorted()).toEqual(["rev=1", "rev=2; canary"]);
  });

  it("is drawn anew where the canary knows no region for it, and refused where it takes them all", async () => {
    const [, ...withoutKz] = DECLARED_TABLE.routes;
    const broken = { ...DECLARED_TABLE, routes: withoutKz };
    const half = await mint(besideEachOther(DECLARED_TABLE, broken, { share: 50 }).request, order);
    const { ids, region: target } = await half.json<Minted>();
    expect([half.status, ids.length, new Set(ids).size, target]).toEqual([201, 200, 200, "ap"]);
    expect(ids).toEqual(ids.toSorted());
    for (const who of [{ share: 100 }, { countries: ["KZ"] }]) {
      const refused = await mint(besideEachOther(DECLARED_TABLE, broken, who).request, { ...order, count: 1 });
      const problem = await problemOf(refused);
      expect([slug(problem), problem["id"]]).toEqual(["unassigned-key", undefined]);
    }
    const people = { ...DECLARED_TABLE, routes: DECLARED_TABLE.routes.slice(0, -1) };
    const persons = await mint(besideEachOther(DECLARED_TABLE, people, { share: 50 }).request, {
      entity: "person",
      count: 40,
    });
    expect(await persons.json()).toMatchObject({ region: "eu", ids: expect.objectContaining({ length: 40 }) });
  });

  it("may be of an entity that the canary alone has, where that serves it as a whole", async () => {
    const { bill } = ENTITIES;
    const next = { ...elsewhere, entities: { ...DECLARED_TABLE.entities, bill } };
    const { request, lines } = besideEachOther(DECLARED_TABLE, next, { entities: ["bill"] });
    const response = await mint(request, { entity: "bill", country: "DE" });
    const minted = await response.json<Minted>();
    expect([response.headers.get("waybill-table"), minted.region]).toEqual(["rev=2; canary", "us"]);
    expect(lines[0]).toMatchObject({ entity: "bill", region: "us", revision: 2 });
    expect(await wayOf(request, `/bills/${minted.ids[0]}`)).toEqual({
      status: 200,
      region: "us",
      table: "rev=2; canary",
    });
    const byShare = await mint(besideEachOther(DECLARED_TABLE, next, { share: 100 }).request, {
      entity: "bill",
      country: "DE",
    });
    expect(slug(await problemOf(byShare))).toBe("unknown-name");
  });

  it("is never of a path that the table in force gives to another entity", async () => {
    const { order: _, ...others } = DECLARED_TABLE.entities;
    const next = { ...elsewhere, entities: { ...others, bill: { ...ENTITIES.bill, path: "/orders/:id" } } };
    const refused = await mint(besideEachOther(DECLARED_TABLE, next, { entities: ["bill"] }).request, {
      entity: "bill",
      country: "DE",
    });
    expect(slug(await problemOf(refused))).toBe("unassigned-key");
  });
});
