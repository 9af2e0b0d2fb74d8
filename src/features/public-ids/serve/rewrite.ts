import type { EntitySteps, ServeFeature } from "../../../gateway/feature.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { labelled } from "../../../gateway/respond.ts";
import { luuid } from "../../../ids/index.ts";
import type { Result } from "../../../ids/result.ts";
import type { Gateway } from "../../../ports/gateway.ts";
import type { OriginResponse } from "../../../proxy/attempt.ts";
import { begunBody, codingsOf } from "../../../proxy/codings.ts";
import { readResponseFields } from "../../../proxy/headers.ts";
import { type CompiledTable, type Decision, type Entity, primaryPattern } from "../../../routing/index.ts";
import { pathWithId } from "../../../routing/lookup/paths.ts";
import { publicReference } from "./location.ts";
import { publicResponse, REFERENCE_FIELDS } from "./response.ts";

/** Answers with public IDs in place of internal ones. */

export const publicIds: ServeFeature = {
  name: "public-ids",
  steps(table, entity): EntitySteps | undefined {
    const isPublic = entity.public !== undefined || entity.publicFields !== undefined;
    if (!isPublic) return table.reading === undefined ? undefined : { rewrite: rewriteReferences };
    return {
      // A response whose IDs could not be rewritten must not be asked for: the origin would act for nothing.
      refuse: ({ gateway }, decider) =>
        gateway.publicIds.covers(decider) ? undefined : { reason: "public-ids-unavailable", why: "no-keys" },
      readsAnswers: entity.publicFields !== undefined,
      holdsAnswer: () => true,
      rewrite: respondRewritten,
    };
  },
};

/** Any answer may name a public entity. */
const rewriteReferences: typeof respondRewritten | NonNullable<EntitySteps["rewrite"]> = (...all) =>
  REFERENCE_FIELDS.some((name) => all[3].response.headers.has(name)) ? respondRewritten(...all) : undefined;

/** The response with public IDs in place of internal ones. */
function respondRewritten(
  context: RequestContext,
  table: CompiledTable,
  decision: Decision,
  { response: original, region }: OriginResponse,
  body: ReadableStream | ArrayBuffer | null,
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

/** The origin's answer with public IDs in place of internal ones; or why it cannot be shown. */
function rewriteResponse(
  gateway: Pick<Gateway, "publicIds" | "clock" | "logBrokenBody">,
  table: CompiledTable,
  decision: Decision,
  requestUrl: string,
  answer: Response,
): Result<Response, string> {
  const { entity } = decision;
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
        path: ownPath(decision, new URL(requestUrl).pathname),
        show: shown,
      }),
    keepsTag: entity.public === undefined && entity.publicFields === undefined,
    otherBodies: entity.otherBodies ?? "pass",
    onBroken: ({ reason }) => gateway.logBrokenBody(entity.name, reason),
  });
}

const ANY = /^\/any\/([^/]*)/;

/** The entity's own path, also of a request that came through `/any`: only an ID leads there. */
const ownPath = (decision: Decision, path: string): string =>
  decision.by === "region"
    ? path
    : path.replace(ANY, (_, id: string) => pathWithId(primaryPattern(decision.entity, decision.layout) ?? "", id));

/**
 * Whether a text may be an LUUID's primary key: in hex, as in a short key, or in decimal. It counts entities, and cannot be
 * made public without the random bits of its ID.
 */
const mayBePrimaryKey = ({ ids }: Entity, text: string): boolean =>
  ids[0]?.enabled.layout === luuid && /^[0-9A-Fa-f]{1,15}$/.test(text);
