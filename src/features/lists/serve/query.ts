import { scopeOf, scopeOfClaim } from "../../../gateway/caller.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { Gateway } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { ambiguousCookie, cookieValues } from "../../../routing/lookup/values.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import type { ListQuery } from "../table/query.ts";
import type { List } from "../table/types.ts";

type Failed = { readonly ok: false; readonly error: GatewayError };

const malformed = (detail: string): Failed => err({ reason: "malformed-request", detail });

/** A cursor's binding: the list with its parameters, and the caller by what others cannot have. */
export async function bindingOf(
  { request, gateway }: Pick<RequestContext, "request" | "gateway">,
  { path, scopeClaim, scopeCookie }: List,
  { sent }: ListQuery,
): Promise<Result<{ readonly list: string; readonly caller: string }, GatewayError>> {
  const list = await digestOf(JSON.stringify([path, ...sent]), gateway.subtle);
  if (scopeCookie !== undefined) {
    const session = cookieValues(request.headers.get("cookie") ?? undefined, scopeCookie);
    if (session === undefined) return malformed(ambiguousCookie(scopeCookie));
    return ok({ list, caller: (await scopeOfClaim(session.join(";"), gateway.subtle)).slice(0, DIGITS) });
  }
  if (scopeClaim === undefined) return ok({ list, caller: (await scopeOf(request, gateway.subtle)).slice(0, DIGITS) });
  const claims = await gateway.clientClaims(request);
  if (!claims.ok) return claims;
  const claim = scopeClaim.reduce(memberOf, claims.value as unknown);
  const isName = typeof claim === "string" ? claim !== "" : Number.isSafeInteger(claim);
  if (!isName) return err({ reason: "unauthenticated", why: "missing" });
  return ok({ list, caller: (await scopeOfClaim(String(claim), gateway.subtle)).slice(0, DIGITS) });
}

/** Hexadecimal digits of a digest: 96 bits. */
const DIGITS = 24;

async function digestOf(text: string, subtle: Gateway["subtle"]): Promise<string> {
  const bytes = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes.subarray(0, DIGITS / 2), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
