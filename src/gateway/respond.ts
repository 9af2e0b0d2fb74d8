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
  const { gateway } = context;
  const { entity } = decision;
  const answer = entity.removePrefix === undefined ? received : located(received, entity.removePrefix, context);
  const { response: original, fields, bytes, region, limits } = answer;
  let body: ReadableStream | ArrayBuffer | null | undefined = bytes;
  const isMessage = original.status !== 101;
  if (bytes === undefined && isMessage && limits.isBodyWatched) {
    const idleMs = bodyIdleMs(limits, fields);
    if ((idleMs > 0 || limits.total !== undefined || limits.isWholeChosen) && original.body !== null) {
      body = watchBody(original.body, {
        limits: { idleMs, total: limits.total },
        nowMs: gateway.clock.nowMs,
        waitUntil: context.waitUntil,
        onBroken: (end) => gateway.logBrokenBody(entity.name, end),
        left: context.unwanted ?? context.request.signal,
        length: steps?.readsAnswers === true ? undefined : fields.contentLength,
      });
    }
  }
  const rewritten = isMessage ? steps?.rewrite?.(context, table, decision, answer, body ?? original.body) : undefined;
  if (rewritten !== undefined) return rewritten;
  return labelled(context, decision, region, { response: original, body, fields, encodeBody: "own" });
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
