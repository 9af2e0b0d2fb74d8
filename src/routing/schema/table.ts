import * as v from "valibot";
import * as limits from "../limits.ts";
import { layoutSchema } from "./layout.ts";
import {
  breakerSchema,
  canarySchema,
  deadlinesSchema,
  described,
  epochFloorSchema,
  fieldsSchema,
  goneSchema,
  healthSchema,
  integer,
  list,
  type MembersOutput,
  movedSchema,
  moveSchema,
  name,
  named,
  numbers,
  oneOrMore,
  optional,
  rememberSchema,
  replaySchema,
  shadowSchema,
  splitSchema,
  text,
  time,
  wholeAnswersSchema,
  wholeNumber,
} from "./parts.ts";
import { conditionMembers, entityPath } from "./path.ts";
import { type DeclaredWithoutId, sourcesSchema } from "./without-id.ts";

/**
 * The core's part of the declared routing table: the source of its types and its JSON Schema. Features add their members in
 * `compose.ts`, and declare their types beside their schemas. Rules about more than one value are in `check/`.
 */

const origin = v.strictObject({
  url: described(text, "http or https, host, optional port and base path; no query, fragment or password."),
  weight: optional(
    integer(0, 1_000_000),
    "Share of the region's IDs relative to its other origins; default 1, 0 drains it.",
  ),
  binding: optional(
    name,
    "A binding of the deployment that requests go through: a mutual TLS certificate or a private network.",
  ),
});

export const regionMembers = {
  origins: described(
    list(origin, limits.ORIGINS_PER_REGION_MAX, "A region needs at least one origin."),
    "The servers of the region.",
  ),
  failover: optional(
    v.pipe(v.array(name), v.maxLength(limits.REGIONS_MAX)),
    "Regions that may serve reads when no origin of this one is reachable, in order.",
  ),
  failoverWrites: optional(
    v.boolean(),
    "Whether failover regions may receive writes that are safe to repeat; default false.",
  ),
  deadlines: v.exactOptional(deadlinesSchema),
  wholeAnswers: v.exactOptional(wholeAnswersSchema),
  breaker: v.exactOptional(breakerSchema),
  health: v.exactOptional(healthSchema),
};

export const countrySchema = integer(0, 255);

const entityId = v.strictObject({
  layout: described(name, "Layout of the IDs."),
  service: optional(wholeNumber, "iUID service number of this entity."),
  class: optional(text, "LUUID class name; its CRC-12 is the group."),
  group: optional(wholeNumber, "LUUID group number, instead of a class."),
});

export const entityMembers = {
  path: entityPath,
  ...conditionMembers,
  ids: described(
    v.optional(v.pipe(v.array(entityId), v.maxLength(limits.IDS_PER_ENTITY_MAX)), []),
    "The layouts that IDs of this entity may have. An entity needs one, or a directory.",
  ),
  any: optional(v.picklist(["proxy", "redirect"]), "What /any/:id does: proxy (the default) or redirect with 307."),
  deadlines: v.exactOptional(deadlinesSchema),
  wholeAnswers: v.exactOptional(wholeAnswersSchema),
  replayBytesMax: v.exactOptional(replaySchema),
  rememberMovedSeconds: v.exactOptional(rememberSchema),
  fields: v.exactOptional(fieldsSchema),
};

const when = v.strictObject({
  layout: optional(oneOrMore(name), "Layouts of IDs."),
  entity: optional(oneOrMore(name), "Entities of the table."),
  country: optional(oneOrMore(name), "ISO 3166-1 alpha-2 codes from `countries`."),
  service: optional(numbers, "iUID service numbers."),
  shardKey: optional(numbers, "HotGuid shard keys."),
  slices: optional(v.record(name, numbers), "Values of slices of the key."),
  fields: optional(v.record(name, numbers), "Values of fields by name: keys, and nodes such as a machine."),
  group: optional(numbers, "LUUID group numbers."),
  class: optional(oneOrMore(text), "LUUID class names."),
  primaryKey: optional(numbers, "LUUID primary keys, decimal."),
  mintedFrom: optional(time, "Minted at this time or later."),
  mintedBefore: optional(time, "Minted earlier than this time."),
});

export const routeMembers = {
  when: described(when, "All conditions must hold; none means every ID."),
  region: optional(name, "The region of the IDs. A route has this, a directory, a split or a pack."),
  split: optional(splitSchema, "The IDs go to several regions, in equal parts: for a load too high for one region."),
  canary: v.exactOptional(canarySchema),
  shadow: v.exactOptional(shadowSchema),
};

const gatewaySchema = v.strictObject({
  hosts: described(v.pipe(v.array(text), v.maxLength(100)), "Host names of the gateway itself; no origin may be one."),
});

/** An override for each of many entities, by ID. */
const overridesOf = <const Entry extends v.GenericSchema>(entry: Entry, description: string) =>
  optional(v.pipe(v.record(v.string(), entry), v.maxEntries(limits.MOVED_MAX)), description);

/** `region`, `entity`, `withoutId`, `route`: with the members of features. */
export const tableMembers = <
  const Region extends v.GenericSchema,
  const Entity extends v.GenericSchema,
  const WithoutId extends v.GenericSchema,
  const Route extends v.GenericSchema,
>(
  region: Region,
  entity: Entity,
  withoutId: WithoutId,
  route: Route,
) => ({
  $schema: optional(v.string(), "Where editors find this schema: ./src/routing/routing-table.schema.json."),
  gateway: optional(gatewaySchema, "The gateway itself."),
  regions: described(
    v.pipe(
      v.record(name, region),
      v.minEntries(1, "A table needs at least one region."),
      v.maxEntries(limits.REGIONS_MAX),
    ),
    "Where: logical names, which are never reused for something else.",
  ),
  countries: optional(v.record(name, countrySchema), "iUID country number by ISO 3166-1 alpha-2 code."),
  entities: optional(
    named(entity, limits.ENTITIES_MAX),
    "Entities: one entry per type. A table of requests without an ID needs none.",
  ),
  fields: v.exactOptional(fieldsSchema),
  sources: v.exactOptional(sourcesSchema),
  withoutId: optional(
    named(withoutId, limits.WITHOUT_ID_MAX),
    "Requests without an ID, by name, such as lists and logins: `sources` give their region.",
  ),
  layouts: optional(v.record(name, layoutSchema), "Layouts of your own, and what the table adds to built-in ones."),
  routes: described(v.pipe(v.array(route), v.maxLength(limits.ROUTES_MAX)), "Routes; the first match wins."),
  moved: overridesOf(movedSchema, "Region by canonical ID, for entities that left their ID's region."),
  moves: overridesOf(moveSchema, "Moves in progress by canonical ID: `waybill move` writes them."),
  gone: overridesOf(goneSchema, "Entities that were removed from every region, by canonical ID; the answer is 410."),
  epochFloor: v.exactOptional(epochFloorSchema),
  default: optional(name, "Region of IDs that no route matches. Without it they are errors."),
});

type Core = MembersOutput<ReturnType<typeof tableMembers>>;

/** The table as it is in `routing-table.json`. Features add their members to this interface and to those of its parts. */
export interface DeclaredTable extends Omit<Core, "regions" | "entities" | "withoutId" | "routes"> {
  regions: Record<string, DeclaredRegion>;
  entities?: Record<string, DeclaredEntity>;
  withoutId?: Record<string, DeclaredWithoutId>;
  routes: DeclaredRoute[];
}
export interface DeclaredRegion extends MembersOutput<typeof regionMembers> {}
export interface DeclaredEntity extends MembersOutput<typeof entityMembers> {}
export type DeclaredEntityId = v.InferOutput<typeof entityId>;
export type { DeclaredLayout, DeclaredRow, DeclaredSlice } from "./layout.ts";
export interface DeclaredRoute extends MembersOutput<typeof routeMembers> {}
export type DeclaredConditions = v.InferOutput<typeof when>;
export type { DeclaredGone, DeclaredMove, DeclaredMoved, DeclaredNumbers } from "./parts.ts";
export type { DeclaredSource } from "./without-id.ts";
