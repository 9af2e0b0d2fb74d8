import { Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import { type Entity, resolveAny } from "../src/routing/index.ts";
import { passOn } from "./pass-on.ts";
import { receive, refuse } from "./receive.ts";
import { noteDecision } from "./request-log.ts";

const PREFIX = "/any/";

/** `/any/:id` and all below it: whatever the ID names, proxied or redirected to its entity's own path. */
export const any = (gateway: Gateway) =>
  new Hono().all("/any/*", async (c) => {
    const received = await receive(gateway, c);
    if (received instanceof Response) return received;
    const { served, target, arrivedAtMs } = received;
    const { path, query } = target;
    // The router has decoded the path to match it; only what was sent as it stands is the gateway's own.
    if (!path.startsWith(PREFIX)) return refuse(received, { reason: "unrouted-path", path }, served);

    const idEnd = path.indexOf("/", PREFIX.length);
    const id = idEnd === -1 ? path.slice(PREFIX.length) : path.slice(PREFIX.length, idEnd);
    const below = idEnd === -1 ? "" : path.slice(idEnd);
    const decision = resolveAny(served.table, id, arrivedAtMs);
    if (!decision.ok) return refuse(received, decision.error, served);

    const { entity, layout, target: decided } = decision.value;
    const location = entityPath(entity, id) + below + query;
    if (entity.any === "proxy") return passOn(received, decision.value, location);
    noteDecision(received, layout, decided.region.name);
    return new Response(null, {
      status: 307,
      headers: {
        location,
        "cache-control": "no-store",
        "waybill-region": decided.region.name,
        "waybill-layout": layout,
        "waybill-table": served.label,
      },
    });
  });

/** The entity's own path for an ID: its first pattern, which has no wildcard in a checked table. */
function entityPath(entity: Entity, id: string): string {
  const [pattern = ""] = entity.paths;
  const at = pattern.indexOf(":id");
  return pattern.slice(0, at) + id + pattern.slice(at + ":id".length);
}
