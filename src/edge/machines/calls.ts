import { waitUntil } from "cloudflare:workers";
import { STATE_NODES_MAX, stateBinding } from "../../formats/machines.ts";
import { messageOf } from "../../ids/result.ts";
import type { Clock } from "../../ports/gateway.ts";
import { textHash } from "../../routing/bytes.ts";
import { systemClock } from "../platform.ts";
import type { CallKind, ThinClass, TimedCall } from "../thin-object.ts";
import { Admission, BUSY_PONG_MS } from "./admission.ts";
import { type Call, isAwaited, isPatient, type Sent, StateUnavailable, UNSENT } from "./call.ts";
import { Ownerless, type Turn } from "./ownerless.ts";
import { STATE_DEADLINE_MS, type StateRpc } from "./rpc.ts";
import { never, platformTimer, type Within } from "./timer.ts";
import { isToCome } from "./to-come.ts";
import { inTurn, turnOf, Wait } from "./wait.ts";

/** A node that is silent for this long is asked whether it is there. 250 ms marked nodes of a busy machine. */
const SILENCE_MS = 800;
const PING_MS = 1_000;

/** A node that is not there is left alone for this long; then one call finds out. */
const DOWN_MS = 2_000;

/** A node that stops hands its objects over within a second or so. Calls that may be repeated wait for it. */
const HANDED_OVER_MS = [200, 400, 800] as const;

/** When no node answered, calls fail unasked for this long; then they find out about each. */
const UNASKED_MS = 500;

/** A prompt call waits so long for another one to find out about its object. A ping has its second after it. */
const TURN_MS = 500;

/** Operators wait for the others, whose callers have deadlines of their own. */
const LONG_DEADLINE_MS = 30_000;

export interface StateNode {
  readonly name: string;
  readonly rpc: StateRpc;
}

export interface StateCallsOptions {
  readonly nodes: readonly StateNode[];
  /** By namespace and method. */
  readonly kinds: ReadonlyMap<string, ThinClass["kinds"]>;
  readonly clock: Clock;
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** The value of work, or `undefined` after a time. */
  readonly within?: Within;
}

type Settled =
  | { readonly kind: "answered"; readonly value: unknown }
  | { readonly kind: "rejected"; readonly error: unknown };
/** `failed`: by the object, or because no node owns it just now. `late`: the node is there. */
type Outcome = Settled | { readonly kind: "failed"; readonly error: unknown } | { readonly kind: "late" | "down" };

class Watched {
  readonly name: string;
  readonly rpc: StateRpc;
  /** When it was last found not to be there; 0 for a node that is. */
  downAtMs = 0;
  /** Until then a probe is under way, or died with its request. */
  probedUntilMs = 0;

  constructor({ name, rpc }: StateNode) {
    this.name = name;
    this.rpc = rpc;
  }

  /** It is time to find out whether it is there. */
  isDue(nowMs: number, downMs: number): boolean {
    const { downAtMs, probedUntilMs } = this;
    return downAtMs > 0 && !isToCome(downAtMs + downMs, nowMs, downMs) && !isToCome(probedUntilMs, nowMs, PING_MS);
  }
}

/**
 * Calls of an edge to state nodes. A node that is silent and does not answer a ping is down: its calls go to the next one, if they
 * may be repeated. A node that is there and fails a call knows no owner of the object just now: asking others would be a storm. When
 * it has failed them for long, one call each half second asks one node after the other, and the others wait for it.
 */
export function stateCalls(options: StateCallsOptions) {
  const { kinds, clock, within = platformTimer } = options;
  const nodes = options.nodes.map((node) => new Watched(node));
  const admission = new Admission(clock, within);
  const ownerless = new Ownerless(clock, within);
  let unaskedUntilMs = 0;

  async function ask(call: Call): Promise<unknown> {
    throwWhileUnasked();
    if (!isPatient(call)) {
      const endMs = clock.nowMs() + deadlineMsOf(call.kind);
      const turn = isAwaited(call) ? await turnOf(ownerless, call, TURN_MS, UNSENT) : "usual";
      return askInTime({ ...call, turn }, endMs, { answers: [], waitedMs: 0 });
    }
    // It may wait for its object's owner, and for its place.
    const wait = new Wait(clock);
    const heard = wait.heard(call);
    const send = (turn: Turn) => askInTime({ ...heard, turn }, clock.nowMs() + STATE_DEADLINE_MS, wait.sent());
    const sendInPlace = async () => {
      const place = await admission.place(STATE_DEADLINE_MS, wait.leftMs());
      if (place === undefined) throw new StateUnavailable("the state nodes are busy", wait.sent());
      // Its object may have lost its owner meanwhile.
      return admission.count(turnOf(ownerless, call, 0, wait.sent()).then(send), place);
    };
    // Those that find out are few, and may take long: they keep no place from calls of other objects. Nor do mints: clients name
    // as many sequences as they like, and each may be without an owner.
    const needsPlace = call.kind === "start";
    const last = inTurn(ownerless, heard, wait, (turn) =>
      turn === "usual" && needsPlace ? sendInPlace() : send(turn),
    );
    return Promise.race([wait.answer, last]);
  }

  function throwWhileUnasked(sent = UNSENT): void {
    if (isToCome(unaskedUntilMs, clock.nowMs(), UNASKED_MS))
      throw new StateUnavailable("no state node answered a moment ago", sent);
  }

  async function askInTime(call: Call, endMs: number, sent: Sent): Promise<unknown> {
    throwWhileUnasked(sent);
    for (const pauseMs of call.turn === "usual" ? HANDED_OVER_MS : []) {
      const outcome = await askNodes(call, endMs, sent);
      if (outcome.kind === "answered") return outcome.value;
      if (call.kind === "once" || clock.nowMs() + pauseMs >= endMs) throw outcome.error;
      await within(never(), pauseMs);
    }
    const last = await askNodes(call, endMs, sent);
    if (last.kind === "answered") return last.value;
    throw last.error;
  }

  /** `failed`: a node that is there failed the call. It throws where no node answered. */
  async function askNodes(
    call: Call,
    endMs: number,
    sent: Sent,
  ): Promise<{ kind: "answered"; value: unknown } | { kind: "failed"; error: StateUnavailable }> {
    const { kind, send, isAnswered = () => false } = call;
    let wasAsked = false;
    for (const node of candidates(call)) {
      if (clock.nowMs() >= endMs) break;
      wasAsked = true;
      // A change that a dead node got may be made later: it is not handed one.
      if ((node.downAtMs > 0 || kind === "once") && !(await isThere(node, endMs))) continue;
      // During the ping the process may have stood still, and during a pause an earlier try may have been answered.
      if (clock.nowMs() >= endMs || isAnswered()) throw unanswered(kind, sent);
      const work = promiseOf(() => send(node.rpc, sent.waitedMs));
      sent.answers.push(work);
      const outcome = await outcomeOf(node, work, endMs);
      if (isAwaited(call)) note(ownerless, call, outcome, node);
      if (outcome.kind === "answered") return outcome;
      if (outcome.kind === "failed")
        return { kind: "failed", error: new StateUnavailable(messageOf(outcome.error), sent, outcome.error) };
      if (outcome.kind === "late") throw unanswered(kind, sent);
      if (kind === "once") throw new StateUnavailable("the state node went away during the call", sent);
    }
    if (wasAsked) {
      unaskedUntilMs = clock.nowMs() + UNASKED_MS;
      admission.startAgain();
    }
    throw new StateUnavailable("no state node answers", sent);
  }

  /** Nodes that are there, in the order of the key but for one to ask first; else those of which it is time to find out. */
  function* candidates({ key, turn }: Call): Generator<Watched> {
    const ranked = rankedFor(key, nodes);
    const up = ranked.filter(({ downAtMs }) => downAtMs === 0);
    const due = ranked.filter((node) => node.isDue(clock.nowMs(), up.length > 0 ? DOWN_MS : UNASKED_MS));
    if (up.length > 0) for (const node of due) options.waitUntil(isThere(node, clock.nowMs() + PING_MS));
    const finder = ownerless.foundBy(key);
    const first = typeof turn === "number" ? up[turn % up.length] : up.find(({ name }) => name === finder);
    if (first !== undefined) yield first;
    yield* up.filter((node) => node !== first);
    yield* due;
  }

  async function isThere(node: Watched, endMs: number): Promise<boolean> {
    const leftMs = endMs - clock.nowMs();
    const found = findOut(node);
    if (leftMs >= PING_MS) return found;
    // It says something of the node after the call, too.
    options.waitUntil(found);
    return (await within(found, leftMs)) === true;
  }

  async function findOut(node: Watched): Promise<boolean> {
    const nowMs = clock.nowMs();
    node.probedUntilMs = nowMs + PING_MS;
    const pong = promiseOf(() => node.rpc.ping()).then(
      () => true,
      () => false,
    );
    const isThere = (await within(pong, PING_MS)) === true;
    if (isThere && clock.nowMs() - nowMs > BUSY_PONG_MS) admission.lower();
    node.probedUntilMs = 0;
    node.downAtMs = isThere ? 0 : clock.nowMs();
    return isThere;
  }

  async function outcomeOf(node: Watched, work: Promise<unknown>, endMs: number): Promise<Outcome> {
    const settled: Promise<Settled> = work.then(
      (value) => ({ kind: "answered", value }),
      (error: unknown) => ({ kind: "rejected", error }),
    );
    for (;;) {
      const waitMs = Math.min(SILENCE_MS, endMs - clock.nowMs());
      const heard = waitMs <= 0 ? undefined : await within(settled, waitMs);
      const end = heard ?? (await whileSilent(node, settled, endMs));
      if (end === undefined) continue;
      if (end.kind !== "rejected") return end;
      return (await isThere(node, endMs)) ? { kind: "failed", error: end.error } : lost(node);
    }
  }

  /** `undefined`: the node is there, and the call goes on. */
  async function whileSilent(node: Watched, settled: Promise<Settled>, endMs: number): Promise<Outcome | undefined> {
    if (clock.nowMs() >= endMs) return { kind: "late" };
    const first = await Promise.race([settled, isThere(node, endMs)]);
    if (typeof first !== "boolean") return first;
    return first ? undefined : lost(node);
  }

  return {
    call: (namespace: string, name: string, method: string, values: readonly unknown[]): Promise<unknown> => {
      const kind = kindOf(kinds.get(namespace)?.[method]);
      return ask({
        key: `${namespace}/${name}`,
        method: `${namespace}/${name} ${method}`,
        kind,
        send: (rpc, waitedMs) =>
          rpc.call(namespace, name, method, kind === "start" ? endingLater(values, waitedMs) : values),
      });
    },
    /** Methods of a KV namespace, of those that copies of directories need. */
    async callKv(method: string, values: readonly unknown[]): Promise<unknown> {
      const [key, value] = values as readonly [string, unknown];
      if (method !== "get") {
        const put = method === "put" ? (value as Uint8Array | string) : null;
        return ask({ key, method, kind: "long", send: (rpc) => rpc.kvPut(key, put) });
      }
      const bytes = (await ask({ key, method, kind: "long", send: (rpc) => rpc.kvGet(key) })) as ArrayBuffer | null;
      const isText = (value as { readonly type?: string } | undefined)?.type === "text";
      return bytes !== null && isText ? new TextDecoder().decode(bytes) : bytes;
    },
  };
}

export type StateCalls = ReturnType<typeof stateCalls>;

const kindOf = (kind: CallKind | "platform" | undefined): CallKind =>
  kind === undefined || kind === "platform" ? "once" : kind;

/** Its caller counted without the wait for a place. */
const endingLater = ([call, ...rest]: readonly unknown[], byMs: number): readonly unknown[] => {
  const { notAfterMs } = call as TimedCall;
  return [{ ...(call as TimedCall), notAfterMs: notAfterMs + byMs }, ...rest];
};

function note(ownerless: Ownerless, { key, method, turn }: Call, { kind }: Outcome, { name }: Watched): void {
  if (kind === "answered") {
    if (typeof turn === "number") ownerless.noteFound(key, name);
    ownerless.noteAnswer(method);
  } else if (kind !== "down") ownerless.noteFailure(method);
}

const unanswered = (kind: CallKind, sent: Sent): StateUnavailable =>
  new StateUnavailable(`no answer within ${deadlineMsOf(kind)} ms`, sent);

const deadlineMsOf = (kind: CallKind): number =>
  kind === "long" || kind === "once" ? LONG_DEADLINE_MS : STATE_DEADLINE_MS;

const lost = ({ downAtMs }: Watched): Outcome => ({ kind: downAtMs > 0 ? "down" : "late" });

/** A transport may throw before there is a promise. */
const promiseOf = async (send: () => Promise<unknown>): Promise<unknown> => send();

/**
 * The nodes in the order in which they are asked for a key, by rendezvous hashing: a dead node concerns its share of the keys, and
 * these spread over all others. Every node reaches every object, so edges need not agree.
 */
export function rankedFor<Node extends { readonly name: string }>(
  key: string,
  nodes: readonly Node[],
): readonly Node[] {
  const scored = nodes.map((node) => ({ node, score: textHash(`${node.name} ${key}`) }));
  return scored.toSorted((a, b) => b.score - a.score).map(({ node }) => node);
}

/** The calls of an edge by its bindings. `exported`: the classes of objects, among others. */
export function edgeCalls(env: object, exported: object): StateCalls {
  const bindings = env as Readonly<Record<string, StateRpc | undefined>>;
  const nodes = Array.from({ length: STATE_NODES_MAX }, (_, at) => stateBinding(at)).flatMap((name) => {
    const rpc = bindings[name];
    return rpc === undefined ? [] : [{ name, rpc }];
  });
  const classes = Object.values(exported as Readonly<Record<string, Partial<ThinClass>>>);
  const kinds = new Map(
    classes.flatMap(({ namespace, kinds: own }) => (namespace && own ? [[namespace, own] as const] : [])),
  );
  return stateCalls({ nodes, kinds, clock: systemClock, waitUntil });
}
