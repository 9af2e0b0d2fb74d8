import { findCreation, mayReadCollection } from "../features/create/serve/collection.ts";
import type { FoundKeys } from "../features/directory/table/compile.ts";
import type { ServedTable } from "../ports/gateway.ts";
import { loadable } from "../problems/loadable.ts";
import type { Decision } from "../routing/index.ts";
import { ANY_PREFIX } from "../routing/lookup/paths.ts";
import { admitDebug, DEBUG_FIELD, forbidStoring } from "./debug.ts";
import { decideAny, decidePath, isStartPage, type Outcome, type PageNeed, refusalAt } from "./decide.ts";
import { forward, forwardWithoutId } from "./forward.ts";
import { decideLoading, type LoadFailure } from "./pages.ts";
import { limitRate } from "./rate-limit.ts";
import { openRequest, type RequestContext } from "./request.ts";

const create = loadable("create", () => import("../features/create/serve/create.ts"));
const graphqlHandler = loadable("graphql", () => import("../features/graphql/serve/serve.ts"));
const listHandler = loadable("lists", () => import("../features/lists/serve/list.ts"));
const places = loadable("places", () => import("../features/places/serve/serve.ts"));

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
  const denied = debug === null ? undefined : await admitDebug(context, debug);
  if (denied !== undefined) return context.fail(denied);
  const response = await serveBy(context, served);
  if (context.isDebugged && context.outcome === "answered") forbidStoring(response);
  return response;
}

/** Serves a request that is open and within its limits. `decided`: once what the decision needs is loaded. */
export function serveBy(
  context: RequestContext,
  served: ServedTable,
  decided?: Exclude<Outcome, PageNeed> | LoadFailure,
): Response | Promise<Response> {
  const { path, gateway } = context;
  const isLookup = path.startsWith(ANY_PREFIX);
  const creation = context.method === "POST" && decided === undefined ? findCreation(served, path) : undefined;
  if (creation !== undefined) return create.run(({ createEntity }) => createEntity(context, served, creation));
  const { graphql } = served.table;
  if (graphql !== undefined && !isLookup && graphql.spelling.test(path)) {
    return graphqlHandler.run(({ serveGraphql }) => serveGraphql(context, served, graphql));
  }
  const { lists = served.canary?.table.lists } = served.table;
  const mayList = lists !== undefined && (lists.has(path) || served.canary !== undefined) && decided === undefined;
  if (mayList && !isLookup && (context.method === "GET" || context.method === "HEAD")) {
    const list = findList(served, path);
    if (list !== undefined) return listHandler.run(({ answerList }) => answerList(context, served, list));
  }
  const input = {
    tables: served,
    publicIds: gateway.publicIds,
    layoutName: context.request.headers.get("id-layout") ?? undefined,
    nowMs: context.arrivedAtMs,
    asked: context,
  };
  const decide = isLookup ? decideAny : decidePath;
  const outcome = decided ?? decide(input, path);
  if (outcome.kind === "page") {
    context.watchClient();
    const decideWith = (found?: FoundKeys) => decide({ ...input, found }, path);
    return decideLoading(gateway, decideWith, context.client.address).then((later) => serveBy(context, served, later));
  }
  if (context.method === "PUT" && (served.table.creates ?? served.canary?.table.creates) !== undefined) {
    if (create.loaded === undefined) return create.load().then(() => serveBy(context, served, decided));
    const stale = create.loaded.refuseStalePut(context, served, outcome, (nowMs) => decide({ ...input, nowMs }, path));
    if (stale !== undefined) return context.fail(stale);
  }
  if (context.method === "POST" && (outcome.kind === "region" || outcome.kind === "without-id")) {
    const sent = outcome.kind === "region" ? outcome.path : path;
    if (mayReadCollection(served, sent)) return context.fail({ reason: "unrouted-path", path });
  }
  if (outcome.byCanary) context.takeCanary();
  switch (outcome.kind) {
    case "region": {
      const { decision } = outcome;
      if (decision.entity.public === undefined) context.isPlainId = true;
      else context.entity = decision.entity.name;
      const { idIn } = decision.entity;
      if (idIn !== undefined) return places.run(({ serveByPlaces }) => serveByPlaces(context, served, outcome, idIn));
      return forward(context, decision, outcome.path + context.query);
    }
    case "redirect":
      return redirect(context, outcome.path + context.query, outcome.decision);
    case "without-id": {
      const { idIn } = outcome.entry;
      if (idIn !== undefined) return places.run(({ serveByPlaces }) => serveByPlaces(context, served, outcome, idIn));
      return forwardWithoutId(context, outcome.entry);
    }
    case "error":
      if (isStartPage(path, context.method, outcome.error)) return startPage();
      context.entity = outcome.entity;
      return context.fail(refusalAt(served, path, context.method, outcome.error));
  }
}

/** The list at a raw path; by the canary's table for an entity that is all its own. */
function findList({ table, canary }: ServedTable, path: string) {
  const byCanary = canary?.table.lists?.get(path);
  if (byCanary !== undefined && canary?.ownsEntity(byCanary.entity.name) === true) return byCanary;
  const list = table.lists?.get(path);
  return list !== undefined && canary?.ownsEntity(list.entity.name) === true ? undefined : list;
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
