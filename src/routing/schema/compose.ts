import * as v from "valibot";
import * as limits from "../limits.ts";
import { layoutSchema } from "./layout.ts";
import { goneSchema, movedSchema, moveSchema } from "./parts.ts";
import {
  countrySchema,
  type DeclaredRoute,
  entityMembers,
  regionMembers,
  routeMembers,
  tableMembers,
} from "./table.ts";
import { withoutIdMembers } from "./without-id.ts";

/** The schema of a declared table: the core's members and those of features. */

type Members = Readonly<Record<string, v.GenericSchema>>;

/** Members that a feature adds. */
export interface FeatureSchema {
  readonly table?: Members;
  readonly region?: Members;
  readonly entity?: Members;
  readonly withoutId?: Members;
  readonly route?: Members;
  /** Members of the table with named entries, each of which is checked alone. */
  readonly parts?: Readonly<Record<string, Part>>;
  /** The member of a route that says where its IDs go, and its place among others of the kind. */
  readonly destination?: readonly [member: string, place: number];
}

export const FEATURE_LEVELS = ["table", "region", "entity", "withoutId", "route"] as const;

/** `max`: most entries. `standIn`: a valid value that stands in for the part. */
export interface Part {
  readonly max: number;
  readonly entry: v.GenericSchema;
  readonly standIn: object;
}

export type TableSchemas = ReturnType<typeof composeSchemas>;

type Level = (typeof FEATURE_LEVELS)[number];

/** By the member's level and name: the feature that has it, and the core's member that it precedes. Without one it is among the last. */
export type MemberOwners = Readonly<
  Record<Level, Readonly<Record<string, { readonly feature: string; readonly before?: string }>>>
>;

const CORE_DESTINATIONS: readonly (readonly [member: string, place: number])[] = [
  ["region", 0],
  ["split", 2],
];

/** `owners`: members of all features, those that the build leaves out as well. */
export const composeSchemas = (features: readonly FeatureSchema[], owners: MemberOwners) => {
  const own = (level: Level): Members => Object.assign({}, ...features.map((feature) => feature[level]));
  /** The order of members is that of faults and of the JSON Schema. */
  const withOwn = <Core extends Members>(level: Level, core: Core): Core => {
    const members = own(level);
    const placed = Object.entries(owners[level]).filter(([member]) => Object.hasOwn(members, member));
    const before = (key: string | undefined) =>
      placed.flatMap(([member, { before: at }]) => (at === key ? [[member, members[member]]] : []));
    const entries = Object.entries(core).flatMap(([key, schema]) => [...before(key), [key, schema]]);
    return Object.fromEntries([...entries, ...before(undefined)]);
  };
  const region = v.strictObject(withOwn("region", regionMembers));
  const entity = v.strictObject(withOwn("entity", entityMembers));
  const withoutId = v.strictObject(withOwn("withoutId", withoutIdMembers));
  const route = v.strictObject(withOwn("route", routeMembers));
  const parts: Readonly<Record<string, Part>> = {
    regions: { max: limits.REGIONS_MAX, entry: region, standIn: { a: { origins: [{ url: "a" }] } } },
    countries: { max: Number.POSITIVE_INFINITY, entry: countrySchema, standIn: {} },
    entities: {
      max: limits.ENTITIES_MAX,
      entry: entity,
      standIn: { a: { path: "/a/:id", ids: [{ layout: "a" }] } },
    },
    layouts: { max: limits.LAYOUTS_MAX, entry: layoutSchema, standIn: {} },
    ...Object.assign({}, ...features.map((feature) => feature.parts)),
    withoutId: { max: limits.WITHOUT_ID_MAX, entry: withoutId, standIn: {} },
    moved: { max: limits.MOVED_MAX, entry: movedSchema, standIn: {} },
    moves: { max: limits.MOVED_MAX, entry: moveSchema, standIn: {} },
    gone: { max: limits.MOVED_MAX, entry: goneSchema, standIn: {} },
  };
  return {
    entity,
    withoutId,
    route,
    parts,
    table: v.strictObject(withOwn("table", tableMembers(region, entity, withoutId, route))),
    /** Members of features that are read as a whole. */
    whole: Object.keys(own("table")).filter((member) => !Object.hasOwn(parts, member)),
    destinations: [CORE_DESTINATIONS, features.flatMap(({ destination }) => (destination ? [destination] : []))]
      .flat()
      .toSorted(([, a], [, b]) => a - b)
      .map(([member]) => member as keyof DeclaredRoute),
    owners,
  };
};
