import { Hono } from "hono";
import { forward } from "../src/gateway/forward.ts";
import { forwardWithoutId } from "../src/gateway/forward-without-id.ts";
import { forwardPublic } from "../src/gateway/public-ids.ts";
import { overLimit } from "../src/gateway/rate-limit.ts";
import { openRequest, respondWithProblem, type TableRequestContext } from "../src/gateway/request.ts";
import { layoutHint, missingIn, requestForCanary, requestForCanaryPath, withPages } from "../src/gateway/resolve.ts";
import type { Gateway } from "../src/ports.ts";
import { resolvePath, withoutPublic } from "../src/routing/index.ts";

/** Every path that the routing table gives to an entity, with all below it: proxied to the region that owns the ID. All else has no ID. */
export const entities = (gateway: Gateway) =>
  new Hono().all("*", async (c) => {
    const context = await openRequest(gateway, c);
    if (context instanceof Response) return context;
    const { client } = gateway.rateLimits;
    const refused = client && (await overLimit(context, client, "client"));
    return refused ?? route(requestForCanaryPath(context, context.target.path) ?? context);
  });

async function route(context: TableRequestContext): Promise<Response> {
  const { served, target, arrivedAtMs } = context;
  const { path, query } = target;
  const match = served.table.paths.match(path);
  if (match === undefined) return forwardWithoutId(context);
  if (match.entity.public !== undefined) return forwardPublic(context, match, path, route);
  const hint = layoutHint(context);
  if (!hint.ok) return respondWithProblem(context, hint.error, served);
  // An error says nothing of public entities: the ID may be an internal one of theirs.
  const decide = () => resolvePath(withoutPublic(served.table), match, path, arrivedAtMs, hint.value);
  const first = decide();
  const decision = missingIn(first) === undefined ? first : await withPages(context, first, decide);
  if (!decision.ok) return respondWithProblem(context, decision.error, served);
  const canary = requestForCanary(context, decision.value);
  if (canary !== undefined) return route(canary);
  context.logFields.isPlainId = true;
  return forward(context, decision.value, path + query);
}
