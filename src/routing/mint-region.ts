import type { Words } from "../ids/layout.ts";
import { err, ok, type Result } from "../ids/result.ts";
import { unloaded } from "./refusals.ts";
import type { RoutingError } from "./routing-error.ts";
import { applyRollout } from "./split.ts";
import type { EnabledLayout, Entity } from "./table.ts";

/** The region of each freshly minted ID, by the same index and canary that will route it. One that routes nowhere is an error. */
export function regionsOfMinted(
  entity: Entity,
  enabled: EnabledLayout,
  minted: readonly Words[],
): Result<readonly string[], RoutingError> {
  const regions: string[] = [];
  for (const words of minted) {
    const target = applyRollout(enabled.index.find(entity, words), enabled.layout.name, words);
    if (target === undefined) return err(unassigned(entity, enabled, words));
    if (target.region === undefined) return err(unloaded(target));
    regions.push(target.region.name);
  }
  return ok(regions);
}

/** The ID is given to nobody, so it is not shown; nor are the numbers in one of a public entity. */
function unassigned(entity: Entity, { layout }: EnabledLayout, words: Words): RoutingError {
  const error = { reason: "unassigned-key", entity: entity.name, layout: layout.name } as const;
  if (entity.public !== undefined) return error;
  const key: Record<string, string> = {};
  for (const field of layout.fields) if (field.role === "key") key[field.name] = String(field.readBig(words));
  return { ...error, key };
}
