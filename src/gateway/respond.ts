import { bodyIdleMs, type OriginResponse } from "../proxy/attempt.ts";
import { clientResponse, watchBody } from "../proxy/client-response.ts";
import type { ResponseFields } from "../proxy/headers.ts";
import { LOCATION_FIELDS, withPrefix } from "../proxy/path-prefix.ts";
import type { CompiledTable, Decision } from "../routing/index.ts";
import { fieldsShown } from "./debug.ts";
import type { Steps } from "./feature.ts";
import type { RequestContext } from "./request.ts";

/** The origin's response as the client sees it: watched to its end, and changed by what features do with it. */
export function respond(
  context: RequestContext,
  table: CompiledTable,
  decision: Decision,
  received: OriginResponse,
  steps?: Pick<Steps, "rewrite" | "readsAnswers">,
): Response | Promise<Response> {
  const { removePrefix } = decision.entity;
  const answer = removePrefix === undefined ? received : located(received, removePrefix, context);
  const { response: original, fields, bytes, region, limits } = answer;
  const isMessage = original.status !== 101;
  const isWatched = bytes === undefined && limits.isBodyWatched && isMessage && original.body !== null;
  const body = isWatched ? watched(context, decision, answer, steps?.readsAnswers === true) : bytes;
  const rewritten = isMessage ? steps?.rewrite?.(context, table, decision, answer, body ?? original.body) : undefined;
  return rewritten ?? labelled(context, decision, region, { response: original, body, fields, encodeBody: "own" });
}

/** The body of an answer, watched to its end; `undefined` where the table wants nothing of it. */
function watched(
  { gateway, request, unwanted, waitUntil }: RequestContext,
  { entity }: Decision,
  { response: { body }, fields, limits }: OriginResponse,
  isRead: boolean,
): ReadableStream | undefined {
  const idleMs = bodyIdleMs(limits, fields);
  if (body === null || (idleMs === 0 && limits.total === undefined && !limits.isWholeChosen)) return undefined;
  return watchBody(body, {
    limits: { idleMs, total: limits.total },
    nowMs: gateway.clock.nowMs,
    waitUntil,
    onBroken: (end) => gateway.logBrokenBody(entity.name, end),
    left: unwanted ?? request.signal,
    length: isRead ? undefined : fields.contentLength,
  });
}

/** The answer of an origin that does not know the prefix of its paths. */
function located(answer: OriginResponse, removePrefix: string, { servedHost }: RequestContext): OriginResponse {
  const { response, bytes } = answer;
  const named = LOCATION_FIELDS.filter((name) => response.headers.has(name));
  if (named.length === 0 || response.status === 101) return answer;
  // A body that was read whole has no stream left; its bytes replace it later.
  const copy = new Response(bytes === undefined ? response.body : null, response);
  for (const name of named)
    copy.headers.set(name, withPrefix(response.headers.get(name) ?? "", removePrefix, servedHost));
  return { ...answer, response: copy };
}

interface Shown {
  readonly response: Response;
  readonly fields: ResponseFields;
  readonly body: ReadableStream | ArrayBuffer | null | undefined;
  readonly encodeBody: "own" | "manual" | "automatic";
}

/** With the fields that say how it was decided. */
export function labelled(
  context: RequestContext,
  decision: Decision,
  region: OriginResponse["region"],
  { response, fields, body, encodeBody }: Shown,
): Response {
  const { gateway, arrivedAtMs } = context;
  const { target, entity } = decision;
  context.region = region.name;
  context.outcome = "answered";
  if (region !== target.region) {
    context.isElsewhere = true;
    gateway.counters.count("answers_elsewhere", target.region.name, region.name);
  }
  context.originMs = gateway.clock.nowMs() - arrivedAtMs;
  return clientResponse(response, body, fields, {
    region: region.name,
    layout: decision.by === "id" ? decision.layout : undefined,
    table: context.tableLabel ?? "",
    originMs: context.originMs,
    fields: context.isDebugged ? fieldsShown(response, entity.fields) : entity.fields,
    via: gateway.pseudonym.via,
    encodeBody,
  });
}

/** An answer that may get fields: one of `minimal` was passed on as it came, and cannot be changed. */
export const changeable = (response: Response, { entity }: Decision): Response =>
  entity.fields === "minimal" ? new Response(response.body, response) : response;
