import { err, ok, type Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import {
  type CompiledTable,
  type Decision,
  type Entity,
  type LayoutHint,
  type PathMatch,
  type RoutingError,
  resolveAny,
  resolvePath,
} from "../src/routing/index.ts";
import { passOn } from "./pass-on.ts";
import { type Received, refuse } from "./receive.ts";

/** An ID of a public entity that a client sent, and the internal one that it stands for. */
export interface Opened {
  readonly entity: Entity;
  readonly internal: string;
}

/**
 * A request on a public entity's path: the public ID is opened, the internal one decides and goes to the origin. What no
 * key made, and what leads nowhere, have one answer: a stranger learns nothing of which it was.
 */
export async function passOnPublic(received: Received, match: PathMatch, path: string): Promise<Response> {
  const { gateway, served, target, arrivedAtMs } = received;
  const { entity, idStart, idEnd } = match;
  const text = path.slice(idStart, idEnd);
  received.notes.entity = entity.name;
  const opened = gateway.publicIds.open(entity, text);
  if (!opened.ok) return refuse(received, opened.error, served);
  const internal = opened.value;
  if (internal === undefined) return refuse(received, unknownPublicId(text), served);
  const internalPath = path.slice(0, idStart) + internal + path.slice(idEnd);
  const internalMatch = { entity, idStart, idEnd: idStart + internal.length };
  const decision = resolvePath(served.table, internalMatch, internalPath, arrivedAtMs);
  if (!decision.ok) {
    // That an entity is gone may be told to who has its ID, under the ID that he has.
    const isGone = decision.error.reason === "entity-gone";
    const error = isGone ? { ...decision.error, id: text } : unknownPublicId(text);
    return refuse(received, error, served);
  }
  return passOn(received, decision.value, internalPath + target.query);
}

export function unknownPublicId(text: string): RoutingError {
  return { reason: "unknown-id", id: text, candidates: [] };
}

/** What a text on `/any` is: the public ID of an entity, or an ID that itself says where it belongs. */
export type AnyReading =
  | { readonly kind: "public"; readonly opened: Opened }
  | { readonly kind: "plain"; readonly decision: Decision };

/**
 * Reads a text that comes without a path. Public and plain texts may look alike: what can be read as both, or as two public
 * ones, is not guessed. Of public entities an error says nothing, neither of their internal IDs nor of why a text is not
 * one of theirs: with one of them in the table, every text that leads nowhere has one answer.
 */
export function readAny(
  gateway: Gateway,
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint: LayoutHint | undefined,
): Result<AnyReading, GatewayError> {
  const opened = openAny(gateway, table, text, hint);
  if (!opened.ok) return opened;
  const decision = resolveAny(table, text, nowMs, hint);
  const [first, second] = opened.value;
  if (first !== undefined) {
    const isOnly = second === undefined && !decision.ok && isUnread(decision.error);
    return isOnly ? ok({ kind: "public", opened: first }) : err({ reason: "ambiguous-id", id: text, candidates: [] });
  }
  if (!decision.ok) return err(withoutPublic(table, text, decision.error));
  // The internal ID of a public entity is for origins only.
  if (isPublic(decision.value.entity)) return err(unknownPublicId(text));
  return ok({ kind: "plain", decision: decision.value });
}

const isUnread = ({ reason }: RoutingError): boolean => reason === "malformed-id" || reason === "unknown-id";

/** Every public entity that a text may be of. More than one only for kinds that carry no proof of their own. */
function openAny(
  gateway: Gateway,
  table: CompiledTable,
  text: string,
  hint: LayoutHint | undefined,
): Result<readonly Opened[], GatewayError> {
  const found: Opened[] = [];
  for (const entity of table.entities.values()) {
    if (!isPublic(entity)) continue;
    if (hint !== undefined && !entity.ids.some(({ enabled }) => enabled === hint.enabled)) continue;
    const opened = gateway.publicIds.open(entity, text);
    if (!opened.ok) return opened;
    if (opened.value !== undefined) found.push({ entity, internal: opened.value });
  }
  return ok(found);
}

function withoutPublic(table: CompiledTable, text: string, error: RoutingError): RoutingError {
  if (!hasPublic(table)) return error;
  if (isUnread(error)) return unknownPublicId(text);
  if ("entity" in error && isPublic(table.entities.get(error.entity))) return unknownPublicId(text);
  if (error.reason !== "ambiguous-id") return error;
  const candidates = error.candidates.filter(({ entity = "" }) => !isPublic(table.entities.get(entity)));
  return { ...error, candidates };
}

export const isPublic = (entity: Entity | undefined): boolean => entity?.public !== undefined;

export const hasPublic = (table: CompiledTable): boolean => [...table.entities.values()].some(isPublic);
