import { decideEntity, deciderOf } from "../../../gateway/decide.ts";
import { decideFor } from "../../../gateway/loading.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { HORIZON_MS } from "../../../routing/limits.ts";
import { fieldsOf } from "../../../routing/resolve/describe.ts";
import type { CompiledTable, IdDecision } from "../../../routing/table.ts";
import { mintIds } from "../../mint/serve/mint.ts";
import { planMint } from "../../mint/table/plan.ts";
import { countOf, mintRequestOf } from "../table/request.ts";
import type { Create } from "../table/types.ts";
import type { NewEntity } from "./answer.ts";
import { judgeFreshness } from "./client-id.ts";
import type { Creation } from "./collection.ts";

/** The ID that a client brings. `name`: the same for all of its texts. */
export interface OwnId {
  readonly name: string;
  readonly entity: Result<NewEntity, GatewayError>;
}

/** Parts of the request that decide about the new IDs. `brought`: the client's own. `json`: the body, as far as the table reads it. */
export interface Asked {
  readonly brought: Result<OwnId | undefined, GatewayError>;
  readonly json: unknown;
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  readonly parent: IdDecision | undefined;
}

/** The IDs of the new entities, in one region: the client's own, or minted for the key that the request's sources give. */
export async function chooseIds(
  context: RequestContext,
  served: ServedTable,
  creation: Creation,
  asked: Asked,
): Promise<Result<readonly NewEntity[], GatewayError>> {
  const { create } = creation;
  const { brought, json, parent } = asked;
  if (!brought.ok) return brought;
  const { name } = create.entity;
  const own = brought.value;
  const count = countOf(create, json) ?? 1;
  if (own !== undefined && count > 1) return err({ reason: "create-count", entity: name, count, max: 1 });
  if (own?.entity.ok === false) return own.entity;
  const newEntities =
    own === undefined ? await mintTogether(context, served, creation, asked, count) : ok([own.entity.value]);
  if (!newEntities.ok) return newEntities;
  const regions = new Set(newEntities.value.map(regionOf));
  if (parent !== undefined) regions.add(parent.target.region.name);
  return regions.size > 1 ? err({ reason: "create-regions", entity: name, regions: [...regions] }) : newEntities;
}

const regionOf = ({ decision }: Pick<NewEntity, "decision">): string => decision.target.region.name;

/** The client's own ID in its canonical text; an error unless it is fresh. */
export async function readOwnId(
  context: RequestContext,
  served: ServedTable,
  { create, table }: Creation,
  text: string,
): Promise<OwnId> {
  // A public ID has one text.
  const nameOf = ({ decision }: NewEntity): string => (create.entity.public === undefined ? decision.canonical : text);
  const decided = await decideText(context, served, create, text);
  if (decided.ok) {
    const { decision, byCanary } = decided.value;
    const stale = judgeFreshness(context, create, deciderOf(served, byCanary), decision, text);
    const name = nameOf(decided.value);
    return { name, entity: stale === undefined ? ok({ ...decided.value, text: name }) : err(stale) };
  }
  if (decided.error.reason !== "unknown-id") return { name: text, entity: decided };
  const far = await decideText(context, served, create, text, HORIZON_MS);
  if (!far.ok) return { name: text, entity: decided };
  const stale = judgeFreshness(context, create, table, far.value.decision, text, true);
  return { name: nameOf(far.value), entity: stale === undefined ? decided : err(stale) };
}

/** A canary of 1 % is missed once in 20,000 times, and all draws take some 30 ms. Many IDs have some more. */
const DRAWS_MAX = 1_000;

/** Mints IDs, and redraws those that a split or a canary has in another region than the others or their parent. */
async function mintTogether(
  context: RequestContext,
  served: ServedTable,
  { create, table }: Creation,
  { json, claims, parent }: Asked,
  count: number,
): Promise<Result<readonly NewEntity[], GatewayError>> {
  const { gateway, request, client, arrivedAtMs: nowMs } = context;
  const wanted = mintRequestOf(table, create, {
    header: (name) => request.headers.get(name) ?? undefined,
    claims,
    json,
    country: () => client.country,
    parent: (field) => parent && parentField(table, parent, field),
  });
  if (!wanted.ok) return wanted;
  const plan = planMint(table, wanted.value);
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
  const home = parent?.target.region.name ?? (first && regionOf(first));
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

const parentField = (table: CompiledTable, { layout, words }: IdDecision, field: string): string | undefined => {
  const fields = table.layouts.get(layout)?.layout.fields.filter(({ name }) => name === field);
  return fields === undefined ? undefined : fieldsOf(fields, words)[field];
};

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
