import type { Caller } from "../../auth-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { AdminToken } from "./admin-tokens.ts";

/** What the check needs of WebCrypto and workerd. */
export type TokenCrypto = Pick<typeof crypto.subtle, "digest" | "timingSafeEqual">;

/** Why a token is not taken: for the log, never for who sent it. */
export type TokenFault = "malformed" | "unknown";

/** RFC 6750 §2.1: the scheme's name in any case (RFC 9110 §11.1), spaces, then `b64token`. Two fields come joined by a comma, which fits nothing. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{32,512}=*)$/i;

/**
 * Finds whose token it is. A presented token is compared by its digest, with every entry and to the last byte, so that the time says neither which entry it
 * was nor how near to one it came.
 */
export function bearerCheck(tokens: readonly AdminToken[], subtle: TokenCrypto) {
  const encoder = new TextEncoder();
  /** `authorization`: the value of the field. */
  return async (authorization: string): Promise<Result<Caller, TokenFault>> => {
    const [, token] = BEARER.exec(authorization) ?? [];
    if (token === undefined) return err("malformed");
    const presented = await subtle.digest("SHA-256", encoder.encode(token));
    let bearer: AdminToken | undefined;
    for (const entry of tokens) if (subtle.timingSafeEqual(presented, entry.digest)) bearer = entry;
    return bearer === undefined ? err("unknown") : ok({ name: bearer.name, scope: bearer.scope, by: "token" });
  };
}
