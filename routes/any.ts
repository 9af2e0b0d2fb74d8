import { Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import { type Entity, resolveAny } from "../src/routing/index.ts";
import { layoutHint } from "./layout-hint.ts";
import { passOn } from "./pass-on.ts";
import { openAny, passOnPublic, unknownPublicId } from "./public-entity.ts";
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
    const hide = () => {
      received.notes.hidden = { start: PREFIX.length, end: PREFIX.length + id.length };
    };
    const opened = openAny(received, id);
    if (!opened.ok) return refuse(received, opened.error, served);
    const hint = layoutHint(received);
    if (!hint.ok) return refuse(received, hint.error, served);
    const decision = resolveAny(served.table, id, arrivedAtMs, hint.value);
    const [first, second] = opened.value;
    if (first !== undefined) {
      hide();
      // Public and internal texts may look alike: what can be read as both, or as two public ones, is not guessed.
      if (second !== undefined || decision.ok) {
        return refuse(received, { reason: "ambiguous-id", id, candidates: [] }, served);
      }
      const ownPath = entityPath(first.entity, id);
      if (first.entity.any === "redirect") return redirect(ownPath + below + query, { "waybill-table": served.label });
      const idStart = first.entity.paths[0]?.indexOf(":id") ?? 0;
      return passOnPublic(received, { entity: first.entity, idStart, idEnd: idStart + id.length }, ownPath + below);
    }
    if (!decision.ok) {
      const { error } = decision;
      if ([...served.table.entities.values()].some(isPublic)) hide();
      const isHidden = error.reason === "unassigned-key" && isPublic(served.table.entities.get(error.entity));
      return refuse(received, isHidden ? unknownPublicId(id) : error, served);
    }

    const { entity, layout, target: decided } = decision.value;
    // The internal ID of a public entity is for origins only.
    if (isPublic(entity)) {
      hide();
      return refuse(received, unknownPublicId(id), served);
    }
    const location = entityPath(entity, id) + below + query;
    if (entity.any === "proxy") return passOn(received, decision.value, location);
    noteDecision(received.notes, decision.value);
    return redirect(location, {
      "waybill-region": decided.region.name,
      "waybill-layout": layout,
      "waybill-table": served.label,
    });
  });

const isPublic = (entity: Entity | undefined): boolean => entity?.public !== undefined;

function redirect(location: string, fields: Readonly<Record<string, string>>): Response {
  return new Response(null, { status: 307, headers: { location, "cache-control": "no-store", ...fields } });
}

/** The entity's own path for an ID: its first pattern, which has no wildcard in a checked table. */
function entityPath(entity: Entity, id: string): string {
  const [pattern = ""] = entity.paths;
  const at = pattern.indexOf(":id");
  return pattern.slice(0, at) + id + pattern.slice(at + ":id".length);
}
