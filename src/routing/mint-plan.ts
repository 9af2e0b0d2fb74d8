import { err, ok, type Result } from "../ids/result.ts";
import type { CompiledTable, EnabledLayout, Entity, EntityId, Slice } from "./table.ts";

/** What a client says about the IDs that it wants. Numbers are not yet checked against their fields. */
export interface MintWish {
  readonly entity?: string | undefined;
  readonly layout?: string | undefined;
  /** ISO 3166-1 alpha-2 code, as the table declares it. */
  readonly country?: string | undefined;
  readonly service?: number | undefined;
  readonly group?: number | undefined;
  readonly shardKey?: number | undefined;
  /** Parts of the shard key by name; together they must give every bit of it. */
  readonly slices?: Readonly<Record<string, number>> | undefined;
}

/** What an ID is minted for: a layout with its keys, which the minting step checks against their bits. */
export type MintOrder =
  | { readonly layout: "iuid"; readonly country: number; readonly service: number }
  | { readonly layout: "hotguid" | "hotguid-sql"; readonly shardKey: number }
  | { readonly layout: "luuid"; readonly group: number };

export interface MintPlan {
  readonly entity: Entity;
  readonly enabled: EnabledLayout;
  readonly order: MintOrder;
}

export type MintPlanError =
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  | { readonly reason: "unknown-name"; readonly what: string; readonly name: string; readonly known: readonly string[] }
  | { readonly reason: "key-out-of-range"; readonly field: string; readonly value: string; readonly max: string };

/** Finds the one entity, layout and set of keys that a wish means. What is missing is asked for, never filled in. */
export function planMint(table: CompiledTable, wish: MintWish): Result<MintPlan, MintPlanError> {
  const found = findEntityId(table, wish);
  if (!found.ok) return found;
  const { entity, entityId } = found.value;
  const order = orderFor(table, entity, entityId, wish);
  return order.ok ? ok({ entity, enabled: entityId.enabled, order: order.value }) : order;
}

interface Found {
  readonly entity: Entity;
  readonly entityId: EntityId;
}

function findEntityId(table: CompiledTable, wish: MintWish): Result<Found, MintPlanError> {
  if (wish.entity !== undefined && !table.entities.has(wish.entity)) {
    return err(unknownName("entity", wish.entity, table.entities.keys()));
  }
  if (wish.layout !== undefined && !table.layouts.has(wish.layout)) {
    return err(unknownName("layout", wish.layout, table.layouts.keys()));
  }
  const fitting: Found[] = [];
  for (const entity of table.entities.values()) {
    if (wish.entity !== undefined && entity.name !== wish.entity) continue;
    for (const entityId of entity.ids) {
      if (wish.layout !== undefined && entityId.enabled.layout.name !== wish.layout) continue;
      if (wish.service !== undefined && entityId.service !== wish.service) continue;
      if (wish.group !== undefined && entityId.group !== wish.group) continue;
      fitting.push({ entity, entityId });
    }
  }
  const [only, second] = fitting;
  if (only === undefined) {
    return err(malformed("No entity of the routing table has IDs with this layout, service or group.", "/layout"));
  }
  if (second === undefined) return ok(only);
  const choices = fitting.map(({ entity, entityId }) => `${entity.name} (${entityId.enabled.layout.name})`).join(", ");
  return err(malformed(`Say which is meant, by "entity" and "layout": ${choices}.`, "/entity"));
}

function orderFor(
  table: CompiledTable,
  entity: Entity,
  { enabled, service, group }: EntityId,
  wish: MintWish,
): Result<MintOrder, MintPlanError> {
  const layout = enabled.layout.name;
  const stray = strayKey(layout, wish);
  if (stray !== undefined) return err(malformed(`${stray} has no place in an ID of layout ${layout}.`, `/${stray}`));
  switch (layout) {
    case "iuid": {
      if (service === undefined) return err(malformed(`Entity ${entity.name} has no service number.`, "/entity"));
      if (wish.country === undefined) return err(malformed(`An ID of ${entity.name} needs a "country".`, "/country"));
      const country = table.countries.get(wish.country);
      if (country === undefined) return err(unknownName("country", wish.country, table.countries.keys()));
      return ok({ layout, country, service });
    }
    case "hotguid":
    case "hotguid-sql": {
      const shardKey = shardKeyFor(enabled, wish);
      return shardKey.ok ? ok({ layout, shardKey: shardKey.value }) : shardKey;
    }
    case "luuid":
      if (group === undefined) return err(malformed(`Entity ${entity.name} has no group.`, "/entity"));
      return ok({ layout, group });
    default:
      return err(malformed(`IDs of layout ${layout} are not minted here.`, "/layout"));
  }
}

const KEYS_BY_LAYOUT: ReadonlyMap<string, readonly (keyof MintWish)[]> = new Map([
  ["iuid", ["country", "service"]],
  ["hotguid", ["shardKey", "slices"]],
  ["hotguid-sql", ["shardKey", "slices"]],
  ["luuid", ["group"]],
]);

/** A key that was given although the layout has no field for it: the client means something else than it gets. */
function strayKey(layout: string, wish: MintWish): string | undefined {
  const allowed = KEYS_BY_LAYOUT.get(layout) ?? [];
  const keys = ["country", "service", "group", "shardKey", "slices"] as const;
  return keys.find((key) => wish[key] !== undefined && !allowed.includes(key));
}

/** The whole shard key: given as a number, or put together from slices that leave no bit open. */
function shardKeyFor(enabled: EnabledLayout, wish: MintWish): Result<number, MintPlanError> {
  const bits = enabled.layout.field("shardKey")?.bits ?? 0;
  if (wish.slices === undefined) {
    if (wish.shardKey === undefined) return err(malformed('A HotGuid needs a "shardKey" or "slices".', "/shardKey"));
    return ok(wish.shardKey);
  }
  if (wish.shardKey !== undefined) return err(malformed('Give "shardKey" or "slices", not both.', "/slices"));
  const parts: { readonly slice: Slice; readonly value: number }[] = [];
  for (const [name, value] of Object.entries(wish.slices)) {
    const slice = enabled.slices.get(name);
    if (slice === undefined) return err(unknownName("slice", name, enabled.slices.keys()));
    const max = 2 ** slice.bits - 1;
    if (!Number.isInteger(value) || value < 0 || value > max) {
      return err({ reason: "key-out-of-range", field: name, value: String(value), max: String(max) });
    }
    parts.push({ slice, value });
  }
  parts.sort((a, b) => a.slice.offset - b.slice.offset);
  let shardKey = 0;
  let given = 0;
  for (const { slice, value } of parts) {
    if (slice.offset !== given) break;
    shardKey = shardKey * 2 ** slice.bits + value;
    given += slice.bits;
  }
  if (given !== bits) {
    return err(malformed("The slices must give every bit of the shard key once, without gap or overlap.", "/slices"));
  }
  return ok(shardKey);
}

function malformed(detail: string, pointer: string): MintPlanError {
  return { reason: "malformed-request", detail, pointer };
}

/** Most names that an answer lists. */
const KNOWN_NAMES_MAX = 50;

function unknownName(what: string, name: string, known: Iterable<string>): MintPlanError {
  return { reason: "unknown-name", what, name, known: [...known].slice(0, KNOWN_NAMES_MAX) };
}
