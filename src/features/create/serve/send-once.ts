import { deciderOf } from "../../../gateway/decide.ts";
import { forward } from "../../../gateway/forward.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { BROKEN_BODY } from "../../../proxy/attempt.ts";
import { pump } from "../../../proxy/pump.ts";
import { primaryPattern } from "../../../routing/index.ts";
import { pathWithId } from "../../../routing/lookup/paths.ts";
import type { BeginCall, Begun, IdempotencyKeys, KeptAnswer } from "../../idempotency/port.ts";
import { attemptToken, keepAnswer, refusalOf, replayed, withKeyFields } from "../../idempotency/serve/keyed-request.ts";
import { shortKeyOf } from "../../mint/serve/mint.ts";
import { type Creation, decideText, type NewEntity } from "./choose-ids.ts";
import type { Keyed, Order } from "./collect.ts";
import type { DigestCheck } from "./content-digest.ts";

/** The third step of a create: sends the request to the region of its IDs, once for each key. */

type Chosen = Result<readonly NewEntity[], GatewayError>;

export function sendOnce(
  context: RequestContext,
  creation: Creation,
  order: Order,
  chosen: Chosen,
): Response | Promise<Response> {
  const { keyed } = order;
  if (keyed !== undefined) return context.finishAlways(sendKeyed(context, creation, order, keyed, chosen));
  return chosen.ok ? send(context, order, chosen.value) : context.fail(chosen.error);
}

/** Sends, and tells the client the IDs and where the entity is. */
async function send(
  context: RequestContext,
  { target, body, keyed }: Order,
  newEntities: readonly NewEntity[],
): Promise<Response> {
  const [first, second] = newEntities as readonly [NewEntity, ...NewEntity[]];
  if (first.byCanary) context.takeCanary();
  const answer = await forward(context, first.decision, target, {
    body: body && { kind: "kept", bytes: body },
    ids: second === undefined ? undefined : newEntities.map(({ decision }) => decision.canonical).join(", "),
    check: keyed?.check,
    isKept: keyed !== undefined,
  });
  if (answer.status === 101) return answer;
  const response = new Response(answer.body, answer);
  response.headers.set("waybill-entity-id", newEntities.map(({ text }) => text).join(", "));
  const shortKeys = newEntities.map(({ decision: { entity, layout, words } }) => shortKeyOf(entity, layout, words));
  if (shortKeys.every((key) => key !== undefined)) response.headers.set("waybill-short-key", shortKeys.join(", "));
  if ((answer.status === 201 || answer.status === 202) && second === undefined && !answer.headers.has("location")) {
    const { entity, layout } = first.decision;
    response.headers.set("location", pathWithId(primaryPattern(entity, layout) ?? "", first.text));
  }
  return response;
}

/** The key stands with its IDs and region before the origin is asked, so all attempts with it have the same. */
async function sendKeyed(
  context: RequestContext,
  creation: Creation,
  order: Order,
  keyed: Keyed,
  chosen: Chosen,
): Promise<Response> {
  const { scope, key, check } = keyed;
  const { idempotency, entropy, clock } = context.gateway;
  const { ttlMs, leaseMs } = creation.create.idempotency;
  const proposed = chosen.ok ? chosen.value : [];
  const call = { scope, key, attempt: attemptToken(entropy) };
  const begun = await begin(idempotency, keyed, {
    ...call,
    proposal: proposalOf(creation, proposed),
    // Without an ID it is a look-up: a retry that comes too late for a new one still gets what its first attempt began.
    ttlMs: chosen.ok ? ttlMs : 0,
    leaseMs,
  });
  if (!begun.ok) return context.fail(begun.error);
  const { value } = begun;
  context.keyUntilMs = "untilMs" in value ? value.untilMs : undefined;
  if (value.state === "done") {
    const other = check && (await verifyStreamed(context, check));
    return other === undefined ? replayed(context, value) : context.fail(other);
  }
  if (value.state !== "started") return context.fail(refusalOf(value));
  if (!chosen.ok && !value.isResumed) {
    context.keyUntilMs = undefined;
    return context.fail(chosen.error);
  }
  const leaseUntilMs = clock.nowMs() + leaseMs;
  const finish: Finish = (answer) => {
    const isVoid = check?.isFalse === true;
    return idempotency.finish({ ...call, isVoid, leaseUntilMs, ...(answer && !isVoid ? { answer } : {}) });
  };
  try {
    // A retry has the ID and the region of its first attempt, whatever the table says by now.
    const resumed = await resume(context, creation, value.record, proposed);
    return await sendStarted(context, creation, order, resumed, { untilMs: value.untilMs, finish });
  } catch (defect) {
    await finish();
    throw defect;
  }
}

/** Begins as the version did that wrote the key. */
async function begin(
  idempotency: IdempotencyKeys,
  { fingerprint, formerFingerprint }: Keyed,
  call: Omit<BeginCall, "fingerprint">,
): ReturnType<IdempotencyKeys["begin"]> {
  const begun = await idempotency.begin({ ...call, fingerprint });
  if (!begun.ok || begun.value.state !== "mismatch" || formerFingerprint === undefined) return begun;
  const former = await formerFingerprint();
  return former === fingerprint ? begun : idempotency.begin({ ...call, fingerprint: former });
}

/** Ends the attempt; without an answer a retry asks the origin again. */
type Finish = (answer?: KeptAnswer) => Promise<unknown>;

interface Attempt {
  readonly untilMs: number;
  readonly finish: Finish;
}

/** Sends, and keeps the answer for retries. */
async function sendStarted(
  context: RequestContext,
  { create }: Creation,
  order: Order,
  resumed: Chosen,
  { untilMs, finish }: Attempt,
): Promise<Response> {
  const { keep } = create.idempotency;
  const check = order.keyed?.check;
  const unwanted = new AbortController();
  if (keep !== undefined) context.unwanted = unwanted.signal;
  const answer = resumed.ok ? await send(context, order, resumed.value) : context.fail(resumed.error);
  if (context.outcome === "digest-mismatch") {
    await finish();
    context.keyUntilMs = undefined;
    return context.fail({ reason: "digest-mismatch" });
  }
  const kept = keepAnswer(context, keep, answer);
  void kept.answer.then(() => context.onClientLeft(() => unwanted.abort()));
  // An origin may answer before it has read everything.
  const isEarly = kept.isResult && check !== undefined && check.end === undefined;
  const ended = Promise.all([kept.answer, isEarly ? check.ended : check?.end]).then(([whole, end = "complete"]) =>
    finish(end === "complete" ? whole : undefined),
  );
  // A short answer is safe before the client has it. No client waits for the end of a stream.
  if (kept.isShort && !isEarly) await ended;
  else context.waitUntil(ended);
  if (kept.isResult && (!kept.isShort || isEarly)) await Promise.race([ended, context.gateway.pause(KEEP_WAIT_MS)]);
  return withKeyFields(kept.response, untilMs, kept.isResult);
}

/** Most answers of unknown length have come by then, and a retry that follows at once finds them kept. */
const KEEP_WAIT_MS = 100;

const proposalOf = ({ create, table }: Creation, newEntities: readonly NewEntity[]) => ({
  entity: create.entity.name,
  id: newEntities.map(({ text }) => text).join(","),
  region: newEntities[0]?.decision.target.region.name ?? "",
  revision: table.revision,
});

/** The entities of an earlier attempt with the same key, in the region that was written down. */
async function resume(
  context: RequestContext,
  { create, served }: Creation,
  record: Extract<Begun, { readonly state: "started" }>["record"],
  proposed: readonly NewEntity[],
): Promise<Chosen> {
  const texts = record.id.split(",");
  const resumed: NewEntity[] = [];
  for (const [at, text] of texts.entries()) {
    const own = proposed[at];
    const decided = own?.text === text ? ok(own) : await decideText(context, served, create, text);
    if (!decided.ok) return decided;
    const { decision, byCanary } = decided.value;
    const { regions } = deciderOf(served, byCanary);
    const region = regions.get(record.region);
    if (region === undefined) {
      const known = [...regions.keys()];
      return err({ reason: "unknown-name", what: "region", name: record.region, known });
    }
    // An entity that was moved by itself is there: its former region would make it again.
    const isMoved = decision.target.rule.kind === "moved" && texts.length === 1;
    const isSame = decision.target.region.name === region.name;
    const target =
      isSame || isMoved ? decision.target : { ...decision.target, region, canary: undefined, shadow: undefined };
    resumed.push({ ...decided.value, decision: { ...decision, target } });
  }
  return ok(resumed);
}

/** Reads a body that streams to its end, for an answer that is known already: why it is not the one that was answered. */
async function verifyStreamed(
  { request: { body }, gateway }: RequestContext,
  check: DigestCheck,
): Promise<GatewayError | undefined> {
  if (body === null) return undefined;
  const { idleMs } = gateway.deadlines;
  const end = await pump(body, new WritableStream(), { idleMs, untilMs: undefined, nowMs: gateway.clock.nowMs, check });
  if (end === "complete") return undefined;
  if (end === "false-digest") return { reason: "digest-mismatch" };
  return end === "idle" ? { reason: "request-timeout", idleMs } : { reason: "malformed-request", detail: BROKEN_BODY };
}
