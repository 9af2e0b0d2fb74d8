import { readIdempotencyKey } from "../../../formats/key-field.ts";
import { scopeOf } from "../../../gateway/caller.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import type { BeginCall } from "../../idempotency/port.ts";
import {
  attemptToken,
  fingerprintOf,
  refusalOf,
  replayed,
  withKeyFields,
} from "../../idempotency/serve/keyed-request.ts";

/** As long as the keys of creates by default. */
const TTL_MS = 86_400_000;

/**
 * The answer of a page that makes IDs, once for each `idempotency-key`: a retry gets the kept one. An answer
 * that could not be kept is given to no one, so that no two answers of a key differ.
 */
export async function answerOnce(
  context: RequestContext,
  body: string,
  make: () => Promise<Response>,
): Promise<Response> {
  const { gateway, request, method, path, query } = context;
  const key = readIdempotencyKey(request.headers.get("idempotency-key"));
  if (!key.ok) return context.fail(key.error);
  if (key.value === undefined) return make();
  const contentType = request.headers.get("content-type");
  const payload = { method, target: path + query, contentType, body: new Uint8Array(new TextEncoder().encode(body)) };
  const call: Omit<BeginCall, "proposal"> = {
    scope: await scopeOf(request, gateway.subtle),
    key: key.value,
    fingerprint: await fingerprintOf(payload, gateway.subtle),
    attempt: attemptToken(gateway.entropy),
    ttlMs: TTL_MS,
    leaseMs: 0,
  };
  return context.finishAlways(makeOnce(context, call, make));
}

async function makeOnce(
  context: RequestContext,
  call: Omit<BeginCall, "proposal">,
  make: () => Promise<Response>,
): Promise<Response> {
  // A retry gets its answer even if the table of today could not make it.
  const known = await begin(context, { ...call, proposal: NOTHING_YET, ttlMs: 0 });
  if (known instanceof Response) return known;
  const made = await make();
  if (made.status !== 201) return made;
  const bytes = new Uint8Array(await made.arrayBuffer());
  const proposal = {
    entity: context.entity ?? "",
    id: firstId(bytes, made),
    // Empty for IDs of several regions.
    region: context.region ?? "",
    revision: context.table?.revision ?? 0,
  };
  const answer = { status: made.status, fields: [...made.headers], body: bytes };
  const kept = await begin(context, { ...call, proposal, answer });
  if (kept instanceof Response) return kept;
  return withKeyFields(new Response(bytes, made), kept.untilMs, true);
}

const NOTHING_YET = { entity: "", id: "", region: "", revision: 0 };

/** Until when the key holds; or the answer of an earlier request, or why there is none. */
async function begin(context: RequestContext, call: BeginCall): Promise<Response | { readonly untilMs: number }> {
  const begun = await context.gateway.idempotency.begin(call);
  if (!begun.ok) return context.fail(begun.error);
  const { value } = begun;
  if (value.state === "started") return value;
  if (value.state !== "done") return context.fail(refusalOf(value));
  return replayed(context, value);
}

function firstId(bytes: Uint8Array, { headers }: Response): string {
  const text = new TextDecoder().decode(bytes);
  if (headers.get("content-type") === "application/json") return JSON.parse(text).ids[0];
  return text.slice(0, text.indexOf("\n"));
}
