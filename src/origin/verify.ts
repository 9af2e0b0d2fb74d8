import { err, ok, type Result } from "../ids/result.ts";
import { parseSignature, SIGNATURE_FIELD, signedText, UNKNOWN_ADDRESS } from "../proxy/signature.ts";
import { isSignedWith, type OriginKey } from "./keys.ts";
import { claimOf, headerOf, type RequestLike } from "./request.ts";

export interface VerifyOptions {
  /** The gateway's keys. During a rotation, the old and the new one. */
  readonly keys: readonly OriginKey[];
  /** Maximum difference between the signature's time and now; 300 by default. A request can be replayed within it. */
  readonly toleranceSeconds?: number;
  /** Unix time in milliseconds; `Date.now` by default. */
  readonly now?: () => number;
  /** The regions that this origin serves. Requests for others are rejected. Absent: any. */
  readonly regions?: readonly string[];
}

/** The facts that the gateway's signature proves. */
export interface VerifiedRequest {
  /** `undefined` for a request without an ID. */
  readonly entityId: string | undefined;
  readonly region: string;
  /** Revision of the routing table that made the decision. */
  readonly revision: number;
  /** Epoch of the entity's move; 0 if it never moved. */
  readonly epoch: number;
  /** The region that owns the entity, if this is a read of the copy that this region has; `undefined` otherwise. */
  readonly copyOf: string | undefined;
  /** `undefined` if the gateway does not know it. */
  readonly clientAddress: string | undefined;
  readonly signedAtMs: number;
  readonly keyId: string;
}

/** Why a request is not accepted as the gateway's. */
export type SignatureFault =
  | { readonly reason: "missing" }
  | { readonly reason: "malformed" }
  | { readonly reason: "unknown-key"; readonly keyId: string }
  | { readonly reason: "mismatch" }
  /** Negative for a time in the future. */
  | { readonly reason: "expired"; readonly ageSeconds: number }
  | { readonly reason: "wrong-region"; readonly region: string };

const TOLERANCE_SECONDS = 300;

/**
 * Verifies that the gateway sent this request with this method, path, query, ID, region, revision, epoch and client
 * address. The body and other headers are not signed. Rejects only for invalid keys.
 */
export async function verifyRequest(
  request: RequestLike,
  options: VerifyOptions,
): Promise<Result<VerifiedRequest, SignatureFault>> {
  const value = headerOf(request, SIGNATURE_FIELD);
  if (value === undefined) return err({ reason: "missing" });
  const field = parseSignature(value);
  if (field === undefined) return err({ reason: "malformed" });
  const { keyId, seconds, clientAddress, mac } = field;
  const claim = claimOf(request, clientAddress);
  const text = claim && signedText(claim, field);
  if (claim === undefined || text === undefined) return err({ reason: "malformed" });
  const key = options.keys.find(({ id }) => id === keyId);
  if (key === undefined) return err({ reason: "unknown-key", keyId });

  if (!(await isSignedWith(key, mac, text))) return err({ reason: "mismatch" });

  const { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now, regions } = options;
  const ageSeconds = Math.floor(now() / 1000) - seconds;
  if (Math.abs(ageSeconds) > toleranceSeconds) return err({ reason: "expired", ageSeconds });
  const { id, region, revision, epoch, copyOf } = claim;
  if (regions !== undefined && !regions.includes(region)) return err({ reason: "wrong-region", region });
  return ok({
    entityId: id === "" ? undefined : id,
    region,
    revision,
    epoch,
    copyOf,
    clientAddress: clientAddress === UNKNOWN_ADDRESS ? undefined : clientAddress,
    signedAtMs: seconds * 1000,
    keyId,
  });
}
