import type { ServedCanary } from "../src/ports.ts";
import type { Decision } from "../src/routing/index.ts";
import type { Received } from "./receive.ts";

/**
 * A canary of the table decides about those IDs that the table beside it has decided about and that belong to its audience:
 * what that table cannot resolve stays unresolved. An entity that it serves as a whole is its own from the beginning.
 */

/** The request as the canary has it, where the decision's entity belongs to the audience. */
export function takenByCanary(received: Received, decision: Decision): Received | undefined {
  const { canary } = received.served;
  return canary?.chooses(decision) ? underCanary(received, canary) : undefined;
}

/** The request as the canary has it, where the path is of an entity that it serves as a whole. */
export function pathOfCanary(received: Received, path: string): Received | undefined {
  const { canary, table } = received.served;
  if (canary === undefined) return undefined;
  const entity = (table.paths.match(path) ?? canary.table.paths.match(path))?.entity;
  return entity !== undefined && canary.servesAll(entity.name) ? underCanary(received, canary) : undefined;
}

/** The request as the canary has it, for a text that the table beside it does not know: `entity` is what the canary makes of it. */
export function textOfCanary(received: Received, entity: string | undefined): Received | undefined {
  const { canary } = received.served;
  return entity !== undefined && canary?.servesAll(entity) ? underCanary(received, canary) : undefined;
}

/** No canary is beside a canary, so that a request comes here once. */
function underCanary(received: Received, { table, label }: ServedCanary): Received {
  received.notes.table = table;
  return { ...received, served: { ...received.served, table, label, canary: undefined } };
}
