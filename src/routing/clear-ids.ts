import { primaryPattern } from "./entity-paths.ts";
import { HORIZON_MS } from "./limits.ts";
import type { MintPlan } from "./mint-plan.ts";
import { resolveAny } from "./resolve.ts";
import type { CompiledTable, Entity } from "./table.ts";

/** Whether `/any` finds an entity's ID for what it is, now and as long as times of this century are read. */
export const isUnambiguous = (table: CompiledTable, entity: Entity, text: string): boolean => {
  const found = resolveAny(table, text, HORIZON_MS);
  return found.ok ? found.value.entity === entity : found.error.reason !== "ambiguous-id";
};

/** How many minted IDs are not clear on `/any`, and how one gets at them nevertheless. Plain JSON. */
export interface Ambiguous {
  readonly count: number;
  /** The path of the entity, on which nothing else is read. */
  readonly path: string;
  /** The value of the field `id-layout`, where it helps on `/any`. */
  readonly idLayout?: string;
}

/** The texts that are not clear; `undefined` when there are none. */
export const findAmbiguous = (
  table: CompiledTable,
  { entity, enabled }: Pick<MintPlan, "entity" | "enabled">,
  unclear: readonly string[],
): Ambiguous | undefined => {
  const [first] = unclear;
  if (first === undefined) return undefined;
  const found = resolveAny(table, first, HORIZON_MS, { enabled });
  const isSettled = found.ok && found.value.entity === entity;
  const hint = isSettled ? { idLayout: enabled.layout.name } : {};
  return { count: unclear.length, path: primaryPattern(entity, enabled.layout.name) ?? "", ...hint };
};
