import { readOriginUrl } from "../routing/origin-url.ts";
import type { DeclaredTable } from "../routing/schema.ts";
import type { DiffCounts, KeyCount } from "./diff-counts.ts";
import { formatCount } from "./grouped.ts";
import { idlePacks } from "./idle-packs.ts";
import { formatNumberWarning, type NumberWarning, numberWarnings } from "./number-warnings.ts";
import { escapeControls } from "./printable.ts";
import { formatStep, type StepWarning, stepWarnings } from "./step-warnings.ts";

/** What is no fault of a table, and often a mistake. Plain JSON. */
export type PlanWarning =
  /** No route, canary or default leads to the region any more. */
  | { readonly kind: "region-without-routes"; readonly region: string }
  /** No region of the table in force has an origin of this host and port. */
  | { readonly kind: "new-origin"; readonly region: string; readonly authority: string }
  /** Keys that had a region are assigned to none. */
  | { readonly kind: "keys-go-nowhere"; readonly entity: string; readonly layout: string; readonly keys: string }
  /** The table has the pack, and no route leads to it. */
  | { readonly kind: "pack-without-route"; readonly pack: string }
  /** Publishing is refused without its number, and ends it with that. */
  | { readonly kind: "canary-running"; readonly revision: number }
  | NumberWarning
  | StepWarning;

export const warningsOf = (
  before: DeclaredTable,
  after: DeclaredTable,
  changes: DiffCounts | undefined,
  canary: number | undefined,
): readonly PlanWarning[] => [
  ...stepWarnings(before, after, changes),
  ...numberWarnings(before, after),
  ...idleRegions(before, after),
  ...newOrigins(before, after),
  ...(changes?.keys ?? []).filter(isLost).map(lost),
  ...idlePacks(after).map((pack) => ({ kind: "pack-without-route", pack }) as const),
  ...(canary === undefined ? [] : [{ kind: "canary-running", revision: canary } as const]),
];

const idleRegions = (before: DeclaredTable, after: DeclaredTable): readonly PlanWarning[] => {
  const [left, right] = [routedRegions(before), routedRegions(after)];
  const isKnown = (region: string) => Object.hasOwn(before.regions, region);
  return Object.keys(after.regions)
    .filter((region) => !right.has(region) && (left.has(region) || !isKnown(region)))
    .map((region) => ({ kind: "region-without-routes", region }));
};

/** Regions that IDs can go to. Those of single entities aside, which are there for a while. */
const routedRegions = ({
  routes,
  default: fallback,
  withoutId = {},
  sources = [],
  packs = {},
}: DeclaredTable): ReadonlySet<string> => {
  const declared = [...sources, ...Object.values(withoutId).flatMap((entry) => entry.sources ?? [])];
  const said = declared.flatMap(({ region, values, clientCountry, clientContinent }) => [
    region,
    ...[values, clientCountry, clientContinent].flatMap((map) => Object.values(map ?? {})),
  ]);
  const routed = routes.flatMap(({ region, canary, split, pack = "" }) => [
    region,
    canary?.region,
    ...Object.values(split?.regions ?? {}),
    ...(packs[pack]?.regions ?? []),
  ]);
  return new Set([...routed, fallback, ...said].filter((region) => region !== undefined));
};

const newOrigins = (before: DeclaredTable, after: DeclaredTable): readonly PlanWarning[] => {
  const known = new Set(authorities(before).map(({ authority }) => authority));
  return authorities(after)
    .filter(({ authority }) => !known.has(authority))
    .map(({ region, authority }) => ({ kind: "new-origin", region, authority }));
};

/** Each region with each host and port once. */
const authorities = ({ regions }: DeclaredTable) =>
  Object.entries(regions).flatMap(([region, { origins }]) => {
    const all = origins.flatMap(({ url }) => {
      const read = readOriginUrl(url);
      return read.ok ? [`${read.value.host}:${read.value.port}`] : [];
    });
    return [...new Set(all)].map((authority) => ({ region, authority }));
  });

const isLost = ({ from, to }: KeyCount): boolean => from !== "nowhere" && to === "nowhere";

const lost = ({ entity, layout, keys }: KeyCount): PlanWarning => ({ kind: "keys-go-nowhere", entity, layout, keys });

export const formatWarning = (warning: PlanWarning): string => {
  switch (warning.kind) {
    case "region-without-routes":
      return escapeControls(`region ${warning.region} has no routes: no ID goes there`);
    case "new-origin":
      return escapeControls(
        `${warning.authority} in region ${warning.region} is no origin of the table in force: new, or misspelt?`,
      );
    case "keys-go-nowhere":
      return escapeControls(
        `${warning.entity} (${warning.layout}): ${formatCount(BigInt(warning.keys))} of its keys had a region and go nowhere now; their IDs get 404`,
      );
    case "pack-without-route":
      return escapeControls(`pack ${warning.pack} is in no route: it is sent, and decides nothing`);
    case "canary-running":
      return `a canary of revision ${warning.revision} runs: publishing with --expect ${warning.revision} ends it; without, it is refused`;
    case "country-renumbered":
    case "entity-renumbered":
      return formatNumberWarning(warning);
    default:
      return formatStep(warning);
  }
};
