import { err, ok, type Result } from "../ids/result.ts";
import { keysFor, type MintKeys } from "./mint-keys.ts";
import { type MintPlanError, type MintRequest, malformed, unknownName } from "./mint-request.ts";

import { mintingOf } from "./minting.ts";
import type { CompiledTable, EnabledLayout, Entity, EntityId } from "./table.ts";

export type { MintPlanError, MintRequest } from "./mint-request.ts";

/** What an ID is minted for: a layout with a value for each of its `requiredFields`. */
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
export function planMint(table: CompiledTable, request: MintRequest): Result<MintPlan, MintPlanError> {
  const found = findEntityId(table, request);
  if (!found.ok) return found;
  const { entity, entityId } = found.value;
  const { layout } = entityId.enabled;
  if (mintingOf(layout) === "none") {
    return err(malformed(`IDs of layout ${layout.name} are not minted here.`, "/layout"));
  }
  const keys = keysFor(table, entity, entityId, request);
  return keys.ok ? ok({ entity, enabled: entityId.enabled, order: { layout, keys: keys.value } }) : keys;
}

interface Found {
  readonly entity: Entity;
  readonly entityId: EntityId;
}

function findEntityId(table: CompiledTable, request: MintRequest): Result<Found, MintPlanError> {
  if (request.entity !== undefined && !table.entities.has(request.entity)) {
    return err(unknownName("entity", request.entity, table.entities.keys()));
  }
  if (request.layout !== undefined && !table.layouts.has(request.layout)) {
    return err(unknownName("layout", request.layout, table.layouts.keys()));
  }
  const fitting: Found[] = [];
  for (const entity of table.entities.values()) {
    if (request.entity !== undefined && entity.name !== request.entity) continue;
    for (const entityId of entity.ids) {
      if (request.layout !== undefined && entityId.enabled.layout.name !== request.layout) continue;
      if (request.service !== undefined && entityId.service !== request.service) continue;
      if (request.group !== undefined && entityId.group !== request.group) continue;
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
