import { type DecideInput, decideEntity, deciderOf, type LoadNeed, type Outcome } from "../../../gateway/decide.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { remembered } from "../../../proxy/deliver.ts";
import type { IdDecision } from "../../../routing/index.ts";
import type { FoundId } from "./read.ts";

/** The decision about all IDs of a request: one region, or a problem that says which do not agree. */

/** `place` as problems name it. */
export interface LocatedId {
  readonly place: string;
  readonly entity: string;
  readonly text: string;
  readonly outcome: Exclude<Outcome, LoadNeed>;
}

/** Where each ID belongs, up to the first that leads nowhere unless `all` are asked for. Something to load that one needs comes first. */
export function locateIds(
  input: DecideInput,
  found: readonly FoundId[],
  all = false,
): { readonly kind: "located"; readonly ids: readonly LocatedId[] } | LoadNeed {
  const ids: LocatedId[] = [];
  for (const { place, text } of found) {
    const outcome = decideEntity(input, place.entity, text);
    if (outcome.kind === "load") return outcome;
    ids.push({ place: place.label, entity: place.entity, text, outcome });
    if (outcome.kind === "error" && !all) break;
  }
  return { kind: "located", ids };
}

export interface AgreedId {
  readonly decision: IdDecision;
  readonly byCanary: boolean;
}

/** Where each is by what origins said of it alone: an origin that disowns one of several is not followed. */
export const rememberedEach = (context: RequestContext, served: ServedTable, ids: readonly LocatedId[]) =>
  Promise.all(
    ids.map(async (id): Promise<LocatedId> => {
      const { outcome } = id;
      if (outcome.kind !== "region") return id;
      const table = deciderOf(served, outcome.byCanary);
      return {
        ...id,
        outcome: { ...outcome, decision: await remembered(context.gateway.movedMemory, table, outcome.decision) },
      };
    }),
  );

/** The decisions of all IDs, which lead to one region; the first one counts. Empty without IDs. */
export function agree(ids: readonly LocatedId[]): Result<readonly AgreedId[], GatewayError> {
  const agreed: AgreedId[] = [];
  for (const { place, outcome } of ids) {
    if (outcome.kind === "error") return err(place === PATH ? outcome.error : { ...outcome.error, place });
    if (outcome.kind !== "region") throw new Error(`the ID in the ${place} has a path of another kind`);
    agreed.push(outcome);
  }
  const regions = new Set(agreed.map(({ decision }) => decision.target.region.name));
  if (regions.size <= 1) return ok(agreed);
  const shown = ids.map(({ place, text, entity }, at) => {
    const { decision } = agreed[at] as AgreedId;
    const id = decision.entity.reading?.hides !== true ? { id: text } : {};
    return { place, entity, ...id, region: decision.target.region.name };
  });
  return err({ reason: "ids-disagree", ids: shown });
}

export const PATH = "path";
