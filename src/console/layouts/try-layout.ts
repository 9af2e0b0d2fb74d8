import { type Capacity, capacityOf, createMinter, diagram, type Layout, type Load } from "../../ids/index.ts";
import { findAmbiguities, type LayoutAmbiguity, loadTable } from "../../routing/index.ts";
import type { Fault } from "../../routing/schema/faults.ts";
import type { DeclaredLayout, DeclaredTable } from "../../routing/schema/table.ts";
import { gatewayNow } from "../app/clock.ts";

/** A layout before it is in the table: by the same check, the same diagram and the same search for look-alikes. */

export type Trial =
  | {
      readonly ok: true;
      readonly layout: Layout;
      readonly diagram: string;
      readonly ambiguities: readonly LayoutAmbiguity[];
    }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** Without a table: entities of common layouts, so that there is something to be mistaken for. */
const COMMON = ["iuid", "hotguid", "luuid", "uuid-v4", "uuid-v7", "ulid", "snowflake", "ksuid", "object-id"];

const BARE: DeclaredTable = {
  regions: { here: { origins: [{ url: "http://here.invalid" }] } },
  entities: Object.fromEntries(
    COMMON.map((layout, at) => [`entity-${at}`, { path: `/entity-${at}/:id`, ids: [idOf(layout, at)] }]),
  ),
  routes: [],
  default: "here",
};

function idOf(layout: string, at: number) {
  if (layout === "iuid") return { layout, service: at };
  return layout === "luuid" ? { layout, group: at } : { layout };
}

const ENTITY = "trial-of-a-layout";

export function tryLayout(name: string, declared: DeclaredLayout, table: DeclaredTable = BARE): Trial {
  const entities = { ...table.entities, [ENTITY]: { path: `/${ENTITY}/:id`, ids: [{ layout: name }] } };
  const region = Object.keys(table.regions)[0] as string;
  const routes = [...table.routes, { when: { entity: ENTITY }, region }];
  const all = { ...table, entities, layouts: { ...table.layouts, [name]: declared }, routes };
  const loaded = loadTable(JSON.parse(JSON.stringify(all)), 0);
  if (!loaded.ok) return { ok: false, faults: loaded.error };
  const layout = loaded.value.layouts.get(name)?.layout;
  if (layout === undefined) throw new Error("a layout without faults is not in its table");
  const ambiguities = findAmbiguities(loaded.value).filter(({ layouts }) => layouts.includes(name));
  return { ok: true, layout, diagram: diagram(layout.table), ambiguities };
}

/** The load that a layout is enough for; `undefined` where its IDs are not made from a clock and random bits, or for no load. */
export function capacityFor(layout: Layout, load: Load): Capacity | undefined {
  const capacity = capacityOf(layout, load);
  return capacity.ok ? capacity.value : undefined;
}

/** A few IDs made in the page, by the minter of the library; none where the layout cannot be minted. */
export function samplesOf(layout: Layout, count: number): readonly string[] {
  if (layout.table.minter === "none") return [];
  const keys = layout.fields.filter(({ role }) => role === "key" || role === "node");
  const values = Object.fromEntries(keys.map(({ name, bits }) => [name, bits > 53 ? 1n : 1]));
  try {
    const mint = createMinter({ layout, ...values }, gatewayNow);
    return Array.from({ length: count }, () => mint());
  } catch {
    return [];
  }
}

/** Values of a field that the table uses, of all that there are. */
export interface FieldUse {
  readonly field: string;
  readonly used: number;
  readonly max: number;
}

/** How much of the numbers that mark entities and countries is taken. */
export function usesOf(
  layout: Layout,
  { entities = {}, countries = {}, routes }: Pick<DeclaredTable, "entities" | "countries" | "routes">,
): readonly FieldUse[] {
  const own = Object.values(entities).flatMap(({ ids }) => ids.filter((id) => id.layout === layout.name));
  const services = new Set(own.flatMap(({ service }) => service ?? [])).size;
  const groups = new Set(own.flatMap((id) => id.group ?? id.class ?? [])).size;
  const counts: Readonly<Record<string, number>> = {
    country: own.length > 0 ? Object.keys(countries).length : 0,
    service: services,
    group: groups,
    shardKey: countWithin(
      routes.flatMap(({ when }) => ([when.layout].flat().includes(layout.name) ? [when.shardKey ?? []].flat() : [])),
    ),
  };
  return Object.entries(counts).flatMap(([name, used]) => {
    const field = layout.field(name);
    return field === undefined || used === 0 ? [] : [{ field: name, used, max: Number(field.max) + 1 }];
  });
}

/** How many numbers the items name together: `5`, or `"0-1023"` with both ends. */
function countWithin(items: readonly (number | string)[]): number {
  const ranges = items
    .map((item) => String(item).split("-").map(Number))
    .map(([low = 0, high = low]) => [low, high] as const)
    .toSorted(([a], [b]) => a - b);
  let count = 0;
  let next = 0;
  for (const [low, high] of ranges) {
    count += Math.max(0, high + 1 - Math.max(low, next));
    next = Math.max(next, high + 1);
  }
  return count;
}
