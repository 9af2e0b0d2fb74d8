import { err, ok, type Result } from "../ids/result.ts";
import type { Gateway } from "../ports.ts";
import type { GatewayError } from "../problems/index.ts";
import {
  type CompiledTable,
  type Decision,
  type Entity,
  hasPublic,
  type LayoutHint,
  type PathMatch,
  type RoutingError,
  resolveAny,
  resolvePath,
  withoutPublic,
} from "../routing/index.ts";
import { forward } from "./forward.ts";
import { respondWithProblem, type TableRequestContext } from "./request.ts";
import { requestForCanary, withPages } from "./resolve.ts";

/** An ID of a public entity that a client sent, and the internal one that it stands for. */
export interface Opened {
  readonly entity: Entity;
  readonly internal: string;
}

/**
 * A request on a public entity's path: the public ID is opened, the internal one decides and goes to the origin. What no
 * key made, and what leads nowhere, have one answer: a stranger learns nothing of which it was.
 */
export async function forwardPublic(
  context: TableRequestContext,
  match: PathMatch,
  path: string,
  again: (canary: TableRequestContext) => Promise<Response>,
): Promise<Response> {
  const { gateway, served, target, arrivedAtMs } = context;
  context.logFields.entity = match.entity.name;
  const resolved = await resolvePublic({ gateway, served }, match, path, arrivedAtMs);
  if (!resolved.ok) return respondWithProblem(context, resolved.error, served);
  const { decision, internalPath } = resolved.value;
  const canary = requestForCanary(context, decision);
  return canary === undefined ? forward(context, decision, internalPath + target.query) : again(canary);
}

/** Opens the public ID in a path, and decides by the internal one. */
export async function resolvePublic(
  { gateway, served }: Pick<TableRequestContext, "gateway" | "served">,
  { entity, idStart, idEnd }: PathMatch,
  path: string,
  nowMs: number,
): Promise<Result<{ readonly decision: Decision; readonly internalPath: string }, GatewayError>> {
  const text = path.slice(idStart, idEnd);
  const opened = gateway.publicIds.open(entity, text);
  if (!opened.ok) return opened;
  const internal = opened.value;
  if (internal === undefined) return err(unknownPublicId(text));
  const internalPath = path.slice(0, idStart) + internal + path.slice(idEnd);
  const internalMatch = { entity, idStart, idEnd: idStart + internal.length };
  const decide = () => resolvePath(served.table, internalMatch, internalPath, nowMs);
  const decision = await withPages({ gateway, served }, decide(), decide);
  if (decision.ok) return ok({ decision: decision.value, internalPath });
  // That an entity is gone may be told to who has its ID, under the ID that he has.
  if (decision.error.reason === "table-unavailable") return decision;
  return err(decision.error.reason === "entity-gone" ? { ...decision.error, id: text } : unknownPublicId(text));
}

export function unknownPublicId(text: string): RoutingError {
  return { reason: "unknown-id", id: text, candidates: [] };
}

/** What a text on `/any` is: the public ID of an entity, or an ID that itself says where it belongs. */
export type AnyReading =
  | { readonly kind: "public"; readonly opened: Opened }
  | { readonly kind: "plain"; readonly decision: Decision };

export const entityOfAny = (reading: AnyReading): Entity =>
  (reading.kind === "public" ? reading.opened : reading.decision).entity;

/**
 * Reads a text that comes without a path, which may look like several things. Nothing is guessed: a public ID is one only
 * where the text is no plain ID that some entity may own, and of two public readings one counts only if its text proves it
 * and the other's does not. Internal IDs of public entities are nobody's here. With a public entity in the table, every text
 * that leads nowhere has one answer, and no error names the entity.
 */
export function readAny(
  gateway: Gateway,
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint: LayoutHint | undefined,
): Result<AnyReading, GatewayError> {
  const opened = openAny(gateway, table, text, nowMs, hint);
  if (!opened.ok) return opened;
  const plain = resolveAny(withoutPublic(table), text, nowMs, hint);
  // What is not known yet may be the reading that counts.
  if (!plain.ok && plain.error.reason === "table-unavailable") return plain;
  const [first, second] = opened.value;
  if (first === undefined) {
    if (plain.ok) return ok({ kind: "plain", decision: plain.value });
    return err(hasPublic(table) && isUnread(plain.error) ? unknownPublicId(text) : plain.error);
  }
  const isOnly = second === undefined && !plain.ok && isUnread(plain.error);
  return isOnly ? ok({ kind: "public", opened: first }) : err({ reason: "ambiguous-id", id: text, candidates: [] });
}

/** Nobody owns such an ID. */
const isUnread = ({ reason }: RoutingError): boolean => reason === "malformed-id" || reason === "unknown-id";

/** The public entities that a text may be of: those for which it is a proof, else those to whose IDs it opens. */
function openAny(
  gateway: Gateway,
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint: LayoutHint | undefined,
): Result<readonly Opened[], GatewayError> {
  const proven: Opened[] = [];
  const unproven: Opened[] = [];
  for (const entity of table.entities.values()) {
    if (entity.public === undefined) continue;
    if (hint !== undefined && !entity.ids.some(({ enabled }) => enabled === hint.enabled)) continue;
    const opened = gateway.publicIds.open(entity, text);
    if (!opened.ok) return opened;
    const internal = opened.value;
    if (internal === undefined) continue;
    if (!UNPROVEN.includes(entity.public.as)) proven.push({ entity, internal });
    else {
      const leads = routesSomewhere(table, entity, internal, nowMs);
      if (!leads.ok) return leads;
      if (leads.value) unproven.push({ entity, internal });
    }
  }
  return ok(proven.length > 0 ? proven : unproven);
}

/** Kinds that have no redundancy: every text of their form opens to something. */
const UNPROVEN: readonly string[] = ["guid", "uint128"];

/** Whether an internal ID is of its time, and goes anywhere. */
function routesSomewhere(
  table: CompiledTable,
  entity: Entity,
  internal: string,
  nowMs: number,
): Result<boolean, GatewayError> {
  const decision = resolvePath(table, { entity, idStart: 0, idEnd: internal.length }, internal, nowMs);
  // Where it goes stands in a page that is still to come.
  if (!decision.ok && decision.error.reason === "table-unavailable") return decision;
  return ok(decision.ok || decision.error.reason === "entity-gone");
}
