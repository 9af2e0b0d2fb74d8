import { publicReference } from "../features/public-ids/serve/location.ts";
import { publicResponse, REFERENCE_FIELDS } from "../features/public-ids/serve/response.ts";
import { luuid } from "../ids/index.ts";
import type { Result } from "../ids/result.ts";
import type { Gateway } from "../ports/gateway.ts";
import { bodyIdleMs, type OriginResponse } from "../proxy/attempt.ts";
import { clientResponse, watchBody } from "../proxy/client-response.ts";
import { begunBody, codingsOf } from "../proxy/codings.ts";
import { type ResponseFields, readResponseFields } from "../proxy/headers.ts";
import { LOCATION_FIELDS, withPrefix } from "../proxy/path-prefix.ts";
import { type CompiledTable, type Decision, type Entity, primaryPattern } from "../routing/index.ts";
import { fieldsShown } from "./debug.ts";
import type { RequestContext } from "./request.ts";

/** The origin's response as the client sees it: watched to its end, with public IDs where the table wants them. */
export function respond(
  context: RequestContext,
  table: CompiledTable,
  decision: Decision,
  received: OriginResponse,
): Response | Promise<Response> {
  const { gateway } = context;
  const { entity } = decision;
  const answer = entity.removePrefix === undefined ? received : located(received, entity.removePrefix, context);
  const { response: original, fields, bytes, region, limits } = answer;
  const isDecoded = entity.publicFields !== undefined;
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
        length: isDecoded ? undefined : fields.contentLength,
      });
    }
  }
  const mayRefer = table.withoutPublic !== undefined && REFERENCE_FIELDS.some((name) => original.headers.has(name));
  if (isMessage && (isDecoded || entity.public !== undefined || mayRefer)) {
    return respondRewritten(context, table, decision, answer, body ?? original.body);
  }
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

/** The response with public IDs in place of internal ones. */
function respondRewritten(
  context: RequestContext,
  table: CompiledTable,
  decision: Decision,
  { response: original, region }: OriginResponse,
  body: BodyInit | null,
): Response | Promise<Response> {
  const { gateway } = context;
  const { status, statusText, headers } = original;
  const watched = new Response(body, { status, statusText, headers, encodeBody: "manual" });
  const withhold = (why: string): Response => {
    void watched.body?.cancel().catch(() => undefined);
    return context.fail({ reason: "answer-withheld", region: region.name, why }, decision);
  };
  const rewritten = rewriteResponse(gateway, table, decision, context.request.url, watched);
  if (!rewritten.ok) return withhold(rewritten.error);
  const { value: response } = rewritten;
  const isDecoded = decision.entity.publicFields !== undefined;
  const fields = readResponseFields(response.headers, gateway.fieldRules);
  const show = (shown: ReadableStream | null): Response =>
    labelled(context, decision, region, {
      response,
      body: shown,
      fields,
      encodeBody: isDecoded ? "automatic" : "manual",
    });
  const coding = isDecoded ? codingsOf(headers.get("content-encoding")).join(", ") : "";
  if (coding === "" || response.body === null) return show(response.body);
  // A body that is not coded as it says breaks at once, when a status can still tell.
  return begunBody(response.body).then((begun) =>
    begun === undefined ? withhold(`its body is not JSON in the coding ${coding}`) : show(begun),
  );
}

interface Shown {
  readonly response: Response;
  readonly fields: ResponseFields;
  readonly body: ReadableStream | ArrayBuffer | null | undefined;
  readonly encodeBody: "own" | "manual" | "automatic";
}

function labelled(
  context: RequestContext,
  { target, layout, entity }: Decision,
  region: OriginResponse["region"],
  { response, fields, body, encodeBody }: Shown,
): Response {
  const { gateway, arrivedAtMs } = context;
  context.region = region.name;
  context.outcome = "answered";
  if (region !== target.region) {
    context.isElsewhere = true;
    gateway.counters.count("answers_elsewhere", target.region.name, region.name);
  }
  context.originMs = gateway.clock.nowMs() - arrivedAtMs;
  return clientResponse(response, body, fields, {
    region: region.name,
    layout,
    table: context.tableLabel ?? "",
    originMs: context.originMs,
    fields: fieldsShown(context, response, entity.fields),
    via: gateway.pseudonym.via,
    encodeBody,
  });
}

/** The origin's answer with public IDs in place of internal ones; or why it cannot be shown. */
function rewriteResponse(
  gateway: Pick<Gateway, "publicIds" | "clock" | "logBrokenBody">,
  table: CompiledTable,
  { entity, layout }: Decision,
  requestUrl: string,
  answer: Response,
): Result<Response, string> {
  const shown = (of: Entity | undefined, internal: string): string | null | undefined => {
    if (of?.public === undefined) return undefined;
    const text = gateway.publicIds.show(of, internal);
    if (text.ok && text.value !== undefined) return text.value;
    return mayBePrimaryKey(of, internal) ? null : undefined;
  };
  return publicResponse(answer, {
    paths: entity.publicFields,
    toPublic: (name, internal) => shown(table.entities.get(name), internal),
    toPublicReference: (reference) =>
      publicReference(reference, {
        table,
        nowMs: gateway.clock.nowMs(),
        path: ownPath(entity, layout, new URL(requestUrl).pathname),
        show: shown,
      }),
    keepsTag: entity.public === undefined && entity.publicFields === undefined,
    otherBodies: entity.otherBodies ?? "pass",
    onBroken: ({ reason }) => gateway.logBrokenBody(entity.name, reason),
  });
}

const ANY = /^\/any\/([^/]*)/;

/** The entity's own path, also of a request that came through `/any`. */
const ownPath = (entity: Entity, layout: string, path: string): string =>
  path.replace(ANY, (_, id: string) => (primaryPattern(entity, layout) ?? "").replace(":id", () => id));

/**
 * Whether a text may be an LUUID's primary key: in hex, as in a short key, or in decimal. It counts entities, and cannot be
 * made public without the random bits of its ID.
 */
const mayBePrimaryKey = ({ ids }: Entity, text: string): boolean =>
  ids[0]?.enabled.layout === luuid && /^[0-9A-Fa-f]{1,15}$/.test(text);
