import * as v from "valibot";
import * as limits from "../limits.ts";
import { layoutSchema } from "./layout.ts";
import { goneSchema, movedSchema, moveSchema } from "./parts.ts";
import { countrySchema, type DeclaredRoute, entityMembers, regionSchema, routeMembers, tableMembers } from "./table.ts";
import { withoutIdMembers } from "./without-id.ts";

/** The schema of a declared table: the core's members and those of features. */

type Members = Readonly<Record<string, v.GenericSchema>>;

/** Members that a feature adds. */
export interface FeatureSchema {
  readonly table?: Members;
  readonly entity?: Members;
  readonly withoutId?: Members;
  readonly route?: Members;
  /** Members of the table with named entries, each of which is checked alone. */
  readonly parts?: Readonly<Record<string, Part>>;
  /** The member of a route that says where its IDs go, and its place among others of the kind. */
  readonly destination?: readonly [member: string, place: number];
}

export const FEATURE_LEVELS = ["table", "entity", "withoutId", "route"] as const;

/** `max`: most entries. `standIn`: a valid value that stands in for the part. */
export interface Part {
  readonly max: number;
  readonly entry: v.GenericSchema;
  readonly standIn: object;
}

export type TableSchemas = ReturnType<typeof composeSchemas>;

/** By the member's level and name: the feature that has it. */
export type MemberOwners = Readonly<Record<(typeof FEATURE_LEVELS)[number], Readonly<Record<string, string>>>>;

const CORE_DESTINATIONS: readonly (readonly [member: string, place: number])[] = [
  ["region", 0],
  ["split", 2],
];

/** `owners`: members of all features, those that the build leaves out as well. */
export const composeSchemas = (features: readonly FeatureSchema[], owners: MemberOwners) => {
  const own = (level: (typeof FEATURE_LEVELS)[number]): Members =>
    Object.assign({}, ...features.map((feature) => feature[level]));
  const entity = v.strictObject({ ...entityMembers, ...own("entity") });
  const withoutId = v.strictObject({ ...withoutIdMembers, ...own("withoutId") });
  const route = v.strictObject({ ...routeMembers, ...own("route") });
  const parts: Readonly<Record<string, Part>> = {
    regions: { max: limits.REGIONS_MAX, entry: regionSchema, standIn: { a: { origins: [{ url: "a" }] } } },
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
    table: v.strictObject({ ...tableMembers(entity, withoutId, route), ...own("table") }),
    /** Members of features that are read as a whole. */
    whole: Object.keys(own("table")).filter((member) => !Object.hasOwn(parts, member)),
    destinations: [CORE_DESTINATIONS, features.flatMap(({ destination }) => (destination ? [destination] : []))]
      .flat()
      .toSorted(([, a], [, b]) => a - b)
      .map(([member]) => member as keyof DeclaredRoute),
    owners,
  };
};
