import { err, ok, type Result } from "../ids/result.ts";
import type { Gateway, ServedTable } from "../ports.ts";
import type { GatewayError } from "../problems/index.ts";
import { type Decision, type Entity, resolvePath, withoutPublic } from "../routing/index.ts";
import { HORIZON_MS } from "../routing/limits.ts";
import { entityOfAny, readAny, resolvePublic } from "./public-ids.ts";
import { canaryForDecision, canaryForPath, withPages } from "./resolve.ts";

/** Where a request for an ID goes, and the table that decides so. */
export interface ResolvedId {
  readonly by: ServedTable;
  readonly decision: Decision;
}

/** As `entities.ts` decides about a request on the path: by the table in force, or by the canary beside it. */
export async function decidePath(
  gateway: Gateway,
  served: ServedTable,
  path: string,
  nowMs: number,
): Promise<Result<ResolvedId, GatewayError>> {
  const by = canaryForPath(served, path) ?? served;
  const decided = await decideOnPath(gateway, by, path, nowMs);
  if (!decided.ok) return decided;
  const canary = canaryForDecision(by, decided.value);
  if (canary === undefined) return ok({ by, decision: decided.value });
  const again = await decideOnPath(gateway, canary, path, nowMs);
  return again.ok ? ok({ by: canary, decision: again.value }) : again;
}

async function decideOnPath(
  gateway: Gateway,
  served: ServedTable,
  path: string,
  nowMs: number,
): Promise<Result<Decision, GatewayError>> {
  const match = served.table.paths.match(path);
  if (match === undefined) return err({ reason: "unrouted-path", path });
  if (match.entity.public !== undefined) {
    const resolved = await resolvePublic({ gateway, served }, match, path, nowMs);
    return resolved.ok ? ok(resolved.value.decision) : resolved;
  }
  const decide = () => resolvePath(withoutPublic(served.table), match, path, nowMs);
  return withPages({ gateway, served }, decide(), decide);
}

/** Whether `/any` finds a text for what it is too, now and as long as times of this century are read. */
export function isUnambiguousOnAny(
  gateway: Gateway,
  served: ServedTable,
  entity: Entity,
  { by, decision }: ResolvedId,
  text: string,
): boolean {
  const inForce = readAny(gateway, served.table, text, HORIZON_MS, undefined);
  // The canary is asked for what it serves as a whole only if the table in force reads nothing in the text.
  if (inForce.ok && entityOfAny(inForce.value).name !== entity.name) return false;
  const isQueried =
    inForce.ok || inForce.error.reason !== "ambiguous-id" || served.canary?.ownsEntity(entity.name) === true;
  if (by.table === served.table || !isQueried) return isQueried;
  const byCanary = readAny(gateway, by.table, text, HORIZON_MS, undefined);
  return byCanary.ok
    ? entityOfAny(byCanary.value).name === decision.entity.name
    : byCanary.error.reason !== "ambiguous-id";
}
