import { readOriginUrl } from "../../routing/compile/origin-url.ts";
import { groupBy } from "../../routing/layouts/plan.ts";
import { valuesOf } from "../../routing/schema/records.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type DiffCounts, formatUndone, type KeyCount, undoneCount } from "./diff.ts";
import { escapeControls, formatCount } from "./output.ts";
import { idlePacks } from "./table-file.ts";

/** Not faults of a table, but often mistakes. Plain JSON. */
export type PlanWarning = ReturnType<typeof warningsOf>[number];

type Numbers = Readonly<Record<string, number>>;

/** The number is of another country. Without `to` it is unassigned: the country has another number. */
const countries = (before: Numbers, after: Numbers) => {
  const now = new Map(Object.entries(after).map(([code, number]) => [number, code]));
  return Object.entries(before).flatMap(([from, number]) => {
    const to = now.get(number);
    if (to === from || (to === undefined && !Object.hasOwn(after, from))) return [];
    return [{ kind: "country-renumbered", number, from, ...(to === undefined ? {} : { to }) } as const];
  });
};

/** IDs of the layout belong to another entity: those with the number, or all. A renamed entity is not a change of owner. */
const entities = (before: DeclaredTable, after: DeclaredTable) => {
  const now = claimsIn(after);
  return [...claimsIn(before)].flatMap(([key, { layout, mark, entity: from }]) => {
    const to = now.get(key)?.entity;
    const isRenamed =
      to !== undefined && !Object.hasOwn(after.entities ?? {}, from) && !Object.hasOwn(before.entities ?? {}, to);
    if (to === undefined || to === from || isRenamed) return [];
    return [{ kind: "entity-renumbered", layout, ...(mark === undefined ? {} : { mark }), from, to } as const];
  });
};

/**
 * By layout and number. `mark`: `service 1`; `undefined` if the entity owns all IDs of the layout. IDs of several entities are
 * distinguished by path, and omitted here.
 */
const claimsIn = ({ entities: declared = {} }: DeclaredTable) => {
  const claims = Object.entries(declared).flatMap(([entity, { ids }]) =>
    ids.map(({ layout, service, group, class: className }) => {
      const marks = Object.entries({ service, group, class: className });
      const [mark] = marks.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
      return { layout, mark, entity };
    }),
  );
  const byMark = groupBy(claims, ({ layout, mark }) => JSON.stringify([layout, mark]));
  return new Map(
    [...byMark].flatMap(([key, [claim, ...others]]) =>
      claim && others.every(({ entity }) => entity === claim.entity) ? [[key, claim] as const] : [],
    ),
  );
};

const STEP_KINDS: readonly string[] = [
  "move-lost",
  "epoch-falls",
  "epoch-stands",
  "no-longer-gone",
  "epoch-floor-falls",
] satisfies readonly PlanWarning["kind"][];

/** Whether the change needs `--over-moves`. */
export const undoesMoves = (warnings: readonly { readonly kind: string }[]): boolean =>
  warnings.some(({ kind }) => STEP_KINDS.includes(kind));

export const warningsOf = (
  before: DeclaredTable,
  after: DeclaredTable,
  changes: DiffCounts | undefined,
  canary: number | undefined,
) => {
  const from = before.epochFloor ?? 0;
  const to = after.epochFloor ?? 0;
  return [
    ...(changes?.overrides.undone ?? []).map(undoneCount),
    ...(to < from ? [{ kind: "epoch-floor-falls", from, to } as const] : []),
    ...countries(before.countries ?? {}, after.countries ?? {}),
    ...entities(before, after),
    ...idleRegions(before, after),
    ...newOrigins(before, after),
    ...(changes?.keys ?? []).flatMap(lost),
    ...idlePacks(after).map((pack) => ({ kind: "pack-without-route", pack }) as const),
    ...(canary === undefined ? [] : [{ kind: "canary-running", revision: canary } as const]),
  ];
};

const idleRegions = (before: DeclaredTable, after: DeclaredTable) => {
  const left = routedRegions(before);
  const right = routedRegions(after);
  const isKnown = (region: string) => Object.hasOwn(before.regions, region);
  return Object.keys(after.regions)
    .filter((region) => !right.has(region) && (left.has(region) || !isKnown(region)))
    .map((region) => ({ kind: "region-without-routes", region }) as const);
};

/** Regions with routes. Overrides do not count: they are temporary. */
const routedRegions = ({
  routes,
  default: fallback,
  withoutId = {},
  sources = [],
  packs = {},
  directory,
  regions,
}: DeclaredTable): ReadonlySet<string> => {
  // Keys of a directory may be in each.
  if (directory !== undefined) return new Set(Object.keys(regions));
  const declared = [...sources, ...Object.values(withoutId).flatMap((entry) => entry.sources ?? [])];
  const said = declared.flatMap(({ region, values, prefixes, clientCountry, clientContinent, host }) => [
    region,
    ...[values, prefixes, clientCountry, clientContinent, host].flatMap((map) =>
      valuesOf(map).map((each) => each.region),
    ),
  ]);
  const routed = routes.flatMap(({ region, canary, split, pack = "" }) => [
    region,
    canary?.region,
    ...Object.values(split?.regions ?? {}),
    ...(packs[pack]?.regions ?? []),
  ]);
  return new Set([...routed, fallback, ...said].filter((region) => region !== undefined));
};

/** No region of the current table has an origin with this host and port. */
const newOrigins = (before: DeclaredTable, after: DeclaredTable) => {
  const known = new Set(authorities(before).map(({ authority }) => authority));
  return authorities(after)
    .filter(({ authority }) => !known.has(authority))
    .map(({ region, authority }) => ({ kind: "new-origin", region, authority }) as const);
};

const authorities = ({ regions }: DeclaredTable) =>
  Object.entries(regions).flatMap(([region, { origins }]) => {
    const all = origins.flatMap(({ url }) => {
      const read = readOriginUrl(url);
      return read.ok ? [`${read.value.host}:${read.value.port}`] : [];
    });
    return [...new Set(all)].map((authority) => ({ region, authority }));
  });

const lost = ({ entity, layout, from, to, keys }: KeyCount) =>
  from !== "nowhere" && to === "nowhere" ? [{ kind: "keys-go-nowhere", entity, layout, keys } as const] : [];

export const formatWarning = (warning: PlanWarning): string => escapeControls(sentenceOf(warning));

const sentenceOf = (warning: PlanWarning): string => {
  switch (warning.kind) {
    case "region-without-routes":
      return `region ${warning.region} has no routes: no ID is routed there`;
    case "new-origin":
      return `${warning.authority} in region ${warning.region} is not an origin of the current table: new, or misspelled?`;
    case "keys-go-nowhere":
      return `${warning.entity} (${warning.layout}): ${formatCount(BigInt(warning.keys))} of its keys lose their region; their IDs get 404`;
    case "pack-without-route":
      return `pack ${warning.pack} is in no route: it is uploaded, but unused`;
    case "canary-running":
      return `a canary of revision ${warning.revision} is running: publishing requires --expect ${warning.revision}, which ends it`;
    case "country-renumbered": {
      const { number, from, to } = warning;
      return to === undefined
        ? `country ${number} was ${from} and is now unassigned: existing IDs lose their country, because ${from} has another number`
        : `country ${number} was ${from} and is now ${to}: existing IDs change their country`;
    }
    case "entity-renumbered": {
      const { layout, mark, from, to } = warning;
      const which = mark === undefined ? `IDs of layout ${layout}` : `${mark} of layout ${layout}`;
      return `${which}: was ${from} and is now ${to}: existing IDs change their entity`;
    }
    case "epoch-floor-falls":
      return `epochFloor falls from ${warning.from} to ${warning.to}: new moves may start with epochs that regions already know`;
    default:
      return formatUndone(warning);
  }
};
