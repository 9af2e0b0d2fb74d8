import type { DecideFailure, Outcome } from "../../../gateway/decide.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { judgeClientId } from "../../../ids/index.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { HORIZON_MS } from "../../../routing/limits.ts";
import { ANY_PREFIX, segmentsOf } from "../../../routing/lookup/paths.ts";
import type { CompiledTable, Entity, IdDecision } from "../../../routing/table.ts";
import { textAt } from "../table/request.ts";
import type { Create } from "../table/types.ts";

/** IDs that clients make themselves: they are held to the clock when an entity is created, and never again. */

/** The one that a POST brings, where the table has a place for it. */
export function clientIdOf(
  { clientId }: Create,
  request: Request,
  json: unknown,
): Result<string | undefined, GatewayError> {
  if (clientId === undefined) return ok(undefined);
  const { header, path } = clientId;
  const inHeader = header === undefined ? undefined : (request.headers.get(header) ?? undefined);
  const inBody = path === undefined ? undefined : textAt(json, path);
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody) {
    return err({ reason: "malformed-request", detail: "The header and the body name different IDs." });
  }
  return ok(inHeader ?? inBody);
}

type Clocks = Pick<RequestContext, "arrivedAtMs" | "request">;

/** Why the ID cannot be of a client that makes it now. `text`: as it came. `isFar`: no request for it would find a way yet. */
export function judgeFreshness(
  { arrivedAtMs, request }: Clocks,
  { clientId, entity }: Create,
  table: CompiledTable,
  decision: IdDecision,
  text: string,
  isFar = false,
): GatewayError | undefined {
  const layout = table.layouts.get(decision.layout)?.layout;
  if (clientId === undefined || layout === undefined) return undefined;
  const said = clientId.clock === undefined ? null : request.headers.get(clientId.clock.header);
  if (said !== null && !UNIX_MS.test(said)) {
    return {
      reason: "malformed-request",
      detail: `${clientId.clock?.header} is a time in Unix ms, such as 1767225600000.`,
    };
  }
  const { beforeMs, afterMs, clock } = clientId;
  const clientNow = said === null || isFar ? {} : { clientNowMs: Number(said), clockSkewMaxMs: clock?.skewMs };
  const judged = judgeClientId(layout, decision.words, { nowMs: arrivedAtMs, beforeMs, afterMs, ...clientNow });
  if (judged.ok || judged.error.reason === "no-time") return undefined;
  const { name, public: own } = entity;
  return { reason: "stale-client-id", id: text, entity: name, stale: judged.error, isPublic: own !== undefined };
}

const UNIX_MS = /^[1-9]\d{0,14}$/;

/** The ID of a path that ends with the entity. PUT on what is below it creates something else. */
function idOfOwnPath(path: string, { paths }: Pick<Entity, "paths">): string | undefined {
  const own = segmentsOf(path.endsWith("/") ? path.slice(0, -1) : path);
  if (path.startsWith(ANY_PREFIX)) return own.length === 2 ? own[1] : undefined;
  for (const pattern of paths) {
    const segments = segmentsOf(pattern);
    const isOwn = segments.length === own.length && segments.every((text, at) => [":id", "*", own[at]].includes(text));
    if (isOwn) return own[segments.indexOf(":id")];
  }
  return undefined;
}

/**
 * Why a PUT that creates must not: its ID is not of now. `decideFar` reads IDs of all times: one of a clock that is days
 * ahead is unknown to all other requests.
 */
export function refuseStalePut(
  context: RequestContext,
  { table, canary }: ServedTable,
  outcome: Exclude<Outcome, { readonly kind: "load" }> | Pick<DecideFailure, "kind">,
  decideFar: (nowMs: number) => Outcome,
): GatewayError | undefined {
  const isFar = outcome.kind === "error" && "error" in outcome && outcome.error.reason === "unknown-id";
  const decided = isFar ? decideFar(HORIZON_MS) : outcome;
  if (decided.kind !== "region" || !("decision" in decided) || decided.decision === undefined) return undefined;
  const text = idOfOwnPath(context.path, decided.decision.entity);
  if (text === undefined) return undefined;
  const own = decided.byCanary && canary !== undefined ? canary.table : table;
  const create = own.creates?.byEntity.get(decided.decision.entity.name);
  if (create?.clientId === undefined) return undefined;
  const { createFlag } = create.clientId;
  const { headers } = context.request;
  // RFC 9110 §13.1.2: only where there is none yet.
  const creates = headers.get("if-none-match")?.trim() === "*" || (createFlag !== undefined && headers.has(createFlag));
  return creates ? judgeFreshness(context, create, own, decided.decision, text, isFar) : undefined;
}
