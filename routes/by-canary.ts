import type { ServedCanary, ServedTable } from "../src/ports.ts";
import type { Decision } from "../src/routing/index.ts";
import type { TableRequestContext } from "./receive.ts";

/**
 * A canary of the table decides about those IDs that the table beside it has decided about and that belong to its audience:
 * what that table cannot resolve stays unresolved. An entity that it serves as a whole is its own from the beginning.
 */

/** The canary, where the decision's entity belongs to its audience. */
export function canaryForDecision(served: ServedTable, decision: Decision): ServedTable | undefined {
  const { canary } = served;
  return canary?.matches(decision) ? original(served, canary) : undefined;
}

/** The canary, where the path is of an entity that it serves as a whole. */
export function canaryForPath(served: ServedTable, path: string): ServedTable | undefined {
  const { canary, table } = served;
  if (canary === undefined) return undefined;
  const match = table.paths.match(path) ?? canary.table.paths.match(path);
  return canaryForEntity(served, match?.entity.name);
}

/** The canary, where it serves the entity as a whole. */
export function canaryForEntity(served: ServedTable, entity: string | undefined): ServedTable | undefined {
  const { canary } = served;
  return entity !== undefined && canary?.ownsEntity(entity) ? original(served, canary) : undefined;
}

/** The request as the canary has it, where the decision's entity belongs to the audience. */
export const requestForCanary = (context: TableRequestContext, decision: Decision): TableRequestContext | undefined =>
  withCanary(context, canaryForDecision(context.served, decision));

/** The request as the canary has it, where the path is of an entity that it serves as a whole. */
export const requestForCanaryPath = (context: TableRequestContext, path: string): TableRequestContext | undefined =>
  withCanary(context, canaryForPath(context.served, path));

/** The request as the canary has it, for a text that the table beside it does not know: `entity` is what the canary makes of it. */
export const requestForCanaryEntity = (
  context: TableRequestContext,
  entity: string | undefined,
): TableRequestContext | undefined => withCanary(context, canaryForEntity(context.served, entity));

/** No canary is beside a canary, so that a request comes here once. */
const original = (served: ServedTable, { table, digest, label }: ServedCanary): ServedTable => ({
  ...served,
  table,
  digest,
  label,
  canary: undefined,
});

function withCanary(context: TableRequestContext, served: ServedTable | undefined): TableRequestContext | undefined {
  if (served === undefined) return undefined;
  context.logFields.table = served.table;
  return { ...context, served };
}
