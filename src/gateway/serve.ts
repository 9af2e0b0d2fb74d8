import { forwardNearest } from "../features/copies/serve.ts";
import { refuseStalePut } from "../features/create/serve/client-id.ts";
import { findCreation, mayReadCollection } from "../features/create/serve/collection.ts";
import { createEntity, type Prepared } from "../features/create/serve/create.ts";
import { compareVerified, learningGateway, markState, registerKeys } from "../features/directory/serve/forward.ts";
import type { FoundKeys } from "../features/directory/table/compile.ts";
import { serveGraphql } from "../features/graphql/serve/serve.ts";
import { answerList, findList } from "../features/lists/serve/list.ts";
import { noRegion } from "../features/places/serve/locate.ts";
import { serveByPlaces } from "../features/places/serve/serve.ts";
import { mirrorToShadow } from "../features/shadow/serve.ts";
import { mixWords, type Words } from "../ids/index.ts";
import type { ServedTable } from "../ports/gateway.ts";
import type { GatewayError } from "../problems/index.ts";
import { clientNetwork } from "../proxy/addresses/client-network.ts";
import { BROKEN_BODY } from "../proxy/attempt.ts";
import { type BodyError, NO_BODY, READ_BODY_BYTES_MAX, type RequestBody, readRequestBody } from "../proxy/body.ts";
import { deliver } from "../proxy/deliver.ts";
import type { ProxyRequest } from "../proxy/origin-request.ts";
import { withoutPrefix } from "../proxy/path-prefix.ts";
import { type CompiledTable, type Decision, stickyCookie, type WithoutId } from "../routing/index.ts";
import { takesMethod } from "../routing/lookup/choice.ts";
import { ANY_PREFIX } from "../routing/lookup/paths.ts";
import { decideAny, decidePath, isStartPage, type Outcome, type PageNeed, refusalAt } from "./decide.ts";
import { type LoadFailure, withPages } from "./pages.ts";
import { limitRate } from "./rate-limit.ts";
import { openRequest, type RequestContext } from "./request.ts";
import { respond } from "./respond.ts";

/** Serves a request that is not for the gateway's own pages: decides where it belongs, then forwards or redirects it. */
export function serve(context: RequestContext): Response | Promise<Response> {
  const opened = openRequest(context);
  const { client, lookup } = context.gateway.rateLimits;
  if (opened instanceof Promise || client !== undefined || lookup !== undefined) return serveLater(context, opened);
  return opened instanceof Response ? opened : serveBy(context, opened);
}

/** The first requests wait for a table, and some for the count of a limit. */
async function serveLater(context: RequestContext, opened: ReturnType<typeof openRequest>): Promise<Response> {
  const { client, lookup } = context.gateway.rateLimits;
  if (opened instanceof Promise) context.watchClientIfSlow();
  const served = await opened;
  if (served instanceof Response) return served;
  const isLookup = context.path.startsWith(ANY_PREFIX);
  const limited =
    (client && (await limitRate(context, client, "client"))) ??
    (isLookup && lookup ? await limitRate(context, lookup, "lookup") : undefined);
  return limited ?? serveBy(context, served);
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
  if (creation !== undefined) return createEntity(context, served, creation, forward);
  const { graphql } = served.table;
  if (graphql !== undefined && !isLookup && graphql.spelling.test(path)) {
    return serveGraphql(context, served, graphql, { forward, clientWords });
  }
  const { lists = served.canary?.table.lists } = served.table;
  const mayList = lists !== undefined && (lists.has(path) || served.canary !== undefined) && decided === undefined;
  if (mayList && !isLookup && (context.method === "GET" || context.method === "HEAD")) {
    const list = findList(served, path);
    if (list !== undefined) return answerList(context, served, list, clientWords, forwardWithoutId);
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
    return withPages(gateway, decideWith, context.client.address).then((later) => serveBy(context, served, later));
  }
  if (context.method === "PUT" && (served.table.creates ?? served.canary?.table.creates) !== undefined) {
    const stale = refuseStalePut(context, served, outcome, (nowMs) => decide({ ...input, nowMs }, path));
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
      if (idIn !== undefined) return serveByPlaces(context, served, outcome, idIn, NEXT);
      return forward(context, decision, outcome.path + context.query);
    }
    case "redirect":
      return redirect(context, outcome.path + context.query, outcome.decision);
    case "without-id":
      if (outcome.entry.idIn !== undefined) {
        return serveByPlaces(context, served, outcome, outcome.entry.idIn, NEXT);
      }
      return forwardWithoutId(context, outcome.entry);
    case "error":
      if (isStartPage(path, context.method, outcome.error)) return startPage();
      context.entity = outcome.entity;
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

/** How a request whose IDs are beside the path goes on. */
const NEXT = { forward, forwardWithoutId, bodyError };

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

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Sends the request to the region of the decision, and the origin's response back. `target`: raw path and query there. */
export async function forward(
  context: RequestContext,
  decision: Decision,
  target: string,
  prepared?: Prepared,
): Promise<Response> {
  const { gateway, request, method } = context;
  const { entity } = decision;
  const table = context.table as CompiledTable;
  // An origin that reflects the request would show the client what the gateway added (RFC 9110 §9.3.8).
  if (method === "TRACE") return context.fail({ reason: "method-not-allowed", method, allow: METHODS }, decision);
  // A request may end at this intermediary (RFC 9110 §7.6.2).
  if (method === "OPTIONS" && request.headers.get("max-forwards") === "0") {
    return new Response(null, { status: 204, headers: { allow: METHODS.join(", ") } });
  }
  const limit = gateway.rateLimits.entity;
  const isEmpty = request.body === null;
  if (!isEmpty) context.watchClientIfSlow();
  const limited = limit && (await limitRate(context, limit, "entity", decision));
  if (limited !== undefined) return limited;
  // A response whose IDs could not be rewritten must not be asked for: the origin would act for nothing.
  const isRewritten = entity.public !== undefined || entity.publicFields !== undefined;
  if (isRewritten && !gateway.publicIds.covers(table)) {
    return context.fail({ reason: "public-ids-unavailable", why: "no-keys" }, decision);
  }
  // An origin must not get unsigned what its operator wanted signed.
  if (gateway.mustSign && gateway.sign === undefined) return context.fail({ reason: "signing-unavailable" }, decision);
  const { idleMs } = gateway.deadlines;
  const check = prepared?.check;
  const read: RequestBody | BodyError = isEmpty
    ? NO_BODY
    : (prepared?.body ??
      (await readRequestBody(request, check ? 0 : entity.replayBytesMax, idleMs, gateway.clock.nowMs)));
  if (typeof read === "string") return context.fail(bodyError(read, idleMs), decision);
  const body = check !== undefined && read.kind === "stream" ? { ...read, check } : read;
  context.isBodyRead = body.kind === "kept" || body.kind === "own" || isEmpty;
  // Before anything is sent: a client that leaves later is logged with its region.
  context.logDecision(decision);
  const { client } = context;
  const { directories } = table;
  // Keys are registered by whole answers.
  const mayRegister = directories !== undefined && (method === "POST" || method === "PUT");
  // Whether the answer may change a directory, or has to say how its region was found.
  const isKeyed =
    mayRegister || (directories !== undefined && (decision.target.rule.kind === "directory" || directories.fills));
  const proxied: ProxyRequest = {
    request: prepared?.request ?? request,
    method,
    isRead: prepared?.isRead,
    hasOthers: prepared?.hasOthers === true || prepared?.ids !== undefined,
    scheme: client.scheme ?? context.scheme,
    host: client.host ?? context.host,
    arrivedAtMs: context.arrivedAtMs,
    client,
    waitUntil: context.waitUntil,
    watchClient: () => context.watchClient(),
    trustsForwarded: gateway.trustsForwarded,
    asksReadable: entity.publicFields !== undefined,
    passesBody: !(isRewritten || mayRegister || prepared?.isKept === true),
    body,
    target: entity.removePrefix === undefined ? target : withoutPrefix(target, entity.removePrefix),
    decision,
    id: decision.canonical,
    ids: prepared?.ids,
    revision: table.revision,
    regions: table.regions,
    attempts: 0,
    traceparent: undefined,
  };
  context.watchClientLater();
  context.noteForwarded();
  if (table.verified !== undefined) context.waitUntil(compareVerified(context, table.verified, decision));
  const ports = isKeyed ? learningGateway(context, table, decision) : gateway;
  if (entity.copies !== undefined) return forwardNearest(context, proxied, ports, isKeyed ? respondKeyed : respond);
  const delivered = await deliver(proxied, ports);
  context.attempts = proxied.attempts;
  context.trace = proxied.traceparent?.slice(3, 35);
  if (!delivered.ok) return context.fail(delivered.error, decision);
  if (decision.target.shadow !== undefined) mirrorToShadow(proxied, delivered.value, gateway);
  return (isKeyed ? respondKeyed : respond)(context, table, decision, delivered.value);
}

const UNMEASURED = "A body of GET or HEAD needs a content-length: without one the runtime would not send it on.";

function bodyError(error: BodyError, idleMs: number): GatewayError {
  return error === "late" ? { reason: "request-timeout", idleMs } : BODY_ERRORS[error];
}

const BODY_ERRORS: Readonly<Record<Exclude<BodyError, "late">, GatewayError>> = {
  unmeasured: { reason: "malformed-request", detail: UNMEASURED },
  broken: { reason: "malformed-request", detail: BROKEN_BODY },
  "too-large": { reason: "body-too-large", bytesMax: READ_BODY_BYTES_MAX },
  coded: { reason: "transfer-coding-unsupported" },
};

/** For a table with directories. */
async function respondKeyed(...[context, table, decision, answer]: Parameters<typeof respond>): Promise<Response> {
  await registerKeys(context, table, decision, answer);
  return markState(decision, await respond(context, table, decision, answer));
}

/** Forwards a request on a path that no entity owns, to the region that the table's sources name. */
export async function forwardWithoutId(
  context: RequestContext,
  entry: WithoutId,
  prepared?: Prepared,
): Promise<Response> {
  const { method, path, query, scheme, table } = context;
  const { entity, methods, sources, sticky } = entry;
  context.entity = entity.name;
  if (!takesMethod(entry, context)) {
    return context.fail({ reason: "method-not-allowed", method, allow: methods ?? [] });
  }
  const choice = context.chooseRegion(entity.name, sources);
  if (!choice.ok) {
    const { error } = choice;
    return context.fail(noRegion(entry, error, path));
  }
  const { region, isAssumed } = choice.value;
  const target = table?.withoutId.targets.get(region);
  if (target === undefined) throw new Error(`region ${region} was not checked`);
  const words = clientWords(context);
  const decision: Decision = { entity, layout: "", id: "", words, identity: words, canonical: "", target };
  const response = await forward(context, decision, path + query, prepared);
  // A problem says nothing about the client's home region, and the 101 of a WebSocket cannot be changed.
  if (sticky !== undefined && isAssumed && context.outcome === "answered" && response.status !== 101) {
    // One that was passed on as it came cannot be changed.
    const own = entity.fields === "minimal" ? new Response(response.body, response) : response;
    own.headers.append("set-cookie", stickyCookie(sticky, region, (context.client.scheme ?? scheme) === "https"));
    return own;
  }
  return response;
}

/**
 * Stands for the ID where an origin of the region is chosen: the same for the same credentials, or else for the same
 * address or IPv6 network. Without either, any origin will do.
 */
function clientWords({ gateway, request, client: { address } }: RequestContext): Words {
  const key = request.headers.get("authorization") ?? (address && clientNetwork(address));
  if (key === undefined) return [gateway.entropy.word()];
  return [mixWords(Array.from({ length: key.length }, (_, at) => key.charCodeAt(at)))];
}
