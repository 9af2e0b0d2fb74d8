import { mixWords, type Words } from "../ids/index.ts";
import { err, type Result } from "../ids/result.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { GatewayError } from "../problems/index.ts";
import { clientNetwork } from "../proxy/addresses/client-network.ts";
import { type Bytes, hexOf } from "../routing/bytes.ts";
import type { RequestContext } from "./request.ts";

/** The caller of a request: by its credential, its token's claims, or its address. */

type Digest = Pick<SubtleCrypto, "digest">;

/** Whose keys the request's are: the hash of its credential, empty without one. Never an address, which many share. */
export async function scopeOf(request: Request, subtle: Digest): Promise<string> {
  const credential = request.headers.get("authorization");
  return credential === null ? "" : hexDigest(bytesOf(credential), subtle);
}

/** The same by a verified claim. No credential has its first character. */
export const scopeOfClaim = (claim: string, subtle: Digest): Promise<string> =>
  hexDigest(bytesOf(`\n${claim}`), subtle);

export const hexDigest = async (bytes: Bytes, subtle: Digest): Promise<string> =>
  hexOf(new Uint8Array(await subtle.digest("SHA-256", bytes)));

export const bytesOf = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text));

/** The claims of a request's token. An invalid token is an error: it might name another region. */
export async function claimsOf(
  { clientClaims }: Pick<Gateway, "clientClaims">,
  request: Request,
): Promise<Result<Readonly<Record<string, unknown>> | undefined, GatewayError>> {
  const claims = await clientClaims(request);
  const isToken = /^ *bearer\b/i.test(request.headers.get("authorization") ?? "");
  return claims.ok && claims.value === undefined && isToken ? err({ reason: "unauthenticated", why: "wrong" }) : claims;
}

/**
 * Stands for the ID where an origin of the region is chosen: the same for the same credentials, or else for the same
 * address or IPv6 network. Without either, any origin will do.
 */
export function clientHash({ gateway, request, client: { address } }: RequestContext): Words {
  const key = request.headers.get("authorization") ?? (address && clientNetwork(address));
  if (key === undefined) return [gateway.entropy.word()];
  return [mixWords(Array.from({ length: key.length }, (_, at) => key.charCodeAt(at)))];
}
