import { Hono } from "hono";
import { overLimit } from "../src/gateway/rate-limit.ts";
import { openRequest, respondWithProblem, type TableRequestContext } from "../src/gateway/request.ts";
import { layoutHint, requestForCanary, requestForCanaryEntity, withPages } from "../src/gateway/resolve.ts";
import { err, ok, type Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { type CompiledTable, explain, missingPages, resolveAny, withoutPublic } from "../src/routing/index.ts";
import { requireScope } from "./lib/auth.ts";
import { jsonResponse, methodNotAllowed } from "./lib/http.ts";

const PREFIX = "/-/ids/";

/** `GET /-/ids/:id`: every way to read the text, where it would go and why; of public entities nothing. No origin is asked. */
export const ids = (gateway: Gateway) =>
  new Hono()
    .use("/-/ids/*", requireScope(gateway, "viewer"))
    .get("/-/ids/*", async (c) => {
      const context = await openRequest(gateway, c);
      if (context instanceof Response) return context;
      const { served, target } = context;
      const { path } = target;
      const { lookup } = gateway.rateLimits;
      const refused = lookup && (await overLimit(context, lookup, "lookup"));
      if (refused !== undefined) return refused;
      const id = path.slice(PREFIX.length);
      if (!path.startsWith(PREFIX) || id.includes("/"))
        return respondWithProblem(context, { reason: "not-found", path }, served);
      return answer(context, id);
    })
    .all("/-/ids/*", methodNotAllowed("GET", "HEAD"));

/** By the canary where a request for the ID would go by it. */
async function answer(context: TableRequestContext, id: string): Promise<Response> {
  const { gateway, served, arrivedAtMs } = context;
  const hint = layoutHint(context);
  if (!hint.ok) return respondWithProblem(context, hint.error, served);
  const withAllPages = <Value>(whole: CompiledTable, value: (table: CompiledTable) => Result<Value, GatewayError>) => {
    const table = withoutPublic(whole);
    const decide = (): Result<Value, GatewayError> => {
      const [missing] = missingPages(whole, id, arrivedAtMs, hint.value);
      return missing === undefined
        ? value(table)
        : err({ reason: "table-unavailable", why: `pack ${missing.pack} is not loaded`, missing });
    };
    return withPages({ gateway, served: { table: whole } }, decide(), decide);
  };
  const resolve = (table: CompiledTable) => resolveAny(table, id, arrivedAtMs, hint.value);
  const explained = await withAllPages(served.table, (table) => ok(explain(table, id, arrivedAtMs, hint.value)));
  if (!explained.ok) return respondWithProblem(context, explained.error, served);
  if (served.canary !== undefined) {
    const decision = resolve(withoutPublic(served.table));
    const byCanary = decision.ok ? decision : await withAllPages(served.canary.table, resolve);
    if (!byCanary.ok && byCanary.error.reason === "table-unavailable")
      return respondWithProblem(context, byCanary.error, served);
    const canary = decision.ok
      ? requestForCanary(context, decision.value)
      : requestForCanaryEntity(context, byCanary.ok ? byCanary.value.entity.name : undefined);
    if (canary !== undefined) return answer(canary, id);
  }
  return jsonResponse(explained.value, { "waybill-table": served.label });
}
