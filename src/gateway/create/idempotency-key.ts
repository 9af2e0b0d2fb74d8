import type { Begun } from "../../idempotency-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { GatewayError } from "../../problems/index.ts";
import { type Bytes, hexOf } from "../../routing/packs/format.ts";

/** The field `idempotency-key` of a request, its caller and its fingerprint. Pure. */

type Digest = Pick<SubtleCrypto, "digest">;

const KEY_CHARACTERS_MAX = 255;

/** What clients send bare: visible ASCII but for `"`, `,` and `;`, by which one could not tell a list or parameters. */
const BARE = /^[!#-+\--:<-~]+$/;

/** A String of RFC 9651 §3.3.3: only `"` and `\` are escaped. */
const STRING = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;

/**
 * The key, `undefined` where the request has none. Both spellings are one key: the quoted one of the draft, and the bare one of most
 * clients. Anything else is an error, for a request with a key must never run as one without.
 */
export function readIdempotencyKey(
  field: string | null,
): Result<string | undefined, { readonly reason: "idempotency-key-invalid" }> {
  if (field === null) return ok(undefined);
  const key = BARE.test(field) ? field : STRING.exec(field)?.[1]?.replaceAll(/\\(["\\])/g, "$1");
  return key === undefined || key.length > KEY_CHARACTERS_MAX ? err({ reason: "idempotency-key-invalid" }) : ok(key);
}

/** Whose keys the request's are: the hash of its credential, empty without one. Never an address, which many share. */
export async function scopeOf(request: Request, subtle: Digest): Promise<string> {
  const credential = request.headers.get("authorization");
  return credential === null ? "" : hexDigest(bytesOf(credential), subtle);
}

/** The same by a verified claim. No credential has its first character. */
export const scopeOfClaim = (claim: string, subtle: Digest): Promise<string> =>
  hexDigest(bytesOf(`\n${claim}`), subtle);

/** Names one attempt: a slow one must not end the lock of a later one. */
export const attemptToken = (entropy: { word(): number }): string =>
  Array.from({ length: 4 }, () => entropy.word().toString(16)).join("-");

/** What makes a request another one under the same key. */
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

const hexDigest = async (bytes: Bytes, subtle: Digest): Promise<string> =>
  hexOf(new Uint8Array(await subtle.digest("SHA-256", bytes)));

const bytesOf = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text));
