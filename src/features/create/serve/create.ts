import type { DecideFailure, Outcome } from "../../../gateway/decide.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { HORIZON_MS } from "../../../routing/limits.ts";
import { ANY_PREFIX, segmentsOf } from "../../../routing/lookup/paths.ts";
import type { Entity } from "../../../routing/table.ts";
import { type Creation, chooseIds } from "./choose-ids.ts";
import { judgeFreshness } from "./client-id.ts";
import { collect } from "./collect.ts";
import { sendOnce } from "./send-once.ts";

/**
 * Creates an entity in three steps, each by the result of the one before: collect what the request says, choose IDs and their
 * region, send once.
 */
export async function createEntity(context: RequestContext, creation: Creation): Promise<Response> {
  context.watchClient();
  context.entity = creation.create.entity.name;
  if (creation.byCanary) context.takeCanary();
  const order = await collect(context, creation);
  if (!order.ok) return context.fail(order.error);
  const chosen = await chooseIds(context, creation, order.value);
  return sendOnce(context, creation, order.value, chosen);
}

/**
 * Why a PUT that creates must not: its ID is not of now. `decideFar` reads IDs of all times: one of a clock that is days
 * ahead is unknown to all other requests.
 */
export function refuseStalePut(
  context: RequestContext,
  { table, canary }: ServedTable,
  outcome: Exclude<Outcome, { readonly kind: "load" }> | Pick<DecideFailure, "kind">,
  decideFar: (nowMs: number) => Outcome,
): GatewayError | undefined {
  const isFar = outcome.kind === "error" && "error" in outcome && outcome.error.reason === "unknown-id";
  const decided = isFar ? decideFar(HORIZON_MS) : outcome;
  if (decided.kind !== "region" || !("decision" in decided) || decided.decision === undefined) return undefined;
  const text = idOfOwnPath(context.path, decided.decision.entity);
  if (text === undefined) return undefined;
  const own = decided.byCanary && canary !== undefined ? canary.table : table;
  const create = own.creates?.byEntity.get(decided.decision.entity.name);
  if (create?.clientId === undefined) return undefined;
  const { createFlag } = create.clientId;
  const { headers } = context.request;
  // RFC 9110 §13.1.2: only where there is none yet.
  const creates = headers.get("if-none-match")?.trim() === "*" || (createFlag !== undefined && headers.has(createFlag));
  return creates ? judgeFreshness(context, create, own, { decision: decided.decision, text, isFar }) : undefined;
}

/** The ID of a path that ends with the entity. PUT on what is below it creates something else. */
function idOfOwnPath(path: string, { paths }: Pick<Entity, "paths">): string | undefined {
  const own = segmentsOf(path.endsWith("/") ? path.slice(0, -1) : path);
  if (path.startsWith(ANY_PREFIX)) return own.length === 2 ? own[1] : undefined;
  for (const pattern of paths) {
    const segments = segmentsOf(pattern);
    const isOwn = segments.length === own.length && segments.every((text, at) => [":id", "*", own[at]].includes(text));
    if (isOwn) return own[segments.indexOf(":id")];
  }
  return undefined;
}
