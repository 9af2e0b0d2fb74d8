import { deciderOf } from "../../../gateway/decide.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { judgeClientId } from "../../../ids/index.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { HORIZON_MS } from "../../../routing/limits.ts";
import type { CompiledTable, IdDecision } from "../../../routing/table.ts";
import { textAt } from "../table/request.ts";
import type { ClientIdRules, Create } from "../table/types.ts";
import { type Creation, decideText, type NewEntity } from "./choose-ids.ts";

/** IDs that clients make themselves: they are held to the clock when an entity is created, and never again. */

/** The one that a POST brings. `name`: the same for all of its texts. `ids`: its entity, or why that cannot be created. */
export interface OwnId {
  readonly name: string;
  readonly ids: Result<{ readonly own: NewEntity }, GatewayError>;
}

/** `undefined` where the request brings none. */
export async function readOwnId(
  context: RequestContext,
  { create, served, table }: Creation,
  rules: ClientIdRules,
  json: unknown,
): Promise<Result<OwnId | undefined, GatewayError>> {
  const given = textOf(rules, context.request, json);
  if (!given.ok) return given;
  const text = given.value;
  if (text === undefined) return ok(undefined);
  // A public ID has one text.
  const nameOf = ({ decision }: NewEntity): string =>
    create.entity.reading?.hides !== true ? decision.canonical : text;
  const decided = await decideText(context, served, create, text);
  if (decided.ok) {
    const { decision, byCanary } = decided.value;
    const stale = judgeFreshness(context, create, deciderOf(served, byCanary), { decision, text, isFar: false });
    const name = nameOf(decided.value);
    return ok({ name, ids: stale === undefined ? ok({ own: { ...decided.value, text: name } }) : err(stale) });
  }
  if (decided.error.reason !== "unknown-id") return ok({ name: text, ids: decided });
  const far = await decideText(context, served, create, text, HORIZON_MS);
  if (!far.ok) return ok({ name: text, ids: decided });
  const stale = judgeFreshness(context, create, table, { decision: far.value.decision, text, isFar: true });
  return ok({ name: nameOf(far.value), ids: stale === undefined ? decided : err(stale) });
}

function textOf(
  { header, path }: ClientIdRules,
  request: Request,
  json: unknown,
): Result<string | undefined, GatewayError> {
  const inHeader = header === undefined ? undefined : (request.headers.get(header) ?? undefined);
  const inBody = path === undefined ? undefined : textAt(json, path);
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody) {
    return err({ reason: "malformed-request", detail: "The header and the body name different IDs." });
  }
  return ok(inHeader ?? inBody);
}

/** `text`: as it came. `isFar`: no request for it would find a way yet. */
interface Judged {
  readonly decision: IdDecision;
  readonly text: string;
  readonly isFar: boolean;
}

/** Why the ID cannot be of a client that makes it now. */
export function judgeFreshness(
  { arrivedAtMs, request }: Pick<RequestContext, "arrivedAtMs" | "request">,
  { clientId, entity }: Create,
  table: CompiledTable,
  { decision, text, isFar }: Judged,
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
  const { name, reading } = entity;
  return { reason: "stale-client-id", id: text, entity: name, stale: judged.error, isPublic: reading?.hides === true };
}

const UNIX_MS = /^[1-9]\d{0,14}$/;
