import { err, ok, type Result } from "../../ids/result.ts";
import type { Authenticate, Caller } from "../../ports/admin.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { AuthError } from "../../problems/errors.ts";
import { loadable } from "../../problems/loadable.ts";
import { TOKEN_LENGTH_MAX } from "../../routing/limits.ts";
import { bearerToken } from "../../routing/resolve/region-sources.ts";
import type { Claims, JwtOptions } from "./jwt.ts";
import { type AccessSettings, type JwtSettings, type MintDoor, scopeOf } from "./settings.ts";

export type AccessOptions = JwtOptions & { readonly settings: AccessSettings };

/** `wrong`: the token is invalid; only the log has the reason. `unavailable`: the keys could not be fetched. */
export type AccessFault = { readonly kind: "wrong"; readonly why: string } | { readonly kind: "unavailable" };

const NAME_LENGTH_MAX = 320;

export const wrong = (why: string): Result<never, AccessFault> => err({ kind: "wrong", why });

/**
 * Verifies a token of Cloudflare Access: a person, by e-mail address, or a service token, by name. Keys come from the team's
 * domain only; keys or URLs in the token (`jwk`, `jku`, `x5u`) are ignored.
 */
export const accessCheck = (options: AccessOptions) =>
  jwtCheck(options, (payload) => callerOf(payload, options.settings));

export type KeyOptions = Omit<JwtOptions, "settings">;

/** Finds the callers that may mint; an invalid setting lets none in. */
export function mintDoor(
  door: MintDoor,
  authenticate: Authenticate,
  options: KeyOptions,
): "open" | "off" | Authenticate {
  if (door === "open" || door === "off") return door;
  if (door === "token") return authenticate;
  if (door === "faulty") return async () => UNAVAILABLE;
  const { scope } = door;
  const read = bearerReader<Caller>({ ...options, settings: door }, ({ sub, scope: scopes }) => {
    const isAllowed = scope === undefined || (typeof scopes === "string" && scopes.split(" ").includes(scope));
    return isAllowed ? ok({ name: String(sub), scope: "mint", by: "token" }) : wrong("scope");
  });
  return async ({ request }) => {
    const caller = await read(request);
    if (!caller.ok) return caller;
    return caller.value === undefined ? err({ reason: "unauthenticated", why: "missing" }) : ok(caller.value);
  };
}

/** Verifies the tokens of clients, for the claims that a table uses. Without an issuer no claim can be believed. */
export function clientClaims(settings: JwtSettings | undefined, options: KeyOptions): Gateway["clientClaims"] {
  return settings === undefined ? async () => UNAVAILABLE : bearerReader({ ...options, settings }, ok<Claims>);
}

const UNAVAILABLE = err({ reason: "authentication-unavailable" as const });

type ReadPayload<Read> = (payload: Claims) => Result<Read, AccessFault>;

/** The rights of a request's bearer token; `undefined` without one. */
function bearerReader<Read>(options: JwtOptions, read: ReadPayload<Read>) {
  const check = jwtCheck(options, read);
  return async ({ headers }: Request): Promise<Result<Read | undefined, AuthError>> => {
    const token = bearerToken(headers.get("authorization") ?? "");
    if (token === undefined) return ok(undefined);
    const checked = await check(token);
    if (checked.ok) return checked;
    return checked.error.kind === "unavailable" ? UNAVAILABLE : err({ reason: "unauthenticated", why: "wrong" });
  };
}

const jwt = loadable("tokens", () => import("./jwt.ts"));

/** The library comes with the first token. */
function jwtCheck<Read>(options: JwtOptions, read: ReadPayload<Read>) {
  let verify: ReturnType<typeof import("./jwt.ts")["jwtVerifier"]> | undefined;
  return async (token: string): Promise<Result<Read, AccessFault>> => {
    if (token.length > TOKEN_LENGTH_MAX) return wrong("too long");
    const { jwtVerifier } = jwt.loaded ?? (await jwt.load());
    verify ??= jwtVerifier(options);
    const verified = await verify(token);
    if (verified === undefined) return err({ kind: "unavailable" });
    return verified.ok ? read(verified.value) : wrong(verified.error);
  };
}

/** A service token has a name and no e-mail address; its scope is viewer. */
function callerOf(payload: Claims, settings: AccessSettings): Result<Caller, AccessFault> {
  const { email, common_name: service } = payload;
  if (isName(email)) {
    return ok({ name: email, scope: scopeOf(email, settings), by: "access" });
  }
  return isName(service) ? ok({ name: service, scope: "viewer", by: "access" }) : wrong("without a name");
}

const isName = (claim: unknown): claim is string =>
  typeof claim === "string" && claim.length > 0 && claim.length <= NAME_LENGTH_MAX;
