import { readIdempotencyKey } from "../../../formats/key-field.ts";
import { claimsOf, scopeOf, scopeOfClaim } from "../../../gateway/caller.ts";
import { decidePath } from "../../../gateway/decide.ts";
import { type ForwardOptions, forward } from "../../../gateway/forward.ts";
import { decideFor } from "../../../gateway/loading.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { rejectFenced } from "../../../proxy/deliver.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import { attemptToken, fingerprintOf } from "../../idempotency/serve/idempotency-key.ts";
import { textAt } from "../table/request.ts";
import type { Create } from "../table/types.ts";
import { labelled, type NewEntity } from "./answer.ts";
import { chooseIds, readOwnId } from "./choose-ids.ts";
import { clientIdOf } from "./client-id.ts";
import type { Creation } from "./collection.ts";
import { readContent } from "./content.ts";
import { digestText } from "./content-digest.ts";
import { createOnce } from "./once.ts";

export { refuseStalePut } from "./client-id.ts";

/**
 * Creates an entity: mints its ID, or checks the one that the client brings, and sends the request to the region of the
 * ID's key. With an idempotency key the ID and the region are written down before the origin is asked.
 */
export async function createEntity(
  context: RequestContext,
  served: ServedTable,
  creation: Creation,
): Promise<Response> {
  const { create, byCanary } = creation;
  const { gateway, request } = context;
  context.watchClient();
  context.entity = create.entity.name;
  if (byCanary) context.takeCanary();
  const fail = (error: GatewayError): Response => context.fail(error);
  const key = readIdempotencyKey(request.headers.get("idempotency-key"));
  if (!key.ok) return fail(key.error);
  const isKeyed = key.value !== undefined || create.idempotency.isRequired || create.idempotency.byClientId;
  const content = await readContent(context, create, isKeyed);
  if (!content.ok) return fail(content.error);
  const claims = create.readsToken ? await claimsOf(gateway, request) : ok(undefined);
  if (!claims.ok) return fail(claims.error);
  const parent = await parentOf(context, served, creation);
  if (!parent.ok) return fail(parent.error);
  const fenced = parent.value && rejectFenced(parent.value.decision, "POST", false);
  if (fenced !== undefined) return fail(fenced);
  const said = clientIdOf(create, request, content.value.json);
  const own = said.ok && said.value !== undefined ? await readOwnId(context, served, creation, said.value) : undefined;
  const brought = said.ok ? ok(own) : said;
  const asked = { brought, json: content.value.json, claims: claims.value, parent: parent.value?.decision };
  const newEntities = await chooseIds(context, served, creation, asked);
  content.value.json = undefined;
  const target = targetOf(context, parent.value, creation) + context.query;
  // The client's own ID stands for a key.
  const keyText = key.value ?? (create.idempotency.byClientId ? own && `id:${own.name}` : undefined);
  const { bytes, streamed } = content.value;
  if (keyText === undefined) {
    if (create.idempotency.isRequired) return fail({ reason: "idempotency-key-missing", entity: create.entity.name });
    if (!newEntities.ok) return fail(newEntities.error);
    return labelled(await send(context, newEntities.value, target, bytes), newEntities.value);
  }
  const scope = await scopeText(context, create, claims.value);
  if (!scope.ok) return fail(scope.error);
  const { headers } = request;
  const body = bytes ?? new TextEncoder().encode(streamed && digestText(streamed.digest));
  const payload = {
    method: context.method,
    target,
    contentType: headers.get("content-type"),
    body: new Uint8Array(body),
    id: key.value === undefined ? undefined : own?.name,
  };
  const fingerprint = await fingerprintOf(payload, gateway.subtle);
  const keyed = { scope: scope.value, key: keyText, fingerprint, attempt: attemptToken(gateway.entropy) };
  const check = streamed?.check;
  return context.finishAlways(
    createOnce(context, served, creation, { ...keyed, check }, newEntities, (all) =>
      send(context, all, target, bytes, { check, isKept: true }),
    ),
  );
}

/** Where the entity above a collection is. `path`: its own, with the internal ID. */
async function parentOf(context: RequestContext, served: ServedTable, { parentEnd }: Creation) {
  const { path } = context;
  if (parentEnd === 0) return ok(undefined);
  const outcome = await decideFor(context, served, (input) => decidePath(input, path.slice(0, parentEnd)));
  if (outcome.kind === "error") return err(outcome.error);
  if (outcome.kind !== "region") return err({ reason: "unrouted-path", path } as const);
  return ok({ decision: outcome.decision, path: outcome.path });
}

const targetOf = ({ path }: RequestContext, parent: { readonly path: string } | undefined, { parentEnd }: Creation) =>
  parent === undefined ? path : parent.path + path.slice(parentEnd);

/** Whose keys they are: what the client cannot take from another. */
async function scopeText(
  { request, gateway }: RequestContext,
  { idempotency: { scopeClaim }, entity }: Create,
  claims: Readonly<Record<string, unknown>> | undefined,
): Promise<Result<string, GatewayError>> {
  if (scopeClaim === undefined) return ok(await scopeOf(request, gateway.subtle));
  const claim = textAt(claims, scopeClaim);
  const source = `claim ${scopeClaim.join("/")}`;
  const of = { entity: entity.name, field: "idempotency scope" };
  if (claim === undefined) return err({ reason: "create-key-missing", ...of, sources: [source] });
  // Lists, and numbers that JSON rounds, are one text for many callers.
  if (isName(scopeClaim.reduce(memberOf, claims as unknown))) return ok(await scopeOfClaim(claim, gateway.subtle));
  return err({ reason: "create-key-invalid", ...of, source, value: claim });
}

const isName = (claim: unknown): boolean => (typeof claim === "string" ? claim !== "" : Number.isSafeInteger(claim));

function send(
  context: RequestContext,
  newEntities: readonly NewEntity[],
  target: string,
  bytes: ArrayBuffer | undefined,
  keyed?: Pick<ForwardOptions, "check" | "isKept">,
): Promise<Response> {
  const [first, second] = newEntities as readonly [NewEntity, ...NewEntity[]];
  if (first.byCanary) context.takeCanary();
  const ids = second === undefined ? undefined : newEntities.map(({ decision }) => decision.canonical).join(", ");
  return forward(context, first.decision, target, { body: bytes && { kind: "kept", bytes }, ids, ...keyed });
}
