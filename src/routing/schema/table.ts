import * as v from "valibot";
import {
  ENTITIES_MAX,
  IDS_PER_ENTITY_MAX,
  MOVED_MAX,
  ORIGINS_PER_REGION_MAX,
  PATHS_PER_ENTITY_MAX,
  PATTERN_LENGTH_MAX,
  REGIONS_MAX,
  ROUTES_MAX,
  WITHOUT_ID_MAX,
} from "../limits.ts";
import { layoutSchema } from "./layout.ts";
import {
  breakerSchema,
  canarySchema,
  deadlinesSchema,
  epochFloorSchema,
  goneSchema,
  healthSchema,
  jsonPath,
  movedSchema,
  moveSchema,
  name,
  numbers,
  oneOrMore,
  otherBodies,
  packsSchema,
  rememberSchema,
  replaySchema,
  shadowSchema,
  splitSchema,
  text,
  time,
  wholeNumber,
} from "./parts.ts";
import { sourcesSchema, withoutIdSchema } from "./without-id.ts";

/** The declared routing table, the one source of its types and of its JSON Schema. What needs more than one value is in `check/`. */

const origin = v.strictObject({
  url: v.pipe(text, v.description("http or https, host, optional port and base path; no query, fragment or password.")),
  weight: v.exactOptional(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(0),
      v.maxValue(1_000_000),
      v.description("Share of the region's IDs relative to its other origins; 1 unless given, 0 drains it."),
    ),
  ),
  binding: v.exactOptional(
    v.pipe(
      name,
      v.description(
        "A binding of the deployment that requests go through: a mutual TLS certificate or a private network.",
      ),
    ),
  ),
});

export const regionSchema = v.strictObject({
  origins: v.pipe(
    v.array(origin),
    v.minLength(1, "A region needs at least one origin."),
    v.maxLength(ORIGINS_PER_REGION_MAX),
    v.description("Where the region answers."),
  ),
  failover: v.exactOptional(
    v.pipe(
      v.array(name),
      v.maxLength(REGIONS_MAX),
      v.description("Regions that may answer reads when no origin of this one can be reached, in order."),
    ),
  ),
  failoverWrites: v.exactOptional(
    v.pipe(
      v.boolean(),
      v.description("Whether failover regions may take writes that are safe to repeat; false unless given."),
    ),
  ),
  deadlines: v.exactOptional(deadlinesSchema),
  breaker: v.exactOptional(breakerSchema),
  health: v.exactOptional(healthSchema),
});

export const countrySchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(255));

const pattern = v.pipe(
  v.string(),
  v.maxLength(PATTERN_LENGTH_MAX),
  v.regex(
    /^(\/([A-Za-z0-9._~!$&'()+,;=@-]+|\*))*\/:id(\/([A-Za-z0-9._~!$&'()+,;=@-]+|\*))*$/,
    "A path pattern is segments of literal text or `*`, with exactly one segment `:id`: for example /orders/:id.",
  ),
);

const layoutPattern = v.strictObject({
  path: pattern,
  layout: v.pipe(
    name,
    v.description("IDs on these paths are read as this layout of the entity alone; `luuid-short` for short keys."),
  ),
});

const patternOrLayout = v.union([pattern, layoutPattern]);

const entityId = v.strictObject({
  layout: v.pipe(name, v.description("Layout that the IDs have.")),
  service: v.exactOptional(v.pipe(wholeNumber, v.description("iUID service number of this entity."))),
  class: v.exactOptional(v.pipe(text, v.description("LUUID class name; its CRC-12 is the group."))),
  group: v.exactOptional(v.pipe(wholeNumber, v.description("LUUID group number, instead of a class."))),
});

const publicSchema = v.union([
  v.literal(true),
  v.strictObject({
    as: v.pipe(
      v.picklist(["sealed", "ulong", "long", "decimal", "guid", "uint128"]),
      v.description("`sealed` is our own form for 128-bit IDs; the others are those of Architect.Identities."),
    ),
    form: v.exactOptional(
      v.pipe(
        v.picklist(["uuid", "base62", "hex"]),
        v.description("Text of the compatible kinds; base62 if absent. Sealed IDs have one text."),
      ),
    ),
  }),
]);

export const entitySchema = v.strictObject({
  path: v.pipe(
    v.union([
      pattern,
      layoutPattern,
      v.pipe(v.array(patternOrLayout), v.minLength(1), v.maxLength(PATHS_PER_ENTITY_MAX)),
    ]),
    v.description("Path pattern or patterns; /any/:id leads to the first for IDs of its layout."),
  ),
  ids: v.pipe(
    v.array(entityId),
    v.minLength(1, "An entity needs at least one layout of IDs."),
    v.maxLength(IDS_PER_ENTITY_MAX),
    v.description("The layouts that IDs of this entity may have."),
  ),
  any: v.exactOptional(
    v.pipe(
      v.picklist(["proxy", "redirect"]),
      v.description("What /any/:id does: pass on (the default) or answer 307."),
    ),
  ),
  public: v.exactOptional(
    v.pipe(
      publicSchema,
      v.description("Clients see public IDs only; `true` is { as: sealed }. Keys are a secret of the deployment."),
    ),
  ),
  publicFields: v.exactOptional(
    v.pipe(
      v.array(v.union([jsonPath, v.strictObject({ path: jsonPath, entity: name })])),
      v.description("Where IDs of public entities stand in JSON answers; a bare path means this entity's own ID."),
    ),
  ),
  otherBodies: v.exactOptional(otherBodies),
  deadlines: v.exactOptional(deadlinesSchema),
  replayBytesMax: v.exactOptional(replaySchema),
  rememberMovedSeconds: v.exactOptional(rememberSchema),
});

const when = v.strictObject({
  layout: v.exactOptional(oneOrMore(name)),
  entity: v.exactOptional(oneOrMore(name)),
  country: v.exactOptional(v.pipe(oneOrMore(name), v.description("ISO 3166-1 alpha-2 codes from `countries`."))),
  service: v.exactOptional(v.pipe(numbers, v.description("iUID service numbers."))),
  shardKey: v.exactOptional(v.pipe(numbers, v.description("HotGuid shard keys."))),
  slices: v.exactOptional(v.pipe(v.record(name, numbers), v.description("Values of slices of the key."))),
  fields: v.exactOptional(
    v.pipe(v.record(name, numbers), v.description("Values of fields by name: keys, and nodes such as a machine.")),
  ),
  group: v.exactOptional(v.pipe(numbers, v.description("LUUID group numbers."))),
  class: v.exactOptional(v.pipe(oneOrMore(text), v.description("LUUID class names."))),
  primaryKey: v.exactOptional(v.pipe(numbers, v.description("LUUID primary keys, decimal."))),
  mintedFrom: v.exactOptional(v.pipe(time, v.description("Minted at this time or later."))),
  mintedBefore: v.exactOptional(v.pipe(time, v.description("Minted earlier than this time."))),
});

export const routeSchema = v.strictObject({
  when: v.pipe(when, v.description("All conditions must hold; none means every ID.")),
  region: v.exactOptional(v.pipe(name, v.description("Where the IDs go. A route has this, a split or a pack."))),
  split: v.exactOptional(
    v.pipe(splitSchema, v.description("The IDs go to several regions, in equal parts: for what is too hot for one.")),
  ),
  pack: v.exactOptional(
    v.pipe(name, v.description("The IDs go where the ranges of this pack say; others go on to the next routes.")),
  ),
  canary: v.exactOptional(canarySchema),
  shadow: v.exactOptional(shadowSchema),
});

export const gatewaySchema = v.strictObject({
  hosts: v.pipe(
    v.array(text),
    v.maxLength(100),
    v.description("Host names of the gateway itself; no origin may be one."),
  ),
});

export const tableSchema = v.strictObject({
  $schema: v.exactOptional(v.string()),
  gateway: v.exactOptional(gatewaySchema),
  regions: v.pipe(
    v.record(name, regionSchema),
    v.minEntries(1, "A table needs at least one region."),
    v.maxEntries(REGIONS_MAX),
    v.description("Where: logical names, never used again for something else."),
  ),
  countries: v.exactOptional(
    v.pipe(v.record(name, countrySchema), v.description("iUID country number by ISO 3166-1 alpha-2 code.")),
  ),
  entities: v.pipe(
    v.record(name, entitySchema),
    v.minEntries(1, "A table needs at least one entity."),
    v.maxEntries(ENTITIES_MAX),
    v.description("What: one entry for each kind of thing."),
  ),
  sources: v.exactOptional(sourcesSchema),
  withoutId: v.exactOptional(
    v.pipe(
      v.record(name, withoutIdSchema),
      v.maxEntries(WITHOUT_ID_MAX),
      v.description("Requests without an ID, by name: lists, logins and the like, whose region something else says."),
    ),
  ),
  layouts: v.exactOptional(
    v.pipe(v.record(name, layoutSchema), v.description("Layouts of your own, and what the table adds to ours.")),
  ),
  packs: v.exactOptional(packsSchema),
  routes: v.pipe(v.array(routeSchema), v.maxLength(ROUTES_MAX), v.description("Which: the first match wins.")),
  moved: v.exactOptional(
    v.pipe(
      v.record(v.string(), movedSchema),
      v.maxEntries(MOVED_MAX),
      v.description("Region by canonical ID, for entities that left the region that their ID names."),
    ),
  ),
  moves: v.exactOptional(
    v.pipe(
      v.record(v.string(), moveSchema),
      v.maxEntries(MOVED_MAX),
      v.description("Moves under way by canonical ID: `waybill move` writes them."),
    ),
  ),
  gone: v.exactOptional(
    v.pipe(
      v.record(v.string(), goneSchema),
      v.maxEntries(MOVED_MAX),
      v.description("Entities that were removed from every region, by canonical ID; they are answered 410."),
    ),
  ),
  epochFloor: v.exactOptional(epochFloorSchema),
  default: v.exactOptional(
    v.pipe(name, v.description("Region of IDs that no route takes. Without it they are errors.")),
  ),
});

/** The table as it stands in `routing-table.json`. */
export type DeclaredTable = v.InferOutput<typeof tableSchema>;
export type DeclaredRegion = v.InferOutput<typeof regionSchema>;
export type DeclaredEntity = v.InferOutput<typeof entitySchema>;
export type DeclaredEntityId = v.InferOutput<typeof entityId>;
export type { DeclaredLayout, DeclaredRow, DeclaredSlice } from "./layout.ts";
export type DeclaredRoute = v.InferOutput<typeof routeSchema>;
export type DeclaredConditions = v.InferOutput<typeof when>;
export type { DeclaredGone, DeclaredMove, DeclaredMoved, DeclaredNumbers } from "./parts.ts";
export type DeclaredPublic = v.InferOutput<typeof publicSchema>;
export type { DeclaredPack } from "./parts.ts";
export type { DeclaredSource, DeclaredWithoutId } from "./without-id.ts";
