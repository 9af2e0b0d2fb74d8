import { Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import type { Entity } from "../src/routing/index.ts";
import { layoutHint } from "./layout-hint.ts";
import { overLimit } from "./limits.ts";
import { withPages } from "./pages.ts";
import { passOn } from "./pass-on.ts";
import { hasPublic, passOnPublic, readAny } from "./public-entity.ts";
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
    // A log shows no text that might be a public ID.
    if (hasPublic(served.table)) received.notes.hidden = { start: PREFIX.length, end: PREFIX.length + id.length };
    const { client, lookup } = gateway.rateLimits;
    const refused =
      (client && (await overLimit(received, client, "client"))) ??
      (lookup && (await overLimit(received, lookup, "lookup")));
    if (refused !== undefined) return refused;
    const hint = layoutHint(received);
    if (!hint.ok) return refuse(received, hint.error, served);
    const decide = () => readAny(gateway, served.table, id, arrivedAtMs, hint.value);
    const reading = await withPages(received, decide(), decide);
    if (!reading.ok) return refuse(received, reading.error, served);
    if (reading.value.kind === "public") {
      const { entity } = reading.value.opened;
      const ownPath = entityPath(entity, id);
      if (entity.any === "redirect") return redirect(ownPath + below + query, { "waybill-table": served.label });
      const idStart = entity.paths[0]?.indexOf(":id") ?? 0;
      return passOnPublic(received, { entity, idStart, idEnd: idStart + id.length }, ownPath + below);
    }
    received.notes.hidden = undefined;
    const { entity, layout, target: decided } = reading.value.decision;
    const location = entityPath(entity, id) + below + query;
    if (entity.any === "proxy") return passOn(received, reading.value.decision, location);
    noteDecision(received.notes, reading.value.decision);
    return redirect(location, {
      "waybill-region": decided.region.name,
      "waybill-layout": layout,
      "waybill-table": served.label,
    });
  });

function redirect(location: string, fields: Readonly<Record<string, string>>): Response {
  return new Response(null, { status: 307, headers: { location, "cache-control": "no-store", ...fields } });
}

/** The entity's own path for an ID: its first pattern, which has no wildcard in a checked table. */
function entityPath(entity: Entity, id: string): string {
  const [pattern = ""] = entity.paths;
  const at = pattern.indexOf(":id");
  return pattern.slice(0, at) + id + pattern.slice(at + ":id".length);
}
