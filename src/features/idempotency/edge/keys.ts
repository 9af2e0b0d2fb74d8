import { callObject } from "../../../edge/platform.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { BeginCall, Begun, FinishCall, IdempotencyKeys, KeptAnswer, KeyEntry } from "../port.ts";
import type { IdempotencyError } from "../problems.ts";

declare module "../../../edge/env.ts" {
  interface Env {
    readonly IDEMPOTENCY: DurableObjectNamespace<IdempotencyRpc>;
  }
}

/** One of the Durable Objects, as those who call it know it. */
export interface IdempotencyRpc extends Rpc.DurableObjectBranded {
  begin(call: BeginCall): Promise<Begun>;
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
): IdempotencyKeys {
  const call = async <Value>(
    key: string,
    send: (object: IdempotencyRpc) => Promise<Value>,
  ): Promise<Result<Value, IdempotencyError>> => {
    try {
      const name = await shardOf(key);
      return ok(await callObject(() => send(stubOf(namespace, name)), deadlineMs, true));
    } catch (error) {
      return err({ reason: "idempotency-unavailable", why: error instanceof Error ? error.message : String(error) });
    }
  };
  return {
    begin: async (what) =>
      isTooLarge(what.answer)
        ? err({ reason: "idempotency-unavailable", why: "the answer is too large to keep" })
        : call(what.key, (object) => object.begin(what)),
    async finish({ answer, ...what }) {
      // Without its answer the key stays open.
      const kept = answer === undefined || isTooLarge(answer) ? what : { ...what, answer };
      const finished = await call(what.key, (object) => object.finish(kept));
      return finished.ok ? ok(undefined) : finished;
    },
    show: (key) => call(key, (object) => object.show(key)),
  };
}
