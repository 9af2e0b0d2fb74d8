import { iuid, type Layout, luuid } from "../../src/ids/index.ts";
import { needed } from "../lib/random.ts";
import { countryServiceTable } from "../lib/tables.ts";

/** The largest promised table: all countries × 250 services, 4,096 groups and 100,000 moved entities. */

export const PROMISED = { countries: 249, services: 250, groups: 4_096, moved: 100_000 } as const;

const REGIONS = ["eu", "us", "ap"] as const;

/** The region of a group or moved entity, by its number. */
export const promisedRegion = (number: number): string => REGIONS[number % REGIONS.length] as string;

export function promisedTable() {
  const { entities, routes, ...rest } = countryServiceTable(PROMISED.countries, PROMISED.services);
  // Country and service imply the layout. Naming it would add a megabyte to a limit of 8 MiB.
  const countryRoutes = routes.map(({ when: { country, service }, region }) => ({
    when: { country, service },
    region,
  }));
  const groupRoutes = Array.from({ length: PROMISED.groups }, (_, group) => ({
    when: { layout: "luuid", group },
    region: promisedRegion(group),
  }));
  const moved = Array.from({ length: PROMISED.moved }, (_, number) => [movedId(number), promisedRegion(number)]);
  return {
    ...rest,
    entities: { ...entities, person: { path: "/people/:id", ids: [{ layout: "luuid" }] } },
    routes: [...countryRoutes, ...groupRoutes],
    moved: Object.fromEntries(moved),
  };
}

const MINTED_AT_MS = Date.UTC(2026, 0, 1);

/** Alternates iUIDs and LUUIDs. LUUIDs are found by their short keys too. */
export function movedId(number: number): string {
  const random = BigInt(number);
  return number % 2 === 0
    ? idOf(iuid, { mintedAt: MINTED_AT_MS + number, country: number % 249, service: number % 250, random })
    : idOf(luuid, { primaryKey: number * 40_000, group: number % PROMISED.groups, random });
}

const idOf = (layout: Layout, values: Readonly<Record<string, number | bigint>>): string =>
  layout.format(needed(layout.encode(values)));
