import type { Words } from "../../ids/layout/layout.ts";
import { err, ok } from "../../ids/result.ts";
import type { RoutingError } from "../errors.ts";
import { HORIZON_MS } from "../limits.ts";
import { primaryPattern } from "../lookup/paths.ts";
import { needsPage } from "../resolve/describe.ts";
import { applyRollout } from "../resolve/match.ts";
import { resolveAny } from "../resolve/resolve.ts";
import type { CompiledTable, EnabledLayout, Entity } from "../table.ts";
import type { MintPlan } from "./plan.ts";

/** Whether `/any` finds an entity's ID for what it is, now and as long as times of this century are read. */
export const isUnambiguous = (table: CompiledTable, entity: Entity, text: string): boolean => {
  const found = resolveAny(table.withoutPublic ?? table, text, HORIZON_MS);
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

type Minted = Pick<MintPlan, "entity" | "enabled">;

/** The texts that are not clear; `undefined` when there are none. */
export const findAmbiguous = (table: CompiledTable, { entity, enabled }: Minted, unclear: readonly string[]) => {
  const [first] = unclear;
  if (first === undefined) return undefined;
  const found = resolveAny(table.withoutPublic ?? table, first, HORIZON_MS, { enabled });
  const isSettled = found.ok && found.value.entity === entity;
  const hint = isSettled ? { idLayout: enabled.layout.name } : {};
  return { count: unclear.length, path: primaryPattern(entity, enabled.layout.name) ?? "", ...hint };
};

/** The region of each freshly minted ID, by the same index and canary that will route it. One that routes nowhere is an error. */
export function regionsOfMinted(entity: Entity, enabled: EnabledLayout, minted: readonly Words[]) {
  const regions: string[] = [];
  for (const words of minted) {
    const id = entity.ids.find((one) => one.enabled === enabled && one.takes(words));
    const target = applyRollout(id?.find(words), enabled.layout.name, words);
    if (target === undefined) return err(unassigned(entity, enabled, words));
    if (target.region === undefined) return err(needsPage(target));
    regions.push(target.region.name);
  }
  return ok(regions);
}

/** The ID is not given out, so it is not shown; nor are the numbers in a public entity's. */
function unassigned(entity: Entity, { layout }: EnabledLayout, words: Words): RoutingError {
  const error = { reason: "unassigned-key", entity: entity.name, layout: layout.name } as const;
  if (entity.public !== undefined) return error;
  const key: Record<string, string> = {};
  for (const field of layout.fields) if (field.role === "key") key[field.name] = String(field.readBig(words));
  return { ...error, key };
}
