import { GRAPHQL_RESPONSE, JSON_RESPONSE } from "../../graphql/answer.ts";
import type { Operation } from "../../graphql/document.ts";
import { type Answered, type PartAnswer, readAnswer } from "../../graphql/merge.ts";
import type { FieldFailure, Part, Plan } from "../../graphql/plan.ts";
import type { GraphqlRequest } from "../../graphql/request.ts";
import { partBody } from "../../graphql/split.ts";
import { err, type Result } from "../../ids/result.ts";
import { bodyIdleMs, type OriginResponse } from "../../proxy/attempt.ts";
import { collect, decodeUtf8 } from "../../proxy/body.ts";
import { watchBody } from "../../proxy/client-response.ts";
import { deliver } from "../../proxy/deliver.ts";
import { isTraceparent, newTraceparent, type ProxyRequest } from "../../proxy/origin-request.ts";
import { SESSION_COOKIE } from "../../proxy/session-cookie.ts";
import type { Graphql } from "../../routing/table.ts";
import { Gate } from "../many/shares.ts";
import type { RequestContext } from "../request.ts";
import { failureOf, type Located } from "./locate.ts";

/** Header fields of answers that the client of several parts gets too. */
export interface PartFields {
  readonly cookies: readonly string[];
  /** Of the first part that has them. */
  readonly cors: readonly (readonly [string, string])[];
}

interface PartResult extends Answered {
  readonly fields: PartFields;
  readonly attempts: number;
}

/** Fields that are about another body than a part's, or about the answer as a whole. */
const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  ...["accept", "content-digest", "content-encoding", "content-length", "content-md5", "content-type", "digest"],
  ...["expect", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range"],
  ...["if-unmodified-since", "range", "repr-digest", "signature", "signature-input", "transfer-encoding", "upgrade"],
]);

/** Asks each region for its part, all at once if the isolate has room. A region that fails fails its own fields. */
export function askParts(
  context: RequestContext,
  graphql: Graphql,
  request: GraphqlRequest,
  operation: Operation,
  plan: Plan,
  deciderOf: (part: Part) => Located,
): Promise<readonly PartResult[]> {
  const headers = new Headers(context.request.headers);
  for (const name of OF_THE_WHOLE) headers.delete(name);
  headers.set("content-type", JSON_RESPONSE);
  headers.set("accept", `${GRAPHQL_RESPONSE}, ${JSON_RESPONSE};q=0.9`);
  const sent = new Request(context.request.url, { method: "POST", headers });
  // All parts are of one trace.
  const given = headers.get("traceparent") ?? "";
  const traceparent = isTraceparent(given) ? given : newTraceparent(context.gateway.entropy.word);
  context.trace = traceparent.slice(3, 35);
  const gate = new Gate(plan.parts.length, context.gateway.clock.nowMs);
  const asked = plan.parts.map((part, at) => {
    const body = partBody(request, operation, plan.fields, part, at === 0);
    return gate.pass(() => askPart(context, graphql, sent, part, body, deciderOf(part), traceparent));
  });
  return Promise.all(asked);
}

async function askPart(
  context: RequestContext,
  { limits, path }: Graphql,
  request: Request,
  part: Part,
  body: string,
  { decision, table, hasOthers }: Located,
  traceparent: string,
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
    body: { kind: "kept", bytes: new TextEncoder().encode(body).buffer as ArrayBuffer },
    target: path,
    decision,
    id: decision.canonical,
    ids: undefined,
    revision: table.revision,
    regions: table.regions,
    attempts: 0,
    traceparent,
  };
  const delivered = await deliver(proxied, gateway);
  const answer = delivered.ok
    ? await readPart(context, delivered.value, limits.answerBytesMax)
    : err(failureOf(delivered.error));
  const fields = delivered.ok ? fieldsOf(delivered.value.response.headers) : { cookies: [], cors: [] };
  return { part, answer, fields, attempts: proxied.attempts };
}

const fieldsOf = (headers: Headers): PartFields => ({
  cookies: headers.getSetCookie().filter((cookie) => !cookie.includes(SESSION_COOKIE)),
  cors: [...headers].filter(([name]) => name.startsWith("access-control-")),
});

/** What is no answer of GraphQL says that the region does not work. */
async function readPart(
  context: RequestContext,
  delivered: OriginResponse,
  bytesMax: number,
): Promise<Result<PartAnswer, FieldFailure>> {
  const { response, region } = delivered;
  const failed = (what: string) => err(failureOf({ reason: "invalid-response", region: region.name, what }));
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const isAnswer = type === GRAPHQL_RESPONSE || (type === JSON_RESPONSE && response.status === 200);
  if (!isAnswer) {
    void response.body?.cancel().catch(() => undefined);
    return failed(`the status ${response.status} and no result of GraphQL`);
  }
  const bytes = await wholeOf(context, delivered, bytesMax);
  if (bytes === "broken") return failed("a body that broke off");
  if (bytes === "long") return failed(`more than ${bytesMax} bytes`);
  const text = decodeUtf8(bytes);
  const answer = text === undefined ? err("no UTF-8") : readAnswer(text);
  return answer.ok ? answer : failed(answer.error);
}

async function wholeOf(
  { gateway, waitUntil, request }: RequestContext,
  { response, fields, bytes, limits }: OriginResponse,
  bytesMax: number,
): Promise<ArrayBuffer | "long" | "broken"> {
  if (bytes !== undefined) return bytes.byteLength > bytesMax ? "long" : bytes;
  if (response.body === null) return new ArrayBuffer(0);
  const watched = watchBody(response.body, {
    limits: { idleMs: bodyIdleMs(limits, fields), total: limits.total },
    nowMs: gateway.clock.nowMs,
    waitUntil,
    onBroken: () => undefined,
    left: request.signal,
    length: undefined,
  });
  return collect(watched, bytesMax).then(
    (whole) => whole ?? "long",
    () => "broken" as const,
  );
}
