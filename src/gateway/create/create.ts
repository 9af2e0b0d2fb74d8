import type { BeginCall, KeptAnswer } from "../../idempotency-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { ServedTable } from "../../ports.ts";
import type { GatewayError } from "../../problems/index.ts";
import type { RequestBody } from "../../proxy/body.ts";
import { rejectFenced } from "../../proxy/deliver.ts";
import { countOf, mintRequestOf, textAt } from "../../routing/create/request.ts";
import { HORIZON_MS } from "../../routing/limits.ts";
import { planMint } from "../../routing/mint/plan.ts";
import { fieldsOf } from "../../routing/resolve/describe.ts";
import { memberOf } from "../../routing/resolve/region-sources.ts";
import type { CompiledTable, Create, Decision } from "../../routing/table.ts";
import { decideEntity, decidePath, deciderOf } from "../decide.ts";
import { mintIds } from "../mint.ts";
import { decideFor } from "../pages.ts";
import { claimsOf } from "../places/read.ts";
import type { RequestContext } from "../request.ts";
import { type Born, keepAnswer, labelled, replayed, withKeyFields } from "./answer.ts";
import { clientIdOf, judgeFreshness } from "./client-id.ts";
import { readContent } from "./content.ts";
import {
  attemptToken,
  fingerprintOf,
  readIdempotencyKey,
  refusalOf,
  scopeOf,
  scopeOfClaim,
} from "./idempotency-key.ts";

/** What is known of a request before it is sent on. `body`: as far as it was read. `ids`: of all, where it creates several. */
export interface Prepared {
  /** The client's, where it goes on with other fields. */
  readonly request?: Request;
  readonly body: RequestBody | undefined;
  readonly ids: string | undefined;
  /** Whether it only reads, whatever its method: a query of GraphQL. */
  readonly isRead?: boolean;
  /** Whether it names other entities than the one that it is decided by. */
  readonly hasOthers?: boolean | undefined;
}

/** Sends a request to the region of a decision. `target`: raw path and query there. */
export type Forward = (
  context: RequestContext,
  decision: Decision,
  target: string,
  created: Prepared,
) => Promise<Response>;

/** A collection that a request is posted to, and the table that says so. */
export interface Creation {
  readonly create: Create;
  readonly table: CompiledTable;
  readonly byCanary: boolean;
  /** The parent's ID in the path ends here; 0 for a collection that is below no entity. */
  readonly parentEnd: number;
}

/** The collection at a raw path; by the canary's table for an entity that is all its own. */
export function findCreation(
  { table, canary }: ServedTable,
  path: string,
  how: "match" | "matchRead" = "match",
): Creation | undefined {
  const byCanary = canary?.table.creates?.[how](path);
  if (canary !== undefined && byCanary !== undefined && canary.ownsEntity(byCanary.entity.entity.name)) {
    return { create: byCanary.entity, table: canary.table, byCanary: true, parentEnd: byCanary.idEnd };
  }
  const match = table.creates?.[how](path);
  if (match === undefined || canary?.ownsEntity(match.entity.entity.name) === true) return undefined;
  return { create: match.entity, table, byCanary: false, parentEnd: match.idEnd };
}

/** Whether an origin may read a collection in the path. It would create without an ID, or take the parent's for the new one. */
export const mayReadCollection = (served: ServedTable, path: string): boolean =>
  findCreation(served, path, "matchRead") !== undefined;

/**
 * Creates an entity: mints its ID, or checks the one that the client brings, and sends the request to the region of the
 * ID's key. With an idempotency key the ID and the region are written down before the origin is asked.
 */
export async function createEntity(
  context: RequestContext,
  served: ServedTable,
  creation: Creation,
  forward: Forward,
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
  const brought = clientIdOf(create, request, content.value.json);
  const asked = { brought, json: content.value.json, claims: claims.value, parent: parent.value?.decision };
  const born = await bear(context, served, creation, asked);
  content.value.json = undefined;
  const target = targetOf(context, parent.value, creation) + context.query;
  const own = brought.ok ? brought.value : undefined;
  // The client's own ID stands for a key.
  const keyText = key.value ?? (create.idempotency.byClientId ? own && `id:${own}` : undefined);
  const { bytes } = content.value;
  if (keyText === undefined) {
    if (create.idempotency.isRequired) return fail({ reason: "idempotency-key-missing", entity: create.entity.name });
    if (!born.ok) return fail(born.error);
    return labelled(await send(context, forward, born.value, target, bytes), born.value);
  }
  const scope = await scopeText(context, create, claims.value);
  if (!scope.ok) return fail(scope.error);
  const { headers } = request;
  const body = bytes ?? new TextEncoder().encode(headers.get("content-digest") ?? "");
  const payload = {
    method: context.method,
    target,
    contentType: headers.get("content-type"),
    body: new Uint8Array(body),
    id: key.value === undefined ? undefined : own,
  };
  const fingerprint = await fingerprintOf(payload, gateway.subtle);
  const keyed = { scope: scope.value, key: keyText, fingerprint, attempt: attemptToken(gateway.entropy) };
  return context.finishAlways(
    createOnce(context, served, creation, keyed, born, (all) => send(context, forward, all, target, bytes)),
  );
}

/** The same once for each key: what is about to be made is written down before the origin is asked. */
async function createOnce(
  context: RequestContext,
  served: ServedTable,
  { create, table }: Creation,
  keyed: Pick<BeginCall, "scope" | "key" | "fingerprint" | "attempt">,
  born: Result<readonly Born[], GatewayError>,
  sendAll: (born: readonly Born[]) => Promise<Response>,
): Promise<Response> {
  const { gateway } = context;
  const { ttlMs, leaseMs, keep } = create.idempotency;
  const begun = await gateway.idempotency.begin({
    ...keyed,
    proposal: proposalOf(create, born.ok ? born.value : [], table),
    // Without an ID it is a look-up: a retry that comes too late for a new one still gets what its first attempt began.
    ttlMs: born.ok ? ttlMs : 0,
    leaseMs,
  });
  if (!begun.ok) return context.fail(begun.error);
  const { value } = begun;
  context.keyUntilMs = "untilMs" in value ? value.untilMs : undefined;
  if (value.state === "done") return replayed(context, value);
  if (value.state !== "started") return context.fail(refusalOf(value));
  if (!born.ok && !value.isResumed) {
    context.keyUntilMs = undefined;
    return context.fail(born.error);
  }
  const { record, untilMs } = value;
  const { scope, key, attempt } = keyed;
  const finish = (answer?: KeptAnswer) =>
    gateway.idempotency.finish({ scope, key, attempt, ...(answer === undefined ? {} : { answer }) });
  try {
    return await answerKeyed();
  } catch (defect) {
    await finish();
    throw defect;
  }

  async function answerKeyed(): Promise<Response> {
    // A retry has the ID and the region of its first attempt, whatever the table says by now.
    const resumed = await resume(context, served, create, record, born.ok ? born.value : []);
    const unwanted = new AbortController();
    if (keep !== undefined) context.unwanted = unwanted.signal;
    const answer = resumed.ok ? labelled(await sendAll(resumed.value), resumed.value) : context.fail(resumed.error);
    const kept = keepAnswer(context, create, answer);
    void kept.answer.then(() => context.onClientLeft(() => unwanted.abort()));
    const ended = kept.answer.then(finish);
    // A short answer is safe before the client has it. No client waits for the end of a stream.
    if (kept.isShort) await ended;
    else context.waitUntil(ended);
    if (kept.isResult && !kept.isShort) await Promise.race([ended, gateway.pause(KEEP_WAIT_MS)]);
    return withKeyFields(kept.response, untilMs, kept.isResult);
  }
}

/** Most answers of unknown length have come by then, and a retry that follows at once finds them kept. */
const KEEP_WAIT_MS = 100;

const proposalOf = ({ entity }: Create, born: readonly Born[], { revision }: CompiledTable) => ({
  entity: entity.name,
  id: born.map(({ text }) => text).join(","),
  region: born[0]?.decision.target.region.name ?? "",
  revision,
});

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

/** What decides about the new IDs. `brought`: the client's own. `json`: the body, as far as the table reads it. */
interface Asked {
  readonly brought: Result<string | undefined, GatewayError>;
  readonly json: unknown;
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  readonly parent: Decision | undefined;
}

/** The IDs of the new entities, in one region: the client's own, or minted for the key that the request's sources give. */
async function bear(
  context: RequestContext,
  served: ServedTable,
  creation: Creation,
  asked: Asked,
): Promise<Result<readonly Born[], GatewayError>> {
  const { create } = creation;
  const { brought, json, parent } = asked;
  if (!brought.ok) return brought;
  const { name } = create.entity;
  const own = brought.value;
  const count = countOf(create, json) ?? 1;
  if (own !== undefined && count > 1) return err({ reason: "create-count", entity: name, count, max: 1 });
  const born =
    own === undefined
      ? await mintTogether(context, served, creation, asked, count)
      : await bornOf(context, served, creation, own);
  if (!born.ok) return born;
  const regions = new Set(born.value.map(regionOf));
  if (parent !== undefined) regions.add(parent.target.region.name);
  return regions.size > 1 ? err({ reason: "create-regions", entity: name, regions: [...regions] }) : born;
}

const regionOf = ({ decision }: Pick<Born, "decision">): string => decision.target.region.name;

/** The client's own ID, if it is fresh. */
async function bornOf(context: RequestContext, served: ServedTable, { create, table }: Creation, own: string) {
  const decided = await decideText(context, served, create, own);
  if (decided.ok) {
    const { decision, byCanary } = decided.value;
    const stale = judgeFreshness(context, create, deciderOf(served, byCanary), decision, own);
    return stale === undefined ? ok([decided.value]) : err(stale);
  }
  if (decided.error.reason !== "unknown-id") return decided;
  const far = await decideText(context, served, create, own, HORIZON_MS);
  const stale = far.ok ? judgeFreshness(context, create, table, far.value.decision, own, true) : undefined;
  return stale === undefined ? decided : err(stale);
}

/** A canary of 1 % is missed once in 20,000 times, and all draws take some 30 ms. Many IDs have some more. */
const DRAWS_MAX = 1_000;

/** Mints IDs, and draws those again that a split or a canary has in another region than the others or their parent. */
async function mintTogether(
  context: RequestContext,
  served: ServedTable,
  { create, table }: Creation,
  { json, claims, parent }: Asked,
  count: number,
): Promise<Result<readonly Born[], GatewayError>> {
  const { gateway, request, client, arrivedAtMs: nowMs } = context;
  const wanted = mintRequestOf(table, create, {
    header: (name) => request.headers.get(name) ?? undefined,
    claims,
    json,
    country: () => client.country,
    parent: (field) => parent && parentField(table, parent, field),
  });
  if (!wanted.ok) return wanted;
  const plan = planMint(table, wanted.value);
  if (!plan.ok) return plan;
  const born: Born[] = [];
  const draw = async (more: number): Promise<GatewayError | undefined> => {
    const minted = await mintIds({ gateway, served, plan: plan.value, table, nowMs }, more);
    if (!minted.ok) return minted.error;
    for (const text of minted.value.texts()) {
      const decided = await decideText(context, served, create, text);
      if (!decided.ok) return decided.error;
      born.push(decided.value);
    }
    return undefined;
  };
  let fault = await draw(count);
  const first = born.find(({ decision }) => decision.target.rule.kind !== "canary") ?? born[0];
  const home = parent?.target.region.name ?? (first && regionOf(first));
  for (let at = 0, draws = DRAWS_MAX + 8 * count; fault === undefined && at < born.length && draws > 0; ) {
    const one = born[at] as Born;
    if (regionOf(one) === home || !isByChance(one.decision.target)) at++;
    else {
      draws--;
      // Its successor stands at the end, since IDs rise.
      born.splice(at, 1);
      fault = await draw(1);
    }
  }
  return fault === undefined ? ok(born) : err(fault);
}

/** Whether another ID of the same key may be in another region. */
const isByChance = ({ canary, rule }: Decision["target"]): boolean =>
  canary !== undefined || rule.kind === "canary" || (rule.kind === "route" && rule.part !== undefined);

const parentField = (table: CompiledTable, { layout, words }: Decision, field: string): string | undefined => {
  const fields = table.layouts.get(layout)?.layout.fields.filter(({ name }) => name === field);
  return fields === undefined ? undefined : fieldsOf(fields, words)[field];
};

/** The decision for an ID on its entity's own path. */
async function decideText(
  context: RequestContext,
  served: ServedTable,
  { entity, layout }: Create,
  text: string,
  nowMs = context.arrivedAtMs,
): Promise<Result<Born, GatewayError>> {
  const outcome = await decideFor(context, served, (input) =>
    decideEntity({ ...input, nowMs }, entity.name, text, layout),
  );
  if (outcome.kind === "error") return err(outcome.error);
  if (outcome.kind !== "region") throw new Error(`the ID of ${entity.name} is on a path of another`);
  return ok({ text, decision: outcome.decision, byCanary: outcome.byCanary });
}

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

/** The entities of an earlier attempt with the same key, in the region that was written down. */
async function resume(
  context: RequestContext,
  served: ServedTable,
  create: Create,
  record: { readonly id: string; readonly region: string },
  born: readonly Born[],
): Promise<Result<readonly Born[], GatewayError>> {
  const texts = record.id.split(",");
  const resumed: Born[] = [];
  for (const [at, text] of texts.entries()) {
    const proposed = born[at];
    const decided = proposed?.text === text ? ok(proposed) : await decideText(context, served, create, text);
    if (!decided.ok) return decided;
    const { decision, byCanary } = decided.value;
    const { regions } = deciderOf(served, byCanary);
    const region = regions.get(record.region);
    if (region === undefined) {
      const known = [...regions.keys()];
      return err({ reason: "unknown-name", what: "region", name: record.region, known });
    }
    // An entity that was moved by itself is there: its former region would make it anew.
    const isMoved = decision.target.rule.kind === "moved" && texts.length === 1;
    const isSame = decision.target.region.name === region.name;
    const target =
      isSame || isMoved ? decision.target : { ...decision.target, region, canary: undefined, shadow: undefined };
    resumed.push({ ...decided.value, decision: { ...decision, target } });
  }
  return ok(resumed);
}

function send(
  context: RequestContext,
  forward: Forward,
  born: readonly Born[],
  target: string,
  bytes: ArrayBuffer | undefined,
): Promise<Response> {
  const [first, second] = born as readonly [Born, ...Born[]];
  if (first.byCanary) context.takeCanary();
  const ids = second === undefined ? undefined : born.map(({ decision }) => decision.canonical).join(", ");
  return forward(context, first.decision, target, { body: bytes && { kind: "kept", bytes }, ids });
}
