import { describe, expect, test } from "vitest";
import { hotguid, iuid, type Layout, luuid } from "../../src/ids/index.ts";
import { ISO_3166_ALPHA_2 } from "../../src/routing/data/iso-3166.ts";
import { type CompiledTable, checkTable, diffTables, loadTable, resolveAny } from "../../src/routing/index.ts";
import { processorMs } from "../setup/processor-ms.ts";
import { NOW_MS } from "./tables.ts";

/**
 * The largest tables that are promised, from JSON text to look-ups. The times are what a shared machine of two cores needs
 * several times over: they catch what grows faster than the table, not what is slow by a half.
 */
const LOAD_MS_MAX = 20_000;
const LOOK_UP_US_MAX = 100;

const REGIONS = ["eu", "us", "ap"];
const regionOf = (number: number): string => REGIONS[number % REGIONS.length] as string;

const regions = Object.fromEntries(
  REGIONS.map((name) => [name, { origins: [{ url: `https://${name}.example.com` }] }]),
);

const loaded = (declared: object): CompiledTable => {
  const text = JSON.stringify({ regions, ...declared });
  const startedMs = processorMs();
  const table = loadTable(JSON.parse(text), 1);
  if (!table.ok) throw new Error(JSON.stringify(table.error.slice(0, 3)));
  expect(processorMs() - startedMs).toBeLessThan(LOAD_MS_MAX);
  return table.value;
};

const idOf = (layout: Layout, values: Readonly<Record<string, number | bigint>>): string => {
  const words = layout.encode(values);
  if (!words.ok) throw new Error(JSON.stringify(words.error));
  return layout.format(words.value);
};

const countryServiceTable = (shift: number) => {
  const codes = [...ISO_3166_ALPHA_2];
  const services = Array.from({ length: 250 }, (_, at) => at + 1);
  return {
    regions,
    countries: Object.fromEntries(codes.map((code, number) => [code, number])),
    entities: Object.fromEntries(
      services.map((service) => [`e${service}`, { path: `/e${service}/:id`, ids: [{ layout: "iuid", service }] }]),
    ),
    routes: codes.flatMap((country, number) =>
      services.map((service) => ({ when: { country, service }, region: regionOf(number + service + shift) })),
    ),
  };
};

/** Every ID goes where it must, and quickly. */
const expectAll = (table: CompiledTable, ids: readonly (readonly [id: string, region: string])[]): void => {
  const startedMs = processorMs();
  const found = ids.map(([id]) => resolveAny(table, id, NOW_MS));
  const tookUs = ((processorMs() - startedMs) * 1000) / ids.length;
  for (const [at, decision] of found.entries()) {
    if (!decision.ok) throw new Error(`${ids[at]?.[0]}: ${decision.error.reason}`);
    if (decision.value.target.region.name !== ids[at]?.[1]) {
      expect([ids[at]?.[0], decision.value.target.region.name]).toEqual(ids[at]);
    }
  }
  // The first look-ups of all are those of code that is still to be compiled.
  if (ids.length > 1000) expect(tookUs).toBeLessThan(LOOK_UP_US_MAX);
};

describe("the largest tables check, compile and route", () => {
  test("every country of ISO 3166-1, of which there are 249, by 250 services", () => {
    const codes = [...ISO_3166_ALPHA_2];
    expect(codes).toHaveLength(249);
    const services = Array.from({ length: 250 }, (_, at) => at + 1);
    const table = loaded(countryServiceTable(0));
    const mintedAt = Date.UTC(2026, 0, 1);
    const ids = codes.flatMap((_, country) =>
      services
        .filter((service) => (service + country) % 5 === 0)
        .map((service) => {
          const id = idOf(iuid, { mintedAt, country, service, random: 1n });
          return [id, regionOf(country + service)] as const;
        }),
    );
    expectAll(table, ids);
  }, 60_000);

  test("4,096 groups", () => {
    const groups = Array.from({ length: 4096 }, (_, group) => group);
    const table = loaded({
      entities: { thing: { path: "/things/:id", ids: [{ layout: "luuid" }] } },
      routes: groups.map((group) => ({ when: { layout: "luuid", group }, region: regionOf(group * 7) })),
    });
    const ids = groups.map(
      (group) => [idOf(luuid, { primaryKey: 5, group, random: 9n }), regionOf(group * 7)] as const,
    );
    expectAll(table, ids);
  }, 60_000);

  test("100,000 moved entities", () => {
    const mintedAt = Date.UTC(2026, 0, 1) / 1000;
    const ids = Array.from({ length: 100_000 }, (_, at) => {
      const id = idOf(hotguid, { mintedAt, machine: 1, process: 2, counter: at, shardKey: at * 40_000 });
      return [id, regionOf(at)] as const;
    });
    const table = loaded({
      entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
      routes: [{ when: { layout: "hotguid" }, region: "eu" }],
      moved: Object.fromEntries(ids),
    });
    expect(table.moved.targets.length).toBe(100_000);
    expectAll(table, ids);
    const other = idOf(hotguid, { mintedAt, machine: 1, process: 3, counter: 1, shardKey: 1 });
    expectAll(table, [[other, "eu"]]);
  }, 60_000);

  test("two tables of countries by services are compared, and each key that goes elsewhere is counted once", () => {
    const [before, after] = [countryServiceTable(0), countryServiceTable(1)].map((declared) => {
      const checked = checkTable(declared);
      if (!checked.ok) throw new Error(JSON.stringify(checked.error.slice(0, 3)));
      return checked.value;
    });
    if (before === undefined || after === undefined) throw new Error("two tables were made");
    const diff = diffTables(before, after);
    expect(diff.keys.reduce((sum, { keys }) => sum + Number(keys), 0)).toBe(249 * 250);
  }, 60_000);
});
