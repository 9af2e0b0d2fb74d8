import { claimsOf } from "../../../gateway/caller.ts";
import type { Placed } from "../../../gateway/feature.ts";
import { bodyError, forward, forwardWithoutId } from "../../../gateway/forward.ts";
import { decideFor } from "../../../gateway/loading.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import type { RequestBody } from "../../../proxy/body.ts";
import { rejectFenced } from "../../../proxy/deliver.ts";
import { asksUpgrade } from "../../../proxy/origin-request.ts";
import { takesMethod } from "../../../routing/lookup/choice.ts";
import type { Entity, IdDecision, WithoutId } from "../../../routing/table.ts";
import type { IdPlaces } from "../table/types.ts";
import { type AgreedId, agree, type LocatedId, locateIds, PATH, rememberedEach } from "./locate.ts";
import { peekBody } from "./peek.ts";
import { type BodyHead, type BodyType, bodyTypeOf, type FoundId, readPlaces } from "./read.ts";

/** Requests whose table reads IDs beside the path. */

/** Reads every ID of the request, and sends it where all of them belong. */
export async function serveByPlaces(
  context: RequestContext,
  served: ServedTable,
  outcome: Placed,
  places: IdPlaces,
): Promise<Response> {
  context.watchClient();
  const entry = outcome.kind === "without-id" ? outcome.entry : undefined;
  // The method is refused there.
  if (entry !== undefined && !takesMethod(entry, context)) return forwardWithoutId(context, entry);
  const own = outcome.kind === "region" ? outcome.decision : undefined;
  const { entity } = entry ?? (own as IdDecision);
  context.entity = entity.name;
  const fail = (error: GatewayError): Response => context.fail(error, own);
  const read = await readRequest(context, places, entity);
  if (!read.ok) return fail(read.error);
  const { ids, body } = read.value;
  const layoutName = context.request.headers.get("id-layout") ?? undefined;
  const located = await decideFor(context, served, (input) => locateIds(input, ids), layoutName);
  if (located.kind === "error") return fail(located.error);
  const all = [...inPath(outcome), ...located.ids];
  const hasOthers = areSeveral(all);
  const agreed = agree(hasOthers ? await rememberedEach(context, served, all) : all);
  if (!agreed.ok) return fail(agreed.error);
  const [first, ...others] = agreed.value;
  const options = { body, hasOthers };
  if (first === undefined) return forwardWithoutId(context, entry as WithoutId, options);
  const fenced = fencedAmong(others, context);
  if (fenced !== undefined) return context.fail(fenced, first.decision);
  if (outcome.kind === "region") return forward(context, first.decision, outcome.path + context.query, options);
  if (first.byCanary) context.takeCanary();
  const decision = { ...first.decision, entity: asDeclared(first.decision.entity, entity) };
  return forward(context, decision, context.path + context.query, options);
}

function inPath(outcome: Placed): readonly LocatedId[] {
  if (outcome.kind === "without-id") return [];
  const { entity, id } = outcome.decision;
  return [{ place: PATH, entity: entity.name, text: id, outcome }];
}

/** Whether a request names several entities, or one ID that leads nowhere beside others. */
function areSeveral(ids: readonly LocatedId[]): boolean {
  const names = ids.map(
    ({ entity, outcome }) => `${entity} ${outcome.kind === "region" && outcome.decision.canonical}`,
  );
  return new Set(names).size > 1;
}

/** A write to any entity whose move is fenced waits. */
function fencedAmong(ids: readonly AgreedId[], { request, method }: RequestContext): GatewayError | undefined {
  for (const { decision } of ids) {
    const fenced = rejectFenced(decision, method, asksUpgrade({ request }));
    if (fenced !== undefined) return fenced;
  }
  return undefined;
}

const declaredAs = new WeakMap<Entity, WeakMap<Entity, Entity>>();

/** An entity, forwarded as the path says that its ID was sent on. One for each pair: steps are chosen once for it. */
function asDeclared(entity: Entity, own: Entity): Entity {
  const ofEntity = declaredAs.get(entity) ?? new WeakMap<Entity, Entity>();
  declaredAs.set(entity, ofEntity);
  const { deadlines, wholeAnswers, replayBytesMax, fields, forwarding } = own;
  const declared = ofEntity.get(own) ?? {
    ...entity,
    deadlines,
    wholeAnswers,
    replayBytesMax,
    fields,
    ...forwarding,
  };
  ofEntity.set(own, declared);
  return declared;
}

interface ReadRequest {
  readonly ids: readonly FoundId[];
  /** As far as it was read. */
  readonly body: RequestBody | undefined;
}

async function readRequest(
  { gateway, request, method, query }: RequestContext,
  places: IdPlaces,
  { replayBytesMax }: Entity,
): Promise<Result<ReadRequest, GatewayError>> {
  const header = (name: string) => request.headers.get(name) ?? undefined;
  const claims = places.readsToken ? await claimsOf(gateway, request) : ok(undefined);
  if (!claims.ok) return claims;
  let body: RequestBody | undefined;
  let head: (BodyHead & { readonly type: BodyType }) | undefined;
  if (request.body !== null && header("content-length") !== "0") {
    const type = bodyTypeOf(places, method, header);
    if (!type.ok) return type;
    if (type.value !== undefined) {
      const { idleMs } = gateway.deadlines;
      const limits = { peekBytes: places.peekBytes, keepBytesMax: replayBytesMax, idleMs, nowMs: gateway.clock.nowMs };
      const peeked = await peekBody(request, limits);
      if (typeof peeked === "string") return err(bodyError(peeked, idleMs));
      body = peeked.body;
      head = { ...peeked.head, type: type.value };
    }
  }
  const ids = readPlaces(places, { query, header, claims: claims.value, body: head });
  return ids.ok ? ok({ ids: ids.value, body }) : ids;
}
