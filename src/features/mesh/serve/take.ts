import { bodyError } from "../../../gateway/forward.ts";
import { openRequest, type RequestContext } from "../../../gateway/request.ts";
import { luuid, type Words } from "../../../ids/index.ts";
import type { Client, Fetch, Gateway, ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import type { OriginResponse } from "../../../proxy/attempt.ts";
import { NO_BODY, type RequestBody, readRequestBody } from "../../../proxy/body.ts";
import { clientResponse } from "../../../proxy/client-response.ts";
import { sendToRegion } from "../../../proxy/deliver.ts";
import type { ProxyError } from "../../../proxy/errors.ts";
import { HOP_FIELD } from "../../../proxy/headers.ts";
import type { ProxyRequest } from "../../../proxy/origin-request.ts";
import { SIGNATURE_FIELD } from "../../../proxy/signature.ts";
import { LUUID_SHORT } from "../../../routing/index.ts";
import { groupsOf, shortTargetOf, targetOf } from "../../../routing/resolve/match.ts";
import type { CompiledTable, Decision, Entity, Region, Target, TargetOrNone } from "../../../routing/table.ts";
import type { Mesh } from "../port.ts";
import { GATEWAYS_MAX, isOwnField, markLoop } from "./fields.ts";
import { ANSWERED, formatError, type Hop, readHop } from "./hop.ts";

/**
 * The second gateway's side of a hop: the request goes to an origin of its region, and nothing else is done with it. The first gateway has
 * limited, decided, minted and translated it, and does with the answer what is to be done.
 */
export async function takeHop(context: RequestContext, mesh: Mesh, value: string): Promise<Response> {
  const { method, path, query, arrivedAtMs, gateway } = context;
  const hop = await readHop(value, { method, target: path + query }, mesh, arrivedAtMs);
  if (typeof hop === "string") return refuse(context, { reason: "hop-refused", why: hop }, "");
  const entry = hop.names.at(-1) ?? "";
  context.doubt = { entry };
  context.entity = hop.entity;
  context.layout = hop.id?.layout;
  context.region = hop.region;
  const answer = await deliverHop(context, mesh, hop);
  if ("reason" in answer) return refuse(context, answer, entry);
  context.outcome = "answered";
  context.originMs = gateway.clock.nowMs() - arrivedAtMs;
  gateway.counters.count("hops_taken", entry, "answered");
  return answered(answer, hop, gateway);
}

/** The problem is for people who look: the first gateway reads the field, and makes a problem of its own for its client. */
function refuse(context: RequestContext, error: GatewayError, entry: string): Response {
  const response = context.fail(error);
  response.headers.set(HOP_FIELD, formatError(error as ProxyError));
  context.gateway.counters.count("hops_taken", entry, error.reason);
  return response;
}

async function deliverHop(context: RequestContext, mesh: Mesh, hop: Hop): Promise<OriginResponse | GatewayError> {
  const { gateway, request } = context;
  if (hop.names.includes(mesh.name)) return { reason: "loop-detected" };
  if (hop.names.length >= GATEWAYS_MAX) return { reason: "loop-detected", isLong: true };
  const served = await openRequest(context);
  if (served instanceof Response) return NO_TABLE(hop.region);
  const table = tableFor(context, served, hop);
  const region = table.regions.get(hop.region);
  const misdirected = region === undefined ? notServed(table, hop) : misdirection(table, mesh, hop);
  if (misdirected !== undefined || region === undefined) return misdirected ?? notServed(table, hop);
  if (gateway.mustSign && gateway.sign === undefined) return { reason: "signing-unavailable" };
  if (request.body === null) context.isBodyRead = true;
  else context.watchClientIfSlow();
  const body = await readBody(context, hop);
  if ("reason" in body) return body;
  const proxied = proxyRequestOf(context, hop, region, body);
  context.watchClientLater();
  const ports = { ...gateway, fetch: withFields(hop, gateway.fetch) };
  const delivered = await sendToRegion(proxied, region, ports);
  context.attempts = proxied.attempts;
  context.trace = proxied.traceparent?.slice(3, 35);
  return delivered.ok ? delivered.value : delivered.error;
}

const NO_TABLE = (region: string) =>
  ({
    reason: "origin-unreachable",
    region,
    fault: "destination_unavailable",
    why: "is behind a gateway without a table",
  }) as const;

/** The canary is the first gateway's choice, who says by which table it decided. */
function tableFor(context: RequestContext, { table, canary }: ServedTable, hop: Hop): CompiledTable {
  if (canary === undefined) return table;
  const isDecider = hop.table === undefined ? canary.table.revision === hop.revision : canary.digest === hop.table;
  if (!isDecider) return table;
  context.takeCanary();
  return canary.table;
}

/** Why the request is not for this gateway, by its own table. */
function misdirection(table: CompiledTable, { selfRegions }: Mesh, hop: Hop): GatewayError | undefined {
  const own = ownTarget(table, hop);
  const move = own !== undefined && "move" in own ? own.move : undefined;
  const epoch = own !== undefined && "epoch" in own ? own.epoch : (move?.epoch ?? 0);
  const { region } = hop;
  if (epoch > hop.epoch) {
    return own?.region === undefined
      ? { reason: "hop-misdirected", region, why: "gone" }
      : { reason: "hop-misdirected", region, why: "moved", named: own.region.name, move };
  }
  return selfRegions.has(region) ? undefined : notServed(table, hop, own);
}

/** A newer table than the first gateway's says where the request belongs now. */
function notServed({ revision }: CompiledTable, hop: Hop, own?: TargetOrNone): GatewayError {
  const { region } = hop;
  const isNews = own?.region !== undefined && own.region.name !== region && revision > hop.revision;
  const news = isNews ? { named: own.region.name, move: (own as Target).move } : {};
  return { reason: "hop-misdirected", region, why: "not-served", ...news };
}

/** Where this gateway's table says that the entity is; `undefined` where it does not say it. */
function ownTarget(table: CompiledTable, { id, entity: name }: Hop): TargetOrNone {
  const entity = table.entities.get(name);
  if (id === undefined || entity === undefined) return undefined;
  const words: Words = id.words;
  if (id.layout === LUUID_SHORT) {
    const primaryKey = luuid.field("primaryKey")?.read(words) ?? 0;
    const [owner] = groupsOf(entity).filter(({ group }) => luuid.field("group")?.read(words) === group);
    return owner && shortTargetOf(table, owner, primaryKey);
  }
  const own = entity.ids.find(({ enabled }) => enabled.layout.name === id.layout);
  return own && targetOf(table, own, words);
}

async function readBody(context: RequestContext, { replayBytesMax }: Hop): Promise<RequestBody | GatewayError> {
  const { request, gateway } = context;
  if (request.body === null) return NO_BODY;
  const { idleMs } = gateway.deadlines;
  const body = await readRequestBody(request, replayBytesMax, idleMs, gateway.clock.nowMs);
  if (typeof body === "string") return bodyError(body, idleMs);
  context.isBodyRead = body.kind === "kept" || body.kind === "own";
  return body;
}

function proxyRequestOf(context: RequestContext, hop: Hop, region: Region, body: RequestBody): ProxyRequest {
  const { method, path, query, arrivedAtMs } = context;
  const client: Client = { address: hop.address, country: undefined, continent: undefined };
  return {
    request: withoutHop(context.request, body),
    method,
    isRead: hop.isRead,
    scheme: context.scheme,
    host: context.host,
    arrivedAtMs,
    client,
    waitUntil: context.waitUntil,
    watchClient: () => context.watchClient(),
    trustsForwarded: false,
    asksReadable: false,
    hidesAuthorization: false,
    passesBody: true,
    body,
    target: path + query,
    decision: decisionOf(hop, region),
    copyOf: hop.copyOf ?? undefined,
    revision: hop.revision,
    // Another region is the first gateway's to choose.
    regions: new Map(),
    attempts: 0,
    traceparent: context.span?.traceparent,
  } as ProxyRequest;
}

function withoutHop(request: Request, { kind }: RequestBody): Request {
  const headers = new Headers(request.headers);
  headers.delete(HOP_FIELD);
  return kind === "own"
    ? new Request(request, { headers })
    : new Request(request.url, { method: request.method, headers });
}

/** As much of a decision as sending a request needs; the fields for the origin are in the hop. */
function decisionOf(hop: Hop, region: Region): Decision {
  const { id, identity, epoch, firstByteMs, idleMs, totalMs, isWhole, shown, replayBytesMax } = hop;
  const entity = {
    name: hop.entity,
    deadlines: { firstByteMs, idleMs, totalMs },
    wholeAnswers: isWhole,
    fields: shown === "minimal" ? "minimal" : "standard",
    replayBytesMax,
    sentSlices: undefined,
  } as Partial<Entity> as Entity;
  const move = epoch === 0 ? undefined : ({ state: "moved", epoch, to: region.name } as const);
  const target: Target = { region, rule: { kind: "source" }, canary: undefined, shadow: undefined, move };
  if (id === undefined) return { by: "region", entity, identity, target };
  const { layout, text, words } = id;
  return { by: "id", entity, layout, id: text, words, identity, canonical: text, target };
}

/** Those that a signature vouches for, which is made here. */
const SIGNED: ReadonlySet<string> = new Set([SIGNATURE_FIELD, "waybill-region", "waybill-revision"]);

/** Origins get what they would have got of the first gateway. */
const withFields =
  ({ fields }: Hop, send: Fetch): Fetch =>
  (target, init, binding) => {
    const headers = new Headers(init?.headers ?? (typeof target === "string" ? undefined : target.headers));
    const isSigned = headers.has(SIGNATURE_FIELD);
    for (const name of [...headers.keys()]) {
      if (isOwnField(name) && !(isSigned && SIGNED.has(name))) headers.delete(name);
    }
    for (const [name, value] of Object.entries(fields)) headers.set(name, value);
    markLoop(headers);
    return send(target, { ...init, headers }, binding);
  };

const MISDIRECTED = 421;
const SWITCHING = 101;

/** The origin's answer, with the gateway's word that it is one. Of fields with the gateway's prefix only a move's region stays. */
function answered({ response, bytes, fields, region }: OriginResponse, { shown }: Hop, gateway: Gateway): Response {
  const label = {
    region: region.name,
    layout: undefined,
    table: "",
    originMs: 0,
    fields: "minimal",
    via: "",
    encodeBody: "own",
  } as const;
  const clean = clientResponse(response, bytes, fields, label);
  const { status, webSocket } = clean;
  const own =
    status === SWITCHING
      ? new Response(null, { status, headers: clean.headers, webSocket })
      : new Response(clean.body, clean);
  const moved = status === MISDIRECTED ? response.headers.get("waybill-region") : null;
  if (moved !== null) own.headers.set("waybill-region", moved);
  if (shown === "full" && status !== SWITCHING) own.headers.append("via", gateway.pseudonym.via);
  own.headers.set(HOP_FIELD, ANSWERED);
  return own;
}
