import { Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import { resolvePath, withoutPublic } from "../src/routing/index.ts";
import { layoutHint } from "./layout-hint.ts";
import { overLimit } from "./limits.ts";
import { missingIn, withPages } from "./pages.ts";
import { passOn } from "./pass-on.ts";
import { passOnPublic } from "./public-entity.ts";
import { receive, refuse } from "./receive.ts";
import { passOnWithoutId } from "./without-id.ts";

/** Every path that the routing table gives to an entity, with all below it: proxied to the region that owns the ID. All else has no ID. */
export const entities = (gateway: Gateway) =>
  new Hono().all("*", async (c) => {
    const received = await receive(gateway, c);
    if (received instanceof Response) return received;
    const { served, target, arrivedAtMs } = received;
    const { path, query } = target;
    const match = served.table.paths.match(path);
    // First of all: the log line of a request that passes a limit must not show the ID either.
    if (match?.entity.public !== undefined) received.notes.hidden = { start: match.idStart, end: match.idEnd };
    const { client } = gateway.rateLimits;
    const refused = client && (await overLimit(received, client, "client"));
    if (refused !== undefined) return refused;
    if (match === undefined) return passOnWithoutId(received);
    if (match.entity.public !== undefined) return passOnPublic(received, match, path);
    const hint = layoutHint(received);
    if (!hint.ok) return refuse(received, hint.error, served);
    // An error says nothing of public entities: the ID may be an internal one of theirs.
    const decide = () => resolvePath(withoutPublic(served.table), match, path, arrivedAtMs, hint.value);
    const first = decide();
    const decision = missingIn(first) === undefined ? first : await withPages(received, first, decide);
    if (!decision.ok) return refuse(received, decision.error, served);
    return passOn(received, decision.value, path + query);
  });
