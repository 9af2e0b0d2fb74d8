import { err, type Result } from "../ids/result.ts";
import type { Admission, Admitted, MovedKey, MovedMemory, ProxyPorts } from "../ports/gateway.ts";
import type { CompiledTable, Decision, IdDecision, Origin, Region } from "../routing/table.ts";
import { type AttemptError, type AttemptLimits, attemptOnce, limitsFor, type OriginResponse } from "./attempt.ts";
import type { ProxyError } from "./errors.ts";
import { asksUpgrade, type ProxyRequest } from "./origin-request.ts";
import { checkOrigin } from "./origin-response.ts";
import { type Attempt, candidatesFor, chooseOrigin } from "./origins.ts";

/** How often a request may be sent when no answer came (RFC 9110 §9.2.2), and where to. */
export interface Repeatability {
  /** Whether the same request may be sent again at all. */
  readonly isRepeatable: boolean;
  /** Whether its effect is the same once or twice, so that another region may be asked for it. */
  readonly isIdempotent: boolean;
  /** Whether it only reads (RFC 9110 §9.2.1), so that another region's copy will do. */
  readonly isRead: boolean;
}

/** Those that a method-not-allowed lists: TRACE never goes on. */
export const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** RFC 9110 §9.2.1, without TRACE, which goes no further. */
export const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const IDEMPOTENT = new Set([...SAFE, "PUT", "DELETE"]);

/** The client's word that an origin takes the request for the same one when it comes again. */
const IDEMPOTENCY_KEY = "idempotency-key";

/**
 * A read, an idempotent method, or one with an idempotency key, as long as its body is at hand. A body that was streamed is
 * gone, and an upgrade is the beginning of a conversation.
 */
export function repeatability({ method, body, request, isRead: reads }: ProxyRequest): Repeatability {
  if (asksUpgrade({ request })) return { isRepeatable: false, isIdempotent: false, isRead: false };
  const isRead = reads === true || SAFE.has(method);
  const isIdempotent = isRead || IDEMPOTENT.has(method) || (request.headers.get(IDEMPOTENCY_KEY) ?? "").trim() !== "";
  return { isRepeatable: isIdempotent && body.kind !== "stream", isIdempotent, isRead };
}

export type Delivery = Result<OriginResponse, ProxyError>;

type Failed = Extract<Delivery, { readonly ok: false }>;

/** The possible second attempts, worked out when the first gave no answer. */
interface Retries {
  /** All attempts in turn, the first included. */
  readonly attempts: readonly Attempt[];
  readonly sendsMax: number;
  /** Whether other regions are among them. */
  readonly hasOthers: boolean;
}

function retriesOf(proxyRequest: ProxyRequest, region: Region): Retries {
  const { isRepeatable, isIdempotent, isRead } = repeatability(proxyRequest);
  const mayFailOver = isIdempotent && (isRead || region.failoverWrites);
  const candidates = candidatesFor(region, proxyRequest.regions, proxyRequest.decision.identity, mayFailOver);
  return {
    // A kept connection may be closed just as it is used again: an only origin is asked twice.
    attempts: isRepeatable && candidates.length === 1 ? [...candidates, ...candidates] : candidates,
    sendsMax: isRepeatable ? SENDS_MAX : 1,
    hasOthers: candidates.at(-1)?.region !== region,
  };
}

/**
 * Asks a region's origins in turn. A request that may have had an effect is never sent twice. Retries are paid for from
 * the region's budget. An origin that keeps failing is passed over.
 */
export async function sendToRegion(proxyRequest: ProxyRequest, region: Region, deps: ProxyPorts): Promise<Delivery> {
  const { retryBudget, clock, originHealth, deadlines } = deps;
  if (!retryBudget.isFull) retryBudget.earn(region.name);
  const { arrivedAtMs, passesBody, decision } = proxyRequest;
  // However its ID is written, an entity keeps to one origin.
  const origin = region.servers.length === 1 ? region.servers[0] : chooseOrigin(region, decision.identity);
  const first = origin && { region, origin };
  let turns: Turns | undefined;
  const more = (): Turns => (turns ??= new Turns(proxyRequest, region, first, deps));
  for (let attempt: Attempt | undefined = first; attempt !== undefined; attempt = more().next()) {
    const nowMs = clock.nowMs();
    const limits = limitsFor(decision.entity, attempt.region, deadlines, arrivedAtMs, passesBody);
    if (turns?.isOver(attempt, limits, nowMs) === true) break;
    const admission: Admission | undefined =
      turns === undefined
        ? originHealth.admit(attempt.origin, attempt.region.breaker, nowMs)
        : turns.admit(attempt, nowMs);
    if (admission === undefined || admission.state === "open") {
      more().passOver(admission);
      continue;
    }
    if (turns !== undefined && turns.sent > 0 && !(await turns.payRepeat(attempt, admission.state))) break;
    proxyRequest.attempts += 1;
    const ask = attempt.origin.isPeer === true ? askPeer : attemptOnce;
    const outcome = await ask(proxyRequest, attempt, limits, deps);
    if (outcome.ok) {
      originHealth.report(attempt.region, attempt.origin, undefined, clock.nowMs(), admission.state);
      return outcome;
    }
    if (more().isFinal(attempt, outcome.error, admission.state)) break;
  }
  return err(more().error);
}

/** Gateways that serve regions which are not this one's. */
export interface Peers {
  /** One attempt, of which the gateway makes as many as its origins need. */
  readonly ask: typeof attemptOnce;
  /** Follows what a gateway said of an entity, once; `undefined` where it said nothing that helps. */
  readonly decideAnew: (
    proxyRequest: ProxyRequest,
    refused: ProxyError,
    deps: ProxyPorts,
  ) => Promise<Delivery> | undefined;
}

declare module "../ports/gateway.ts" {
  interface ProxyPorts {
    /** Absent: no other gateway serves a region. */
    readonly peers?: Peers | undefined;
  }
}

/** Another gateway has origins of its own to ask in turn. */
const askPeer: Peers["ask"] = (proxyRequest, attempt, limits, deps) =>
  (deps.peers as Peers).ask(proxyRequest, attempt, limits, deps);

/** The turns of a region's origins, once the first one gave no answer. */
class Turns {
  /** Requests sent so far. */
  sent = 0;
  readonly #first: Attempt | undefined;
  readonly #proxyRequest: ProxyRequest;
  readonly #region: Region;
  readonly #deps: ProxyPorts;
  #turn = 0;
  #retries: Retries | undefined;
  #last: AttemptError | undefined;
  #retryAfterMs = Infinity;
  /** Not asked again. */
  #left: Origin | undefined;
  #failed: Origin | undefined;
  #isLast = false;

  constructor(proxyRequest: ProxyRequest, region: Region, first: Attempt | undefined, deps: ProxyPorts) {
    this.#first = first;
    this.#proxyRequest = proxyRequest;
    this.#region = region;
    this.#deps = deps;
  }

  /** The turn after one that gave no answer. */
  next(): Attempt | undefined {
    this.#retries ??= retriesOf(this.#proxyRequest, this.#region);
    this.#turn += 1;
    if (this.#isLast) return undefined;
    const attempt = this.#retries.attempts[this.#turn];
    if (attempt !== undefined || this.sent > 0 || this.#first === undefined) return attempt;
    // Single requests must not close a region: its last origin is asked all the same, by a few at a time.
    this.#isLast = true;
    return this.#first;
  }

  isOver({ origin }: Attempt, { total }: AttemptLimits, nowMs: number): boolean {
    if (this.#retries === undefined) return false;
    if (origin === this.#left || this.sent >= this.#retries.sendsMax) return true;
    return total !== undefined && nowMs >= total.untilMs && this.#last !== undefined;
  }

  /** How the origin is asked; `undefined`: it is left out. */
  admit({ region, origin }: Attempt, nowMs: number): Admission | undefined {
    const { originHealth } = this.#deps;
    const { breaker } = region;
    if (this.sent > 0 && this.#isKeptForOthers(region)) return undefined;
    return this.#isLast && breaker !== undefined
      ? originHealth.admitLast(origin, breaker, nowMs)
      : originHealth.admit(origin, breaker, nowMs);
  }

  /** The breaker is open: it may be asked again later. */
  passOver(admission: Extract<Admission, { readonly state: "open" }> | undefined): void {
    if (admission !== undefined) this.#retryAfterMs = Math.min(this.#retryAfterMs, admission.retryAfterMs);
  }

  /** Other regions keep their turn, however many origins this one has. */
  #isKeptForOthers(region: Region): boolean {
    const { hasOthers, sendsMax } = this.#retries as Retries;
    return hasOthers && region === this.#region && this.sent >= sendsMax - 1;
  }

  /** Waits before a request is sent again, if the region's budget has it. */
  async payRepeat({ origin }: Attempt, admitted: Admitted): Promise<boolean> {
    const { retryBudget, originHealth, entropy, pause } = this.#deps;
    this.#proxyRequest.watchClient();
    if (!retryBudget.spend(this.#region.name)) {
      originHealth.release(origin, admitted);
      return false;
    }
    await pause((entropy.word() / 2 ** 32) * JITTER_MS * 2 ** (this.sent - 1));
    return true;
  }

  /** Notes why there is no answer: whether no other origin can help. */
  isFinal(attempt: Attempt, error: AttemptError, admitted: Admitted): boolean {
    const { origin } = attempt;
    this.sent += 1;
    this.#last = error;
    reportFailure(this.#proxyRequest, attempt, error, origin === this.#failed ? "again" : admitted, this.#deps);
    this.#failed = origin;
    const { reason } = error.error;
    // One that took too long is not waited for again. A gateway that answered has asked its origins.
    if (reason === "origin-timeout" || error.isAnswer === true) this.#left = origin;
    return reason !== "origin-timeout" && reason !== "origin-unreachable" && reason !== "origin-open-circuit";
  }

  get error(): ProxyError {
    return (
      this.#last?.error ?? {
        reason: "origin-open-circuit",
        region: this.#region.name,
        retryAfterMs: this.#retryAfterMs,
      }
    );
  }
}

/** Each attempt may cost a connection time-out; a client does not wait for more of them than this. */
const SENDS_MAX = 4;

/** Retries of many requests that failed together are spread over this, and over twice as much each time. */
const JITTER_MS = 20;

function reportFailure(
  { waitUntil }: ProxyRequest,
  { region, origin }: Attempt,
  { fault, isInDoubt, isAnswer }: AttemptError,
  as: Admitted | "again",
  deps: ProxyPorts,
): void {
  const { originHealth: health, clock } = deps;
  if (fault !== undefined || isAnswer === true) {
    health.report(region, origin, fault, clock.nowMs(), as);
    return;
  }
  if (as !== "again") health.release(origin, as);
  if (isInDoubt === true) waitUntil(ping(region, origin, deps));
}

/**
 * Asks an origin whether it is there. The cause of a broken upload can be known in no other way: the runtime takes the
 * first bytes of a body before there is a connection.
 */
async function ping(region: Region, origin: Origin, deps: ProxyPorts): Promise<void> {
  const { fault } = await checkOrigin(origin, { path: "/", timeoutMs: PING_TIMEOUT_MS }, deps);
  deps.originHealth.report(region, origin, fault, deps.clock.nowMs());
}

const PING_TIMEOUT_MS = 2_000;

/** A fence stands for as long as the last changes are copied and a table is published: often a matter of seconds. */
const RETRY_AFTER_MS = 2_000;

/**
 * Refuses a write to an entity whose move is fenced, before any origin is asked; reads go on to where the entity is. An
 * upgrade is no read: what comes over a WebSocket would be written in a region that the entity is about to leave.
 * It spares clients a detour. The fence at the origin makes a move safe (docs/guides/move-entities.md): other gateways
 * may have older tables.
 */
export const rejectFenced = (
  { target: { move } }: Decision,
  method: string,
  isUpgrade: boolean,
): ProxyError | undefined => {
  if (move?.state !== "fenced" || (SAFE.has(method) && !isUpgrade)) return undefined;
  return { reason: "entity-moving", retryAfterMs: RETRY_AFTER_MS };
};

/** In a 421 (RFC 9110 §15.5.20) of an origin: the region that has the entity. */
const REGION_FIELD = "waybill-region";

/**
 * Delivers a request to the region that has the entity. An origin that says "not mine, but that region's" is taken at its
 * word once; its 421 never reaches the client. The table's word on moved entities goes before the origins'. A
 * remembered move counts where the table decides on the same region again: another table, or a canary, is not held to it.
 */
export async function deliver(proxyRequest: ProxyRequest, deps: ProxyPorts): Promise<Delivery> {
  const { decision } = proxyRequest;
  const { target } = decision;
  const { region, move } = target;
  const fenced = move && rejectFenced(decision, proxyRequest.method, asksUpgrade(proxyRequest));
  if (fenced !== undefined) return err(fenced);
  const isSettled = target.rule.kind === "moved" || proxyRequest.hasOthers === true;
  const { movedMemory } = deps;
  const key = isSettled || movedMemory?.isEmpty !== false || !isRemembered(decision) ? undefined : movedKeyOf(decision);
  if (key !== undefined) proxyRequest.watchClient();
  const name = key && (await movedMemory?.recall(key));
  const known = name === undefined ? undefined : proxyRequest.regions.get(name);
  const first = known ?? region;
  const answer = await sendToRegion(proxyRequest, first, deps);
  if (!answer.ok) return orAnew(proxyRequest, answer, deps);
  if (answer.value.response.status !== 421) return answer;
  if (known !== undefined && key !== undefined && regionNamedBy(answer.value.response) !== undefined) {
    movedMemory?.forget(key);
  }
  return misdirected(proxyRequest, answer.value, first, isSettled, deps);
}

/** By what another gateway, whose table is newer, says of the entity. */
const orAnew = (proxyRequest: ProxyRequest, failed: Failed, deps: ProxyPorts): Promise<Delivery> | Delivery =>
  (failed.error.reason === "peers-disagree" && deps.peers?.decideAnew(proxyRequest, failed.error, deps)) || failed;

/** After a 421 of an origin in the region `first`, or in one that it failed over to. */
export async function misdirected(
  proxyRequest: ProxyRequest,
  answer: OriginResponse,
  first: Region,
  isSettled: boolean,
  deps: ProxyPorts,
): Promise<Delivery> {
  const { response, region: sent } = answer;
  const named = regionNamedBy(response);
  if (named === undefined) return { ok: true, value: answer };
  await discard(answer);
  if (isSettled) return disagree(sent, "the table, or another ID of the request, says that it is there");
  const other = proxyRequest.regions.get(named);
  if (other === undefined) return disagree(sent, "the region that it names is not in the table");
  if (other === sent) return disagree(sent, "it names itself");
  return follow(proxyRequest, sent, other, sent === first, deps);
}

/** The body of an answer that no client gets must not hold its connection. */
export const discard = async ({ response, bytes }: OriginResponse): Promise<void> =>
  bytes === undefined ? response.body?.cancel().catch(() => undefined) : undefined;

/** Whether it is remembered where origins say that its entity is. */
export const isRemembered = (decision: Decision): decision is IdDecision =>
  decision.by === "id" && decision.entity.rememberMovedSeconds > 0;

/** The region that an origin names for an entity that is not its own. */
const regionNamedBy = ({ status, headers }: Response): string | undefined =>
  status === 421 ? (headers.get(REGION_FIELD) ?? undefined) : undefined;

/** `isOwn`: the 421 is of the region that was decided on. Another one's, after failover, is believed for this request only. */
async function follow(
  proxyRequest: ProxyRequest,
  disowner: Region,
  region: Region,
  isOwn: boolean,
  deps: ProxyPorts,
): Promise<Delivery> {
  const { decision } = proxyRequest;
  const { entity } = decision;
  const remember = () => {
    // Where the table says it too, there is nothing to remember.
    if (!isOwn || !isRemembered(decision) || region === decision.target.region) return;
    deps.movedMemory?.remember(movedKeyOf(decision), region.name, entity.rememberMovedSeconds);
  };
  if (proxyRequest.body.kind === "stream") {
    remember();
    return err({ reason: "body-too-large-to-replay", region: disowner.name, bytesMax: entity.replayBytesMax });
  }
  const answer = await sendToRegion(proxyRequest, region, deps);
  if (!answer.ok) return orAnew(proxyRequest, answer, deps);
  const { response, region: sent } = answer.value;
  if (regionNamedBy(response) === undefined) {
    // One that is in trouble confirms nothing. A 404 does: the entity would be there.
    if (sent === region && response.status < 500) remember();
    return answer;
  }
  await discard(answer.value);
  return disagree(region, "it was named by another one, and names one itself");
}

const disagree = ({ name }: Region, why: string): Delivery => err({ reason: "origins-disagree", region: name, why });

/** Words alone are not one ID: those of XID and ObjectId may be equal. */
export const movedKeyOf = ({ entity, layout, words, target }: IdDecision): MovedKey => ({
  entity: entity.name,
  id: `${layout}:${words.join(".")}`,
  decided: target.region.name,
});

/** The decision after what origins said of the entity at its own path. */
export async function remembered(
  movedMemory: MovedMemory | undefined,
  { regions }: CompiledTable,
  decision: IdDecision,
): Promise<IdDecision> {
  const { entity, target } = decision;
  if (movedMemory === undefined || movedMemory.isEmpty || target.rule.kind === "moved") return decision;
  if (entity.rememberMovedSeconds === 0) return decision;
  const name = await movedMemory.recall(movedKeyOf(decision));
  const region = name === undefined ? undefined : regions.get(name);
  return region === undefined ? decision : { ...decision, target: { ...target, region } };
}
