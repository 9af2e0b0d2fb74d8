import { bytesOf, hexDigest } from "../../../gateway/caller.ts";
import type { GatewayError } from "../../../problems/index.ts";
import type { Bytes } from "../../../routing/bytes.ts";
import type { Begun } from "../port.ts";

/** The fingerprint of a request with an `idempotency-key`. Pure. */

type Digest = Pick<SubtleCrypto, "digest">;

/** Names one attempt: a slow one must not end the lock of a later one. */
export const attemptToken = (entropy: { word(): number }): string =>
  Array.from({ length: 4 }, () => entropy.word().toString(16)).join("-");

/** The parts that tell requests under the same key apart. */
export interface Payload {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly contentType: string | null;
  readonly body: Bytes;
  /** The one that the client brings. */
  readonly id?: string | undefined;
}

export async function fingerprintOf(payload: Payload, subtle: Digest): Promise<string> {
  const { method, target, contentType, body, id } = payload;
  const parts = [method, target, contentType, await hexDigest(body, subtle), ...(id === undefined ? [] : [id])];
  return hexDigest(bytesOf(JSON.stringify(parts)), subtle);
}

/** A scope that is full gets room when its oldest key ends, which may be soon or in a day. */
const FULL_RETRY_SECONDS = 60;

/** The problem of a begin after which nothing may be done. */
export function refusalOf(begun: Extract<Begun, { readonly state: "running" | "mismatch" | "full" }>): GatewayError {
  switch (begun.state) {
    case "running":
      return { reason: "idempotency-key-in-use", retryAfterSeconds: begun.retryAfterSeconds };
    case "mismatch":
      return { reason: "idempotency-key-mismatch" };
    case "full": {
      const { max, which } = begun;
      return { reason: "idempotency-keys-exhausted", max, which, retryAfterSeconds: FULL_RETRY_SECONDS };
    }
  }
}
