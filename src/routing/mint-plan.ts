import { err, ok, type Result } from "../ids/result.ts";
import { keysFor, type MintKeys } from "./mint-keys.ts";
import { type MintPlanError, type MintWish, malformed, unknownName } from "./mint-request.ts";

import { mintingOf } from "./minting.ts";
import type { CompiledTable, EnabledLayout, Entity, EntityId } from "./table.ts";

export type { MintPlanError, MintWish } from "./mint-request.ts";

/** What an ID is minted for: a layout with a value for each of its `wantedFields`. */
export interface MintOrder {
  readonly layout: EnabledLayout["layout"];
  readonly keys: MintKeys;
  /** The last IDs for this order were given to nobody, since others look like them; the next ones are to differ in more than a step. */
  readonly isRedraw?: boolean;
}

export interface MintPlan {
  readonly entity: Entity;
  readonly enabled: EnabledLayout;
  readonly order: MintOrder;
}

/** Finds the one entity, layout and set of keys that a wish means. What is missing is asked for, never filled in. */
export function planMint(table: CompiledTable, wish: MintWish): Result<MintPlan, MintPlanError> {
  const found = findEntityId(table, wish);
  if (!found.ok) return found;
  const { entity, entityId } = found.value;
  const { layout } = entityId.enabled;
  if (mintingOf(layout) === "none") {
    return err(malformed(`IDs of layout ${layout.name} are not minted here.`, "/layout"));
  }
  const keys = keysFor(table, entity, entityId, wish);
  return keys.ok ? ok({ entity, enabled: entityId.enabled, order: { layout, keys: keys.value } }) : keys;
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
