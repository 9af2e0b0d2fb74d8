import { Hono } from "hono";
import type { Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { pathWithId } from "../src/routing/entity-paths.ts";
import { type CompiledTable, ownPattern } from "../src/routing/index.ts";
import { takenByCanary, textOfCanary } from "./by-canary.ts";
import { layoutHint } from "./layout-hint.ts";
import { overLimit } from "./limits.ts";
import { withPages } from "./pages.ts";
import { passOn } from "./pass-on.ts";
import { type AnyReading, entityOfAny, passOnPublic, readAny } from "./public-entity.ts";
import { type Received, receive, refuse } from "./receive.ts";
import { noteDecision } from "./request-log.ts";

const PREFIX = "/any/";

/** `/any/:id` and all below it: whatever the ID names, proxied or redirected to its entity's own path. */
export const any = (gateway: Gateway) =>
  new Hono().all("/any/*", async (c) => {
    const received = await receive(gateway, c);
    if (received instanceof Response) return received;
    const { served, target } = received;
    const { path } = target;
    // The router takes `/any` for it too.
    if (!path.startsWith(PREFIX)) return refuse(received, { reason: "unrouted-path", path }, served);

    const { client, lookup } = gateway.rateLimits;
    const refused =
      (client && (await overLimit(received, client, "client"))) ??
      (lookup && (await overLimit(received, lookup, "lookup")));
    if (refused !== undefined) return refused;
    return route(received);
  });

/** The ID, and what stands below it. */
function partsOf(path: string): { readonly id: string; readonly below: string } {
  const idEnd = path.indexOf("/", PREFIX.length);
  if (idEnd === -1) return { id: path.slice(PREFIX.length), below: "" };
  return { id: path.slice(PREFIX.length, idEnd), below: path.slice(idEnd) };
}

async function route(received: Received): Promise<Response> {
  const { gateway, served, target, arrivedAtMs } = received;
  const { path, query } = target;
  const { id, below } = partsOf(path);
  const hint = layoutHint(received);
  if (!hint.ok) return refuse(received, hint.error, served);
  const readBy = (table: CompiledTable) => {
    const decide = () => readAny(gateway, table, id, arrivedAtMs, hint.value);
    return withPages({ gateway, served: { table } }, decide(), decide);
  };
  const reading = await readBy(served.table);
  if (!reading.ok) {
    // What cannot be known now may be an ID of this table.
    const { canary: other } = served;
    const isAsked = other !== undefined && [...other.table.entities.keys()].some(other.servesAll);
    if (reading.error.reason === "table-unavailable" || !isAsked) return refuse(received, reading.error, served);
    const byCanary = await readBy(other.table);
    if (!byCanary.ok && byCanary.error.reason === "table-unavailable") return refuse(received, byCanary.error, served);
    const canary = textOfCanary(received, entityOf(byCanary));
    return canary === undefined ? refuse(received, reading.error, served) : route(canary);
  }
  if (reading.value.kind === "public") {
    const { entity } = reading.value.opened;
    // A public entity has one layout.
    const pattern = ownPattern(entity, entity.ids[0]?.enabled.layout.name ?? "") ?? "";
    const ownPath = pathWithId(pattern, id);
    if (entity.any === "redirect") return redirect(ownPath + below + query, { "waybill-table": served.label });
    const idStart = pattern.indexOf(":id");
    return passOnPublic(received, { entity, idStart, idEnd: idStart + id.length }, ownPath + below, route);
  }
  const canary = takenByCanary(received, reading.value.decision);
  if (canary !== undefined) return route(canary);
  received.notes.isPlainId = true;
  const { entity, layout, target: decided } = reading.value.decision;
  const location = pathWithId(ownPattern(entity, layout) ?? "", id) + below + query;
  if (entity.any === "proxy") return passOn(received, reading.value.decision, location);
  noteDecision(received.notes, reading.value.decision);
  return redirect(location, {
    "waybill-region": decided.region.name,
    "waybill-layout": layout,
    "waybill-table": served.label,
  });
}

const entityOf = (reading: Result<AnyReading, GatewayError>): string | undefined =>
  reading.ok ? entityOfAny(reading.value).name : undefined;

function redirect(location: string, fields: Readonly<Record<string, string>>): Response {
  return new Response(null, { status: 307, headers: { location, "cache-control": "no-store", ...fields } });
}
