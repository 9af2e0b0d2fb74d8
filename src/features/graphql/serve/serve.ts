import { clientHash } from "../../../gateway/caller.ts";
import { type ForwardOptions, forward } from "../../../gateway/forward.ts";
import { limitRate } from "../../../gateway/rate-limit.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { type GatewayError, problemOf } from "../../../problems/index.ts";
import { BROKEN_BODY } from "../../../proxy/attempt.ts";
import { decodeUtf8, keepRequestBody } from "../../../proxy/body.ts";
import { codedDetail } from "../../../proxy/codings.ts";
import { rejectFenced } from "../../../proxy/deliver.ts";
import { asksUpgrade } from "../../../proxy/origin-request.ts";
import { duplicateKey } from "../../../routing/index.ts";
import type { Decision } from "../../../routing/table.ts";
import { type Operation, readDocument } from "../document/document.ts";
import { mergeAnswers } from "../document/merge.ts";
import { type FieldFailure, type Part, type Place, type Plan, planParts, rootFields } from "../document/plan.ts";
import {
  documentFault,
  type GraphqlFault,
  type GraphqlRequest,
  hasParams,
  readBody,
  readQuery,
  requestFault,
} from "../document/request.ts";
import { METHODS } from "../table/compile.ts";
import type { Graphql } from "../table/types.ts";
import { answerOf, asGraphql, mediaTypeFor, refuse, withPartFields } from "./answer.ts";
import { type Located, Locations, locate } from "./locate.ts";
import { askParts, commonRefusal, type PartResult, type SplitOperation } from "./parts.ts";
import { guardSocket, SOCKET_PROTOCOL } from "./socket.ts";

export async function serveGraphql(context: RequestContext, served: ServedTable, graphql: Graphql): Promise<Response> {
  context.watchClient();
  context.entity = graphql.entity.name;
  return asGraphql(context, await new Serving(context, served, graphql).answer());
}

class Serving {
  readonly #context: RequestContext;
  readonly #served: ServedTable;
  readonly #graphql: Graphql;

  constructor(context: RequestContext, served: ServedTable, graphql: Graphql) {
    this.#context = context;
    this.#served = served;
    this.#graphql = graphql;
  }

  async answer(): Promise<Response> {
    const context = this.#context;
    const { method, path, request } = context;
    // Another spelling would pass by all that is read here.
    if (path !== this.#graphql.path) return context.fail({ reason: "unrouted-path", path });
    if (!METHODS.includes(method)) return context.fail({ reason: "method-not-allowed", method, allow: METHODS });
    if (asksUpgrade({ request })) return this.#socket();
    if (method === "OPTIONS") return this.#passHome(NOTHING_READ, this.#graphql.introspection);
    const bytes = method === "POST" ? await this.#body() : ok(undefined);
    if (!bytes.ok) return bytes.error;
    const read = this.#read(bytes.value);
    if (!read.ok) return refuse(context, read.error);
    const registered = await this.#withDocument(read.value);
    if (!registered.ok) return refuse(context, registered.error);
    return this.#run(registered.value, bytes.value);
  }

  async #body(): Promise<Result<ArrayBuffer, Response>> {
    const context = this.#context;
    const { request, gateway, query } = context;
    const fail = (error: GatewayError) => err(context.fail(error));
    const coded = codedDetail(request);
    if (coded !== undefined) return err(refuse(context, requestFault(coded), 415));
    if (!isJson(request.headers.get("content-type"))) {
      return err(refuse(context, requestFault("Send application/json in UTF-8."), 415));
    }
    if (hasParams(query)) return err(refuse(context, requestFault("Send the parameters in the body alone.")));
    const { bodyBytesMax: bytesMax } = this.#graphql.limits;
    const { idleMs } = gateway.deadlines;
    const bytes = await keepRequestBody(request, bytesMax, { idleMs, nowMs: gateway.clock.nowMs });
    if (bytes === "too-large") return fail({ reason: "body-too-large", bytesMax });
    if (bytes === "late") return fail({ reason: "request-timeout", idleMs });
    if (bytes === "coded") return fail({ reason: "transfer-coding-unsupported" });
    return typeof bytes === "string" ? fail({ reason: "malformed-request", detail: BROKEN_BODY }) : ok(bytes);
  }

  #read(bytes: ArrayBuffer | undefined): Result<GraphqlRequest, GraphqlFault> {
    const { request, query } = this.#context;
    if (bytes === undefined) {
      // Its own body would be sent on unread.
      return request.body === null
        ? readQuery(query, duplicateKey)
        : err(requestFault("A GET has its parameters in the URL, and no body."));
    }
    const text = decodeUtf8(bytes);
    return text === undefined ? err(requestFault("The body is not UTF-8.")) : readBody(text, duplicateKey);
  }

  /** The request with its document, where it names a registered one by hash. */
  async #withDocument(request: GraphqlRequest): Promise<Result<GraphqlRequest & { query: string }, GraphqlFault>> {
    const { hash, query } = request;
    if (query !== undefined) {
      if (hash === undefined || hash === (await this.#hashOf(query))) return ok({ ...request, query });
      return err(requestFault("The hash is not that of the document."));
    }
    const { documents } = this.#graphql;
    const found = documents?.get(hash ?? "");
    if (found !== undefined) return ok({ ...request, query: found });
    const [message, code] =
      documents === undefined
        ? ["PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED"]
        : ["PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND"];
    return err(documentFault(message, code));
  }

  async #hashOf(text: string): Promise<string> {
    const digest = await this.#context.gateway.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  async #plan(request: GraphqlRequest & { query: string }): Promise<Result<Planned, GraphqlFault>> {
    const { limits, rules, bySource } = this.#graphql;
    const operation = readDocument(request.query, request.operationName, request.variables, limits);
    if (!operation.ok) return operation;
    const fields = rootFields(operation.value, rules, limits.idsMax);
    if (!fields.ok) return fields;
    const locations = await locate(this.#context, this.#served, this.#graphql, fields.value);
    const plan = planParts(fields.value, {
      ofId: (id) => locations.ofId(id),
      home: () => locations.home(),
      introspection: () => locations.introspection(),
      alwaysHome: bySource,
    });
    return ok({ operation: operation.value, locations, plan });
  }

  async #run(request: GraphqlRequest & { query: string }, bytes: ArrayBuffer | undefined): Promise<Response> {
    const context = this.#context;
    const { limits } = this.#graphql;
    const planned = await this.#plan(request);
    if (!planned.ok) return refuse(context, planned.error);
    const { operation, locations, plan } = planned.value;
    const { operation: kind } = operation.definition;
    if (kind === "mutation" && context.method === "GET") {
      return context.fail({ reason: "method-not-allowed", method: "GET", allow: ["POST"] });
    }
    const isRead = kind === "query";
    const body = bytes && ({ kind: "kept", bytes } as const);
    const passed = { body, isRead };
    // Nothing but `__typename`, or nothing at all: each region answers it.
    if (plan.parts.length === 0 && plan.failed.size === 0) return this.#passHome(passed, this.#graphql.introspection);
    if (plan.whole !== undefined) {
      const { decision, table, hasOthers } = this.#deciderOf(plan, locations, plan.whole);
      const fenced = isRead ? undefined : this.#fenced(plan, locations, plan.whole);
      if (fenced !== undefined) return context.fail(fenced);
      if (table !== this.#served.table) context.takeCanary();
      return forward(context, decision, context.path + context.query, { ...passed, hasOthers });
    }
    const refused = isRead ? whySplitIsRefused(operation, plan, limits.regionsMax) : whyNotWhole(plan, kind);
    if (refused !== undefined) {
      const { code, message, status } = refused;
      return refuse(context, { code, message, isRequest: false }, status);
    }
    return this.#split({ request, operation, plan }, locations);
  }

  /** To the region of the sources. `other`: the one for what each region answers alike. */
  #passHome(passed: ForwardOptions, other?: string): Promise<Response> | Response {
    const context = this.#context;
    const locations = new Locations(new Map(), context, this.#graphql);
    const home = locations.home();
    const place: Place = "region" in home || other === undefined ? home : { region: other };
    if ("failure" in place) {
      if (context.method === "OPTIONS")
        return new Response(null, { status: 204, headers: { allow: METHODS.join(", ") } });
      const { code, message, status } = place.failure;
      return refuse(context, { code, message, isRequest: false }, status);
    }
    const { decision } = this.#atRegion(place.region);
    return forward(context, decision, context.path + context.query, passed);
  }

  /** To the region of the sources. Each operation on it must belong there. */
  async #socket(): Promise<Response> {
    const context = this.#context;
    const headers = new Headers(context.request.headers);
    const offered =
      headers
        .get("sec-websocket-protocol")
        ?.split(",")
        .map((each) => each.trim()) ?? [];
    if (!offered.includes(SOCKET_PROTOCOL)) {
      return refuse(
        context,
        requestFault(`Open the WebSocket with the protocol ${SOCKET_PROTOCOL}, which alone is read here.`),
      );
    }
    // An origin that chose another one would be understood by its client and not by the gateway (RFC 6455 §4.2.2).
    headers.set("sec-websocket-protocol", SOCKET_PROTOCOL);
    const response = await this.#passHome({ ...NOTHING_READ, request: new Request(context.request, { headers }) });
    const { webSocket } = response;
    if (response.status !== 101 || !webSocket) return response;
    if (response.headers.get("sec-websocket-protocol") !== SOCKET_PROTOCOL) {
      webSocket.accept();
      webSocket.close(1002, "Unknown protocol");
      const region = context.region ?? "";
      return context.fail({ reason: "invalid-response", region, what: "another protocol of WebSocket" });
    }
    const region = context.region ?? "";
    return guardSocket(
      response,
      webSocket,
      (payload) => this.#check(payload, region),
      this.#graphql.limits.bodyBytesMax,
    );
  }

  async #check(payload: string, region: string): Promise<{ code: string; message: string } | undefined> {
    const read = readBody(payload, duplicateKey);
    if (!read.ok) return read.error;
    const registered = await this.#withDocument(read.value);
    if (!registered.ok) return registered.error;
    const planned = await this.#plan(registered.value);
    if (!planned.ok) return planned.error;
    const { plan, operation, locations } = planned.value;
    const fenced = operation.definition.operation === "mutation" ? this.#fenced(plan, locations, region) : undefined;
    if (fenced !== undefined) return { code: fenced.reason, message: problemOf(fenced).detail };
    if (plan.whole === region || (plan.parts.length === 0 && plan.failed.size === 0)) return undefined;
    if (plan.failed.size > 0) return whyNotWhole(plan, operation.definition.operation);
    return disagree(plan.parts, `This WebSocket is to ${region}`);
  }

  #atRegion(region: string): Located {
    const { table } = this.#served;
    const target = table.withoutId.targets.get(region);
    if (target === undefined) throw new Error(`region ${region} was not checked`);
    const identity = clientHash(this.#context);
    return { decision: { by: "region", entity: this.#graphql.entity, identity, target }, table };
  }

  /** The decision by which a region is asked. One ID is named to the origin; several stand for none. */
  #deciderOf(plan: Plan, locations: Locations, region: string): Located {
    const [first, second] = locations.inRegion(plan.fields, region);
    if (first === undefined) return this.#atRegion(region);
    const { decision, table } = first;
    const { target } = decision;
    const { entity } = this.#graphql;
    if (second !== undefined) {
      // An origin that disowns one of them is not followed: the others are not where that one is.
      const own = { ...target, move: undefined, shadow: undefined };
      return {
        decision: { by: "region", entity, identity: decision.identity, target: own },
        table,
        hasOthers: true,
      };
    }
    // A fence stops writes; a query comes by POST too.
    const move = target.move?.state === "fenced" ? ({ ...target.move, state: "started" } as const) : target.move;
    return { decision: { ...decision, entity, target: { ...target, move } }, table };
  }

  /** A write to any entity whose move is fenced waits. */
  #fenced(plan: Plan, locations: Locations, region: string): GatewayError | undefined {
    for (const { decision } of locations.inRegion(plan.fields, region)) {
      const fenced = rejectFenced(decision, "POST", false);
      if (fenced !== undefined) return fenced;
    }
    return undefined;
  }

  async #split(split: SplitOperation, locations: Locations): Promise<Response> {
    const context = this.#context;
    const { gateway } = context;
    const { plan } = split;
    const type = mediaTypeFor(context.request);
    if (type === undefined) return refuse(context, requestFault("Accept application/graphql-response+json."), 406);
    const deciders = new Map(plan.parts.map((part) => [part, this.#deciderOf(plan, locations, part.region)]));
    const [any] = deciders.values();
    const refused = any && (await this.#admit(any.decision));
    if (refused !== undefined) return refused;
    const decided = (part: Part) => deciders.get(part) as Located;
    const results = await askParts(context, this.#graphql, split, decided);
    context.attempts = results.reduce((sum, { attempts }) => sum + attempts, 0);
    context.asked = results.length;
    context.originMs = gateway.clock.nowMs() - context.arrivedAtMs;
    const common = commonRefusal(plan, results);
    if (common?.refusal === undefined) return this.#merged(type, plan, results);
    context.isMerged = true;
    context.outcome = "answered";
    context.region = common.refusal.headers.get("waybill-region") ?? common.part.region;
    return common.refusal;
  }

  /** The refusal of a request that is over its limit or cannot be signed. The first part stands for all in the log. */
  async #admit(decision: Decision): Promise<Response | undefined> {
    const context = this.#context;
    const { gateway } = context;
    const limit = gateway.rateLimits.entity;
    const limited = limit && (await limitRate(context, limit, "entity", decision));
    if (limited !== undefined) return limited;
    if (gateway.mustSign && gateway.sign === undefined) return context.fail({ reason: "signing-unavailable" });
    context.logDecision(decision);
    return undefined;
  }

  #merged(type: string, plan: Plan, results: readonly PartResult[]): Response {
    const context = this.#context;
    const { queryType, nonNull, limits, entity } = this.#graphql;
    const charactersMax = limits.regionsMax * limits.answerBytesMax;
    const { body, hasData } = mergeAnswers(plan, results, { queryType, nonNull, charactersMax });
    context.outcome = outcomeOf(results);
    context.isMerged = true;
    const status = hasData || type === "application/json" ? 200 : 400;
    const response = withPartFields(answerOf(type, body, status), results);
    // It is the gateway's own, although origins answered (RFC 9110 §6.6.1).
    response.headers.set("date", new Date(context.gateway.clock.nowMs()).toUTCString());
    if (entity.fields === "minimal") return response;
    response.headers.set("waybill-table", context.tableLabel ?? "");
    const regions = plan.parts.map(({ region }) => region);
    if (regions.length > 0) response.headers.set("waybill-region", regions.join(", "));
    return response;
  }
}

/** One region's answer makes it an answer. A plan without parts comes of a fault in the document. */
function outcomeOf(results: readonly PartResult[]): string {
  const codes = results.map(({ answer }) => (answer.ok ? "answered" : answer.error.code));
  return codes.includes("answered") ? "answered" : (codes[0] ?? "malformed-request");
}

interface Planned {
  readonly operation: Operation;
  readonly locations: Locations;
  readonly plan: Plan;
}

const NOTHING_READ: ForwardOptions = {};

function isJson(contentType: string | null): boolean {
  const [type = "", ...parameters] = (contentType ?? "").split(";").map((each) => each.trim().toLowerCase());
  const charsets = parameters.filter((each) => each.startsWith("charset="));
  return type === "application/json" && charsets.every((each) => /^charset="?utf-?8"?$/.test(each));
}

/** A mutation's fields run one after the other, and a subscription is one stream: nothing of them is split. */
function whyNotWhole({ parts, failed }: Plan, kind: string): FieldFailure {
  for (const failure of failed.values()) {
    const [first] = failure instanceof Map ? failure.values() : [failure as FieldFailure];
    if (first !== undefined) return first;
  }
  return disagree(parts, `A ${kind} goes to one region: send one for each`);
}

const disagree = (parts: readonly Part[], why: string): FieldFailure => ({
  code: "ids-disagree",
  message: `${why}; its IDs are in ${parts.map(({ region }) => region).join(", ")}.`,
  status: 422,
});

function whySplitIsRefused(
  { isIncremental }: Operation,
  { parts }: Plan,
  regionsMax: number,
): FieldFailure | undefined {
  if (isIncremental) return disagree(parts, "An operation with @defer or @stream goes to one region");
  if (parts.length <= regionsMax) return undefined;
  return {
    code: "TOO_MANY_REGIONS",
    message: `The operation has IDs of more than ${regionsMax} regions.`,
    status: 400,
  };
}
