import { Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import { resolvePath, withoutPublic } from "../src/routing/index.ts";
import { pathOfCanary, takenByCanary } from "./by-canary.ts";
import { layoutHint } from "./layout-hint.ts";
import { overLimit } from "./limits.ts";
import { missingIn, withPages } from "./pages.ts";
import { passOn } from "./pass-on.ts";
import { passOnPublic } from "./public-entity.ts";
import { type Received, receive, refuse } from "./receive.ts";
import { passOnWithoutId } from "./without-id.ts";

/** Every path that the routing table gives to an entity, with all below it: proxied to the region that owns the ID. All else has no ID. */
export const entities = (gateway: Gateway) =>
  new Hono().all("*", async (c) => {
    const received = await receive(gateway, c);
    if (received instanceof Response) return received;
    const { client } = gateway.rateLimits;
    const refused = client && (await overLimit(received, client, "client"));
    return refused ?? route(pathOfCanary(received, received.target.path) ?? received);
  });

async function route(received: Received): Promise<Response> {
  const { served, target, arrivedAtMs } = received;
  const { path, query } = target;
  const match = served.table.paths.match(path);
  if (match === undefined) return passOnWithoutId(received);
  if (match.entity.public !== undefined) return passOnPublic(received, match, path, route);
  const hint = layoutHint(received);
  if (!hint.ok) return refuse(received, hint.error, served);
  // An error says nothing of public entities: the ID may be an internal one of theirs.
  const decide = () => resolvePath(withoutPublic(served.table), match, path, arrivedAtMs, hint.value);
  const first = decide();
  const decision = missingIn(first) === undefined ? first : await withPages(received, first, decide);
  if (!decision.ok) return refuse(received, decision.error, served);
  const canary = takenByCanary(received, decision.value);
  if (canary !== undefined) return route(canary);
  received.notes.isPlainId = true;
  return passOn(received, decision.value, path + query);
}
