import { decideEntity } from "../../../gateway/decide.ts";
import { decideFor } from "../../../gateway/loading.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import type { CompiledTable, IdDecision } from "../../../routing/table.ts";
import { mintIds } from "../../mint/serve/mint.ts";
import { planMint } from "../../mint/table/plan.ts";
import type { MintRequest } from "../../mint/table/request.ts";
import type { Create } from "../table/types.ts";

/** The second step of a create: the IDs of the new entities, in one region. */

/** A collection that a request is posted to, and the table that says so. */
export interface Creation {
  readonly create: Create;
  readonly served: ServedTable;
  readonly table: CompiledTable;
  readonly byCanary: boolean;
  /** The parent's ID in the path ends here; 0 for a collection that is below no entity. */
  readonly parentEnd: number;
}

/** An entity on its way: an ID with the decision where it belongs. */
export interface NewEntity {
  /** As its client sees it. */
  readonly text: string;
  readonly decision: IdDecision;
  readonly byCanary: boolean;
}

/** The IDs that a request asks for. `own`: brought by the client. */
export interface RequestedIds {
  readonly ids: Result<{ readonly own: NewEntity } | IdsToMint, GatewayError>;
  /** The entity above the collection. */
  readonly parent: IdDecision | undefined;
}

interface IdsToMint {
  readonly request: MintRequest;
  readonly count: number;
}

export async function chooseIds(
  context: RequestContext,
  creation: Creation,
  { ids, parent }: RequestedIds,
): Promise<Result<readonly NewEntity[], GatewayError>> {
  if (!ids.ok) return ids;
  const above = parent?.target.region.name;
  const newEntities =
    "own" in ids.value ? ok([ids.value.own]) : await mintTogether(context, creation, ids.value, above);
  if (!newEntities.ok) return newEntities;
  const regions = new Set(newEntities.value.map(regionOf));
  if (above !== undefined) regions.add(above);
  const { name } = creation.create.entity;
  return regions.size > 1 ? err({ reason: "create-regions", entity: name, regions: [...regions] }) : newEntities;
}

const regionOf = ({ decision }: Pick<NewEntity, "decision">): string => decision.target.region.name;

/** A canary of 1 % is missed once in 20,000 times, and all draws take some 30 ms. Many IDs have some more. */
const DRAWS_MAX = 1_000;

/** Mints IDs, and redraws those that a split or a canary has in another region than the others or `above`, their parent's. */
async function mintTogether(
  context: RequestContext,
  { create, served, table }: Creation,
  { request, count }: IdsToMint,
  above: string | undefined,
): Promise<Result<readonly NewEntity[], GatewayError>> {
  const { gateway, arrivedAtMs: nowMs } = context;
  const plan = planMint(table, request);
  if (!plan.ok) return plan;
  const newEntities: NewEntity[] = [];
  const draw = async (more: number): Promise<GatewayError | undefined> => {
    const minted = await mintIds({ gateway, served, plan: plan.value, table, nowMs }, more);
    if (!minted.ok) return minted.error;
    for (const text of minted.value.texts()) {
      const decided = await decideText(context, served, create, text);
      if (!decided.ok) return decided.error;
      newEntities.push(decided.value);
    }
    return undefined;
  };
  let fault = await draw(count);
  const first = newEntities.find(({ decision }) => decision.target.rule.kind !== "canary") ?? newEntities[0];
  const home = above ?? (first && regionOf(first));
  for (let at = 0, draws = DRAWS_MAX + 8 * count; fault === undefined && at < newEntities.length && draws > 0; ) {
    const one = newEntities[at] as NewEntity;
    if (regionOf(one) === home || !isByChance(one.decision.target)) at++;
    else {
      draws--;
      // Its successor stands at the end, since IDs rise.
      newEntities.splice(at, 1);
      fault = await draw(1);
    }
  }
  return fault === undefined ? ok(newEntities) : err(fault);
}

/** Whether another ID of the same key may be in another region. */
const isByChance = ({ canary, rule }: IdDecision["target"]): boolean =>
  canary !== undefined || rule.kind === "canary" || (rule.kind === "route" && rule.part !== undefined);

/** The decision for an ID on its entity's own path. */
export async function decideText(
  context: RequestContext,
  served: ServedTable,
  { entity, layout }: Create,
  text: string,
  nowMs = context.arrivedAtMs,
): Promise<Result<NewEntity, GatewayError>> {
  const outcome = await decideFor(context, served, (input) =>
    decideEntity({ ...input, nowMs }, entity.name, text, layout),
  );
  if (outcome.kind === "error") return err(outcome.error);
  if (outcome.kind !== "region") throw new Error(`the ID of ${entity.name} is on a path of another`);
  return ok({ text, decision: outcome.decision, byCanary: outcome.byCanary });
}
