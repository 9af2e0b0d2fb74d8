import type { ServedTable } from "../../../ports/gateway.ts";
import type { CompiledTable } from "../../../routing/table.ts";
import type { Create } from "../table/types.ts";

/** A collection that a request is posted to, and the table that says so. */
export interface Creation {
  readonly create: Create;
  readonly table: CompiledTable;
  readonly byCanary: boolean;
  /** The parent's ID in the path ends here; 0 for a collection that is below no entity. */
  readonly parentEnd: number;
}

/** The collection at a raw path; by the canary's table for an entity that is all its own. */
export function findCreation(
  { table, canary }: ServedTable,
  path: string,
  how: "match" | "matchRead" = "match",
): Creation | undefined {
  const byCanary = canary?.table.creates?.[how](path);
  if (canary !== undefined && byCanary !== undefined && canary.ownsEntity(byCanary.entity.entity.name)) {
    return { create: byCanary.entity, table: canary.table, byCanary: true, parentEnd: byCanary.idEnd };
  }
  const match = table.creates?.[how](path);
  if (match === undefined || canary?.ownsEntity(match.entity.entity.name) === true) return undefined;
  return { create: match.entity, table, byCanary: false, parentEnd: match.idEnd };
}

/** Whether an origin may read a collection in the path. It would create without an ID, or take the parent's for the new one. */
export const mayReadCollection = (served: ServedTable, path: string): boolean =>
  findCreation(served, path, "matchRead") !== undefined;
