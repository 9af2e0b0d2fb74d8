import { Gate } from "../../../gateway/fan-out.ts";
import { mediaTypeOf } from "../../../gateway/negotiate.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err } from "../../../ids/result.ts";
import { bodyIdleMs, type OriginResponse } from "../../../proxy/attempt.ts";
import { collect, decodeUtf8 } from "../../../proxy/body.ts";
import { clientResponse, watchBody } from "../../../proxy/client-response.ts";
import { decodedBody } from "../../../proxy/codings.ts";
import { deliver } from "../../../proxy/deliver.ts";
import { SESSION_COOKIE } from "../../../proxy/headers.ts";
import type { ProxyRequest } from "../../../proxy/origin-request.ts";
import type { FieldSet } from "../../../routing/table.ts";
import { GRAPHQL_RESPONSE, JSON_RESPONSE } from "../document/answer.ts";
import type { Operation } from "../document/document.ts";
import { type Answered, readAnswer } from "../document/merge.ts";
import type { Part, Plan } from "../document/plan.ts";
import type { GraphqlRequest } from "../document/request.ts";
import { partBody } from "../document/split.ts";
import type { Graphql } from "../table/types.ts";
import { failureOf, type Located } from "./locate.ts";

/** Header fields of answers that the client of several parts gets too. */
export interface PartFields {
  readonly cookies: readonly string[];
  /** CORS fields of the first part that has them. */
  readonly cors: readonly (readonly [string, string])[];
}

export interface PartResult extends Answered {
  readonly fields: PartFields;
  /** The origin's own answer, where it refuses the request (RFC 9110 §15.5). */
  readonly refusal: Response | undefined;
  readonly attempts: number;
}

/** Fields that are about another body than a part's, or about the answer as a whole. */
const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  "accept",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-md5",
  "content-type",
  "digest",
  "expect",
  "idempotency-key",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "range",
  "repr-digest",
  "signature",
  "signature-input",
  "transfer-encoding",
  "upgrade",
]);

/** An operation that several regions answer. */
export interface SplitOperation {
  readonly request: GraphqlRequest;
  readonly operation: Operation;
  readonly plan: Plan;
}

/** Asks each region for its part, all at once if the isolate has room. A region that fails fails its own fields. */
export function askParts(
  context: RequestContext,
  graphql: Graphql,
  { request, operation, plan }: SplitOperation,
  deciderOf: (part: Part) => Located,
): Promise<readonly PartResult[]> {
  const headers = new Headers(context.request.headers);
  for (const name of OF_THE_WHOLE) headers.delete(name);
  headers.set("content-type", JSON_RESPONSE);
  headers.set("accept", `${GRAPHQL_RESPONSE}, ${JSON_RESPONSE};q=0.9`);
  const sent = new Request(context.request.url, { method: "POST", headers });
  const gate = new Gate(plan.parts.length, context.gateway.clock.nowMs);
  const asked = plan.parts.map((part, at) => {
    const body = partBody(request, operation, plan.fields, part, at === 0);
    return gate.pass(() => askPart(context, graphql, { request: sent, body, part }, deciderOf(part)));
  });
  return Promise.all(asked);
}

/** One region's part, as it is sent. `request`: its header fields, which all parts share. */
interface PartRequest {
  readonly request: Request;
  readonly body: string;
  readonly part: Part;
}

async function askPart(
  context: RequestContext,
  graphql: Graphql,
  { request, body, part }: PartRequest,
  { decision, table, hasOthers }: Located,
): Promise<PartResult> {
  const { gateway, client } = context;
  const proxied: ProxyRequest = {
    request,
    method: "POST",
    isRead: true,
    hasOthers,
    scheme: client.scheme ?? context.scheme,
    host: client.host ?? context.host,
    arrivedAtMs: context.arrivedAtMs,
    client,
    waitUntil: context.waitUntil,
    watchClient: () => undefined,
    trustsForwarded: gateway.trustsForwarded,
    // Neither coded nor a range of it: it is read here.
    asksReadable: true,
    hidesAuthorization: context.hidesAuthorization,
    body: { kind: "kept", bytes: new TextEncoder().encode(body).buffer as ArrayBuffer },
    target: graphql.path,
    decision,
    ids: undefined,
    revision: table.revision,
    regions: table.regions,
    attempts: 0,
    traceparent: context.span?.traceparent,
  };
  const delivered = await deliver(proxied, gateway);
  context.trace ??= proxied.traceparent?.slice(3, 35);
  const { attempts } = proxied;
  if (!delivered.ok) {
    const answer = err(failureOf(delivered.error));
    return { part, answer, refusal: undefined, fields: { cookies: [], cors: [] }, attempts };
  }
  const read = await readPart(context, delivered.value, graphql);
  return { part, ...read, fields: fieldsOf(delivered.value.response.headers), attempts };
}

const fieldsOf = (headers: Headers): PartFields => ({
  cookies: headers.getSetCookie().filter((cookie) => !cookie.includes(SESSION_COOKIE)),
  cors: [...headers].filter(([name]) => name.startsWith("access-control-")),
});

/** An answer that is not GraphQL shows that the region does not work. */
async function readPart(
  context: RequestContext,
  delivered: OriginResponse,
  { limits: { answerBytesMax: bytesMax }, entity }: Graphql,
): Promise<Pick<PartResult, "answer" | "refusal">> {
  const { response, region } = delivered;
  const { status } = response;
  const failed = (what: string, refusal?: Response) => ({
    answer: err(failureOf({ reason: "invalid-response", region: region.name, what })),
    refusal,
  });
  const type = mediaTypeOf(response.headers.get("content-type"));
  const isAnswer = type === GRAPHQL_RESPONSE || (type === JSON_RESPONSE && status === 200);
  // A result with 400 is about the document, and is put together with the others.
  const isRefusal = status >= 400 && status < 500 && !(type === GRAPHQL_RESPONSE && status === 400);
  const none = `the status ${status} and no result of GraphQL`;
  if (!isAnswer && !isRefusal) {
    void response.body?.cancel().catch(() => undefined);
    return failed(none);
  }
  const whole = await wholeOf(context, delivered, bytesMax);
  if (whole === "broken") return failed("a body that broke off");
  if (whole === "long") return failed(`more than ${bytesMax} bytes`);
  const { bytes, coding } = whole;
  const refusal = isRefusal ? refusalOf(context, delivered, whole, entity.fields) : undefined;
  if (!isAnswer) return failed(none, refusal);
  if (coding !== undefined) return failed(`a body in the coding ${coding}, which cannot be decoded`, refusal);
  const text = decodeUtf8(bytes);
  const answer = text === undefined ? err("no UTF-8") : readAnswer(text);
  return answer.ok ? { answer, refusal } : failed(answer.error, refusal);
}

/** `coding`: the one that could not be undone, and with it no other. */
interface Whole {
  readonly bytes: ArrayBuffer;
  readonly coding: string | undefined;
}

async function wholeOf(
  { gateway, waitUntil, request }: RequestContext,
  { response, fields, bytes, limits }: OriginResponse,
  bytesMax: number,
): Promise<Whole | "long" | "broken"> {
  const body = bytes === undefined ? response.body : new Response(bytes).body;
  if (body === null) return { bytes: new ArrayBuffer(0), coding: undefined };
  const watched = watchBody(body, {
    limits: { idleMs: bodyIdleMs(limits, fields), total: limits.total },
    nowMs: gateway.clock.nowMs,
    waitUntil,
    onBroken: () => undefined,
    left: request.signal,
    length: undefined,
  });
  const decoded = decodedBody(watched, response.headers.get("content-encoding"), { asksReadable: true });
  const coding = decoded.ok ? undefined : decoded.error.coding;
  return collect(decoded.ok ? decoded.value : watched, bytesMax).then(
    (whole) => (whole === undefined ? "long" : { bytes: whole, coding }),
    () => "broken" as const,
  );
}

/** As the client gets it if no region answers otherwise. */
function refusalOf(
  context: RequestContext,
  { response, fields, region }: OriginResponse,
  { bytes, coding }: Whole,
  shown: FieldSet,
): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const name of ["content-length", "transfer-encoding"]) headers.delete(name);
  if (coding === undefined) headers.delete("content-encoding");
  return clientResponse(new Response(bytes, { status, statusText, headers, encodeBody: "manual" }), undefined, fields, {
    region: region.name,
    layout: "",
    table: context.tableLabel ?? "",
    originMs: context.gateway.clock.nowMs() - context.arrivedAtMs,
    fields: shown,
    via: context.gateway.pseudonym.via,
    encodeBody: "manual",
  });
}

/** The refusal of all regions, in the words of the first one in document order. */
export function commonRefusal({ fields }: Plan, results: readonly PartResult[]): PartResult | undefined {
  if (results.some(({ refusal }) => refusal === undefined)) return undefined;
  for (const { key } of fields) {
    const asked = results.filter(({ part }) => part.fields.has(key));
    const firstAt = ({ part }: PartResult) => part.fields.get(key)?.[0] ?? 0;
    if (asked.length > 0) return asked.reduce((one, other) => (firstAt(other) < firstAt(one) ? other : one));
  }
  return undefined;
}
