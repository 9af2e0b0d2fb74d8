import { Hono } from "hono";
import { forward } from "../src/gateway/forward.ts";
import { type AnyReading, entityOfAny, forwardPublic, readAny } from "../src/gateway/public-ids.ts";
import { overLimit } from "../src/gateway/rate-limit.ts";
import { openRequest, respondWithProblem, type TableRequestContext } from "../src/gateway/request.ts";
import { logDecision } from "../src/gateway/request-log.ts";
import { layoutHint, requestForCanary, requestForCanaryEntity, withPages } from "../src/gateway/resolve.ts";
import { decidePath } from "../src/gateway/resolve-minted.ts";
import type { Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { type CompiledTable, type Entity, primaryPattern } from "../src/routing/index.ts";
import { ANY_PREFIX, pathWithId } from "../src/routing/lookup/paths.ts";

/** `/any/:id` and all below it: whatever the ID names, proxied or redirected to its entity's own path. */
export const any = (gateway: Gateway) =>
  new Hono().all("/any/*", async (c) => {
    const context = await openRequest(gateway, c);
    if (context instanceof Response) return context;
    const { served, target } = context;
    const { path } = target;
    // The router takes `/any` for it too.
    if (!path.startsWith(ANY_PREFIX)) return respondWithProblem(context, { reason: "unrouted-path", path }, served);

    const { client, lookup } = gateway.rateLimits;
    const refused =
      (client && (await overLimit(context, client, "client"))) ??
      (lookup && (await overLimit(context, lookup, "lookup")));
    if (refused !== undefined) return refused;
    return route(context);
  });

/** The ID, and what stands below it. */
function partsOf(path: string): { readonly id: string; readonly below: string } {
  const idEnd = path.indexOf("/", ANY_PREFIX.length);
  if (idEnd === -1) return { id: path.slice(ANY_PREFIX.length), below: "" };
  return { id: path.slice(ANY_PREFIX.length, idEnd), below: path.slice(idEnd) };
}

/** `asked`: the request as it came, with the canary beside the table; `context` may be the canary's. */
async function route(context: TableRequestContext, asked = context): Promise<Response> {
  const { gateway, served, target, arrivedAtMs } = context;
  const { path, query } = target;
  const { id, below } = partsOf(path);
  const hint = layoutHint(context);
  if (!hint.ok) return respondWithProblem(context, hint.error, served);
  const readBy = (table: CompiledTable) => {
    const decide = () => readAny(gateway, table, id, arrivedAtMs, hint.value);
    return withPages({ gateway, served: { table } }, decide(), decide);
  };
  const reading = await readBy(served.table);
  if (!reading.ok) {
    // What cannot be known now may be an ID of this table.
    const { canary: other } = served;
    const isAsked = other !== undefined && [...other.table.entities.keys()].some(other.ownsEntity);
    if (reading.error.reason === "table-unavailable" || !isAsked)
      return respondWithProblem(context, reading.error, served);
    const byCanary = await readBy(other.table);
    if (!byCanary.ok && byCanary.error.reason === "table-unavailable")
      return respondWithProblem(context, byCanary.error, served);
    const canary = requestForCanaryEntity(context, entityOf(byCanary));
    return canary === undefined ? respondWithProblem(context, reading.error, served) : route(canary, asked);
  }
  if (reading.value.kind === "public") {
    const { entity } = reading.value.opened;
    // The table in force may know the entity, and no region for this ID of it.
    const whole = requestForCanaryEntity(context, entity.name);
    if (whole !== undefined) return route(whole, asked);
    // A public entity has one layout.
    const pattern = primaryPattern(entity, entity.ids[0]?.enabled.layout.name ?? "") ?? "";
    const ownPath = pathWithId(pattern, id);
    const isLed = entity.any === "redirect" && (await redirectStaysOnTable(context, asked, entity, ownPath + below));
    if (isLed) return redirect(ownPath + below + query, { "waybill-table": served.label });
    const idStart = pattern.indexOf(":id");
    const match = { entity, idStart, idEnd: idStart + id.length };
    return forwardPublic(context, match, ownPath + below, (canary) => route(canary, asked));
  }
  const canary = requestForCanary(context, reading.value.decision);
  if (canary !== undefined) return route(canary, asked);
  context.logFields.isPlainId = true;
  const { entity, layout, target: decided } = reading.value.decision;
  const ownPath = pathWithId(primaryPattern(entity, layout) ?? "", id) + below;
  const isLed = entity.any === "redirect" && (await redirectStaysOnTable(context, asked, entity, ownPath));
  if (!isLed) return forward(context, reading.value.decision, ownPath + query);
  logDecision(context.logFields, reading.value.decision);
  return redirect(ownPath + query, {
    "waybill-region": decided.region.name,
    "waybill-layout": layout,
    "waybill-table": served.label,
  });
}

/**
 * Whether a request for the path comes to the table that leads to it, and to the same entity. Beside a canary it may not: a
 * path that the canary alone has is asked of the table in force, unless the entity is all the canary's.
 */
async function redirectStaysOnTable(
  { gateway, served }: TableRequestContext,
  asked: TableRequestContext,
  entity: Entity,
  path: string,
): Promise<boolean> {
  if (asked.served.canary === undefined) return true;
  const resolved = await decidePath(gateway, asked.served, path, asked.arrivedAtMs);
  return resolved.ok && resolved.value.by.table === served.table && resolved.value.decision.entity.name === entity.name;
}

const entityOf = (reading: Result<AnyReading, GatewayError>): string | undefined =>
  reading.ok ? entityOfAny(reading.value).name : undefined;

function redirect(location: string, fields: Readonly<Record<string, string>>): Response {
  return new Response(null, { status: 307, headers: { location, "cache-control": "no-store", ...fields } });
}
