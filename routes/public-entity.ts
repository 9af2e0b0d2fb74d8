import { ok, type Result } from "../src/ids/result.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { type Entity, type PathMatch, type RoutingError, resolvePath } from "../src/routing/index.ts";
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
  if (!decision.ok) return refuse(received, unknownPublicId(text), served);
  return passOn(received, decision.value, internalPath + target.query);
}

export function unknownPublicId(text: string): RoutingError {
  return { reason: "unknown-id", id: text, candidates: [] };
}

/** Every public entity that a text may be of. More than one only for kinds that carry no proof of their own. */
export function openAny({ gateway, served }: Received, text: string): Result<readonly Opened[], GatewayError> {
  const found: Opened[] = [];
  for (const entity of served.table.entities.values()) {
    if (entity.public === undefined) continue;
    const opened = gateway.publicIds.open(entity, text);
    if (!opened.ok) return opened;
    if (opened.value !== undefined) found.push({ entity, internal: opened.value });
  }
  return ok(found);
}
