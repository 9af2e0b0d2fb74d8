import type { ServedTable } from "../ports.ts";
import type { Decision } from "../routing/index.ts";
import { ANY_PREFIX } from "../routing/lookup/paths.ts";
import { type DecideInput, decideAny, decidePath, type Outcome, type PageNeed } from "./decide.ts";
import { forward } from "./forward.ts";
import { forwardWithoutId } from "./forward-without-id.ts";
import { type LoadFailure, withPages } from "./pages.ts";
import { limitRate } from "./rate-limit.ts";
import { openRequest, type RequestContext } from "./request.ts";

/** Serves a request that is not for the gateway's own pages: decides where it belongs, then forwards or redirects it. */
export async function serve(context: RequestContext): Promise<Response> {
  const served = await openRequest(context);
  if (served instanceof Response) return served;
  const { path, gateway } = context;
  const { client, lookup } = gateway.rateLimits;
  const isLookup = path.startsWith(ANY_PREFIX);
  const limited =
    (client && (await limitRate(context, client, "client"))) ??
    (isLookup && lookup ? await limitRate(context, lookup, "lookup") : undefined);
  if (limited !== undefined) return limited;
  const input = decideInput(context, served);
  const decide = () => (isLookup ? decideAny(input, path) : decidePath(input, path));
  const first = decide();
  return follow(context, first.kind === "page" ? await withPages(gateway, first, decide) : first);
}

/** What a decision about the request depends on, beside its path. */
export const decideInput = ({ gateway, request, arrivedAtMs }: RequestContext, tables: ServedTable): DecideInput => ({
  tables,
  publicIds: gateway.publicIds,
  layoutName: request.headers.get("id-layout") ?? undefined,
  nowMs: arrivedAtMs,
});

function follow(
  context: RequestContext,
  outcome: Exclude<Outcome, PageNeed> | LoadFailure,
): Response | Promise<Response> {
  context.byCanary = outcome.byCanary;
  switch (outcome.kind) {
    case "region": {
      const { decision, path } = outcome;
      if (decision.entity.public === undefined) context.isPlainId = true;
      else context.entity = decision.entity.name;
      return forward(context, decision, path + context.query);
    }
    case "redirect":
      return redirect(context, outcome.path + context.query, outcome.decision);
    case "without-id":
      return forwardWithoutId(context, outcome.entry);
    case "error":
      context.entity = outcome.entity;
      return context.fail(outcome.error);
  }
}

/** To the entity's own path. The ID of a public entity hides its region and layout: there is no decision to show. */
function redirect(context: RequestContext, location: string, decision: Decision | undefined): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "waybill-table": context.tableLabel ?? "" });
  if (decision !== undefined) {
    context.isPlainId = true;
    context.logDecision(decision);
    headers.set("waybill-region", decision.target.region.name);
    headers.set("waybill-layout", decision.layout);
  }
  return new Response(null, { status: 307, headers });
}
