import { SERVE_FEATURES } from "../features/serving.ts";
import type { ServedTable } from "../ports/gateway.ts";
import type { GatewayError } from "../problems/index.ts";
import { HOP_FIELD } from "../proxy/headers.ts";
import type { IdDecision } from "../routing/index.ts";
import { ANY_PREFIX } from "../routing/lookup/paths.ts";
import { admitDebug, DEBUG_FIELD, forbidStoring } from "./debug.ts";
import { type DecideInput, decideAny, decidePath, isStartPage, type Outcome, refusalAt } from "./decide.ts";
import { type Decided, type Gate, type Line, ServeFeatures } from "./feature.ts";
import { CORE_STEPS, forward, forwardWithoutId } from "./forward.ts";
import { decideLoading } from "./loading.ts";
import { limitRate } from "./rate-limit.ts";
import { openRequest, type RequestContext } from "./request.ts";

const SERVING = new ServeFeatures(SERVE_FEATURES, CORE_STEPS);

/** Serves a request that is not for the gateway's own pages: decides where it belongs, then forwards or redirects it. */
export function serve(context: RequestContext): Response | Promise<Response> {
  const opened = openRequest(context);
  const { client, lookup } = context.gateway.rateLimits;
  const debug = context.request.headers.get(DEBUG_FIELD);
  if (opened instanceof Promise || client !== undefined || lookup !== undefined || debug !== null) {
    return serveLater(context, opened, debug);
  }
  return opened instanceof Response ? opened : serveBy(context, opened);
}

/**
 * A hop that came to a gateway which knows no keys. It would be handled like a client's request: a second gateway would mint, merge and
 * translate once more. Hops have their name in `waybill-debug` too, the one field that every request is asked for.
 */
export const UNVERIFIED_HOP = { reason: "hop-refused", why: "no-keys" } as const;

/** The first requests wait for a table, and some for the count of a limit. */
async function serveLater(
  context: RequestContext,
  opened: ReturnType<typeof openRequest>,
  debug: string | null,
): Promise<Response> {
  const { client, lookup } = context.gateway.rateLimits;
  if (opened instanceof Promise) context.watchClientIfSlow();
  const served = await opened;
  if (served instanceof Response) return served;
  const isLookup = context.path.startsWith(ANY_PREFIX);
  const limited =
    (client && (await limitRate(context, client, "client"))) ??
    (isLookup && lookup ? await limitRate(context, lookup, "lookup") : undefined);
  if (limited !== undefined) return limited;
  if (debug === HOP_FIELD && context.request.headers.has(HOP_FIELD)) return context.fail(UNVERIFIED_HOP);
  const denied = debug === null ? undefined : await admitDebug(context, debug);
  if (denied !== undefined) return context.fail(denied);
  const response = await serveBy(context, served);
  if (context.isDebugged && context.outcome === "answered") forbidStoring(response);
  return response;
}

/** Serves a request that is open and within its limits: one look says whether a feature answers its path itself. */
export function serveBy(context: RequestContext, served: ServedTable): Response | Promise<Response> {
  const { path, method, gateway } = context;
  const line =
    SERVING.lines.get(served.canary?.ownsEntity ?? served.table)?.get(method) ?? SERVING.choose(served, method);
  context.line = line;
  let endpoint = line.endpoints.get(path);
  for (const { paths, find } of line.patterns) endpoint ??= paths?.test(path) === false ? undefined : find(path);
  if (endpoint !== undefined) return endpoint(context, served);
  const input = {
    tables: served,
    ports: gateway,
    layoutName: context.request.headers.get("id-layout") ?? undefined,
    nowMs: context.arrivedAtMs,
    asked: context,
  };
  const decide = path.startsWith(ANY_PREFIX) ? decideAny : decidePath;
  const outcome = decide(input, path);
  if (outcome.kind !== "load" && line.gates.length === 0) return answerOutcome(context, served, outcome);
  const again = (nowMs: number) => decide({ ...input, nowMs }, path);
  if (outcome.kind !== "load") return passGates(line.gates, context, served, outcome, again);
  context.watchClient();
  const decideWith = (found: DecideInput["found"]) => decide({ ...input, found }, path);
  return decideLoading(gateway, decideWith, context.client.address).then((decided) =>
    passGates(line.gates, context, served, decided, again),
  );
}

/** Features refuse before anything is sent. */
function passGates(
  gates: readonly Gate[],
  context: RequestContext,
  served: ServedTable,
  outcome: Decided,
  again: (nowMs: number) => Outcome,
): Response | Promise<Response> {
  const [gate, ...others] = gates;
  if (gate === undefined) return answerOutcome(context, served, outcome);
  const goOn = (error: GatewayError | undefined) =>
    error === undefined ? passGates(others, context, served, outcome, again) : context.fail(error);
  const refused = gate(context, served, outcome, again);
  return refused instanceof Promise ? refused.then(goOn) : goOn(refused);
}

function answerOutcome(context: RequestContext, served: ServedTable, outcome: Decided): Response | Promise<Response> {
  const { path } = context;
  const line = context.line as Line;
  if (outcome.byCanary) context.takeCanary();
  switch (outcome.kind) {
    case "region": {
      const { decision } = outcome;
      if (decision.entity.reading?.hides !== true) context.isPlainId = true;
      else context.entity = decision.entity.name;
      const handler = line.placed.get(decision.entity) ?? line.choosePlaced(decision.entity);
      if (handler !== "none") return handler(context, served, outcome);
      return forward(context, decision, outcome.path + context.query);
    }
    case "redirect":
      return redirect(context, outcome.path + context.query, outcome.decision);
    case "without-id": {
      const handler = line.placed.get(outcome.entry) ?? line.choosePlaced(outcome.entry);
      return handler === "none" ? forwardWithoutId(context, outcome.entry) : handler(context, served, outcome);
    }
    case "error":
      if (isStartPage(path, context.method, outcome.error)) return startPage();
      context.entity = outcome.entity ?? ownerOf(context, served, outcome.byCanary);
      return context.fail(refusalAt(served, path, context.method, outcome.error));
  }
}

const START_PAGE = {
  name: "Waybill",
  about: "An edge gateway: it reads from an ID which region owns the entity, and proxies the request there.",
  links: {
    "/any/{id}": "an entity by its ID alone",
    "/mint": "new IDs, by POST",
    "/-/health": "whether the gateway runs",
    "/-/ready": "whether it has a table to route by",
    "/-/problems": "what each error means",
    "/-/ids/{id}": "where an ID goes, and why; needs a credential unless OPEN_PAGES is on",
    "/-/openapi.json": "all paths; as /-/ids/{id}",
  },
};

/** The start page, for all who try the gateway without a path. It names nothing of the table. */
export const startPage = (): Response => Response.json(START_PAGE, { headers: { "cache-control": "no-store" } });

/** Whose path it is, for the log and metrics, where no ID in it could be read. */
const ownerOf = (context: RequestContext, { table, canary }: ServedTable, byCanary: boolean): string | undefined =>
  (byCanary && canary !== undefined ? canary.table : table).paths.match(context.path, context)?.entity.name;

/** To the entity's own path. The ID of a public entity hides its region and layout: there is no decision to show. */
function redirect(context: RequestContext, location: string, decision: IdDecision | undefined): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "waybill-table": context.tableLabel ?? "" });
  if (decision !== undefined) {
    context.isPlainId = true;
    context.logDecision(decision);
    headers.set("waybill-region", decision.target.region.name);
    headers.set("waybill-layout", decision.layout);
  }
  return new Response(null, { status: 307, headers });
}
