import type { Env } from "../../../edge/env.ts";
import { LateWork, lateWorkOf } from "../../../edge/machines/late.ts";
import { STATE_DEADLINE_MS } from "../../../edge/machines/rpc.ts";
import { callObject, systemClock } from "../../../edge/platform.ts";
import { err, messageOf, ok, type Result } from "../../../ids/result.ts";
import type { BeginCall, Begun, FinishCall, IdempotencyKeys, KeptAnswer, KeyEntry } from "../port.ts";
import type { IdempotencyError } from "../problems.ts";

declare module "../../../edge/env.ts" {
  interface Env {
    readonly IDEMPOTENCY: DurableObjectNamespace<IdempotencyRpc>;
  }
}

/** `notAfterMs`: when its caller no longer waits, Unix ms; callers of former versions do not say. */
export interface TimedBegin extends BeginCall {
  readonly notAfterMs?: number;
}

/** `late`: the caller does not wait any more, so the key was left as it was. `nowMs`: by the object's clock. */
export type BegunInTime = Begun | { readonly state: "late"; readonly nowMs: number };

/** One of the Durable Objects, as those who call it know it. */
export interface IdempotencyRpc extends Rpc.DurableObjectBranded {
  begin(call: TimedBegin): Promise<BegunInTime>;
  finish(call: FinishCall): Promise<void>;
  show(key: string): Promise<readonly KeyEntry[]>;
}

/** Each object takes about 1,000 calls a second. Another number loses the keys of a day: it never changes. */
const SHARDS = 64;

/** A call takes a few milliseconds from nearby and some hundred from afar. The client waits, before any origin is asked. */
const DEADLINE_MS = 4_000;

/** One answer. A row of the object holds 2 MB at most; the largest mint has 200 kB. */
export const ANSWER_BYTES_MAX = 2 ** 20;

export const sizeOf = ({ fields, body }: KeptAnswer): number =>
  fields.reduce((sum, [name, value]) => sum + name.length + value.length, body.byteLength);

const isTooLarge = (answer: KeptAnswer | undefined) => answer !== undefined && sizeOf(answer) > ANSWER_BYTES_MAX;

/** The object of a key. By its hash, so that keys that look alike go to different ones; never by its caller. */
async function shardOf(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return `keys-${(new Uint8Array(digest)[0] as number) % SHARDS}`;
}

/** Plain data crosses without the types of RPC. */
const stubOf = (namespace: DurableObjectNamespace<IdempotencyRpc>, name: string) =>
  namespace.get(namespace.idFromName(name)) as unknown as IdempotencyRpc;

/** Idempotency keys out of Durable Objects. All calls may be repeated. A stub is broken after a failure, so each call makes its own. */
export function durableIdempotency(
  namespace: DurableObjectNamespace<IdempotencyRpc>,
  deadlineMs = DEADLINE_MS,
  late = new LateWork(),
  clock = systemClock,
): IdempotencyKeys {
  /** How far the objects' clocks are ahead, if that is too far for a begin in time. */
  let aheadMs = 0;

  const call = async <Value>(
    key: string,
    send: (object: IdempotencyRpc) => Promise<Value>,
  ): Promise<Result<Value, IdempotencyError>> => {
    try {
      const name = await shardOf(key);
      return ok(await callObject(() => send(stubOf(namespace, name)), deadlineMs, true));
    } catch (error) {
      return unavailable(error);
    }
  };

  const beginIn = (name: string, what: BeginCall): Promise<BegunInTime> => {
    const { scope, key, attempt, leaseMs } = what;
    return late.take<BegunInTime>({
      deadlineMs,
      leaseMs,
      send: (notAfterMs) => stubOf(namespace, name).begin({ ...what, notAfterMs: notAfterMs + aheadMs }),
      hasTaken: ({ state }) => state === "started",
      release: async () => (await call(key, (object) => object.finish({ scope, key, attempt, isVoid: true }))).ok,
    });
  };

  const begin = async (what: BeginCall): Promise<Result<Begun, IdempotencyError>> => {
    try {
      const name = await shardOf(what.key);
      const first = await beginIn(name, what);
      if (first.state !== "late") return ok(first);
      // The answer came in time: the clocks differ.
      aheadMs = first.nowMs - clock.nowMs();
      const second = await beginIn(name, what);
      return second.state === "late" ? unavailable("the object's clock goes wrong") : ok(second);
    } catch (error) {
      return unavailable(error);
    }
  };

  return {
    begin: async (what) => (isTooLarge(what.answer) ? unavailable("the answer is too large to keep") : begin(what)),
    async finish({ answer, leaseUntilMs, ...what }) {
      // Without its answer the key stays open.
      const kept = answer === undefined || isTooLarge(answer) ? what : { ...what, answer };
      const send = () => call(what.key, (object) => object.finish(kept));
      const finished = await send();
      if (finished.ok) return ok(undefined);
      // A key that is not finished refuses its client's retries until its lease ends.
      if (leaseUntilMs !== undefined) late.repeat(async () => (await send()).ok, leaseUntilMs);
      return finished;
    },
    show: (key) => call(key, (object) => object.show(key)),
  };
}

const unavailable = (error: unknown) => err({ reason: "idempotency-unavailable", why: messageOf(error) } as const);

/** The keys of a deployment. An edge gives up sooner than a machine that has the objects. */
export const idempotencyOf = (env: Env): IdempotencyKeys =>
  durableIdempotency(env.IDEMPOTENCY, env.STATE_1 === undefined ? DEADLINE_MS : STATE_DEADLINE_MS, lateWorkOf(env));
