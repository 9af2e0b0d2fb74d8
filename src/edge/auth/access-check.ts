import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose";
import type { Caller } from "../../auth-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import type { AccessKeys } from "./access-keys.ts";
import { type AccessSettings, isOperator } from "./access-settings.ts";

export interface AccessCheckOptions {
  readonly settings: AccessSettings;
  readonly keys: AccessKeys;
  readonly clock: Clock;
}

/** `wrong`: the token, for a reason that is the log's alone. `unavailable`: nobody can say, because Access cannot be asked. */
export type AccessFault = { readonly kind: "wrong"; readonly why: string } | { readonly kind: "unavailable" };

/** Access's tokens have some 1 to 2 KB; groups can make them longer. */
const TOKEN_LENGTH_MAX = 8_192;

/** The one algorithm that Access signs with. Any other, and a token without a signature, is refused before a key is looked for. */
const ALGORITHM = "RS256";

const CLOCK_TOLERANCE_SECONDS = 60;

const NAME_LENGTH_MAX = 320;

const wrong = (why: string): Result<never, AccessFault> => err({ kind: "wrong", why });

/**
 * Who a token of Cloudflare Access stands for: a person by e-mail address, or a service token by its name. The key is always one that
 * the team's domain publishes: what a token itself brings or points to (`jwk`, `jku`, `x5u`) is not looked at.
 */
export function accessCheck({ settings, keys, clock }: AccessCheckOptions) {
  return async (token: string): Promise<Result<Caller, AccessFault>> => {
    if (token.length > TOKEN_LENGTH_MAX) return wrong("too long");
    const keyId = keyIdOf(token);
    if (!keyId.ok) return wrong(keyId.error);
    const key = await keys.find(keyId.value);
    if (!key.ok) return key.error === "unavailable" ? err({ kind: "unavailable" }) : wrong("unknown key");
    try {
      const { payload } = await jwtVerify(token, key.value, {
        algorithms: [ALGORITHM],
        issuer: settings.issuer,
        audience: [...settings.audiences],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ["exp"],
      });
      return callerOf(payload, settings);
    } catch (error) {
      return wrong(whyOf(error));
    }
  };
}

function keyIdOf(token: string): Result<string, string> {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    if (alg !== ALGORITHM) return err("another algorithm");
    return typeof kid === "string" ? ok(kid) : err("no key ID");
  } catch {
    return err("malformed");
  }
}

/** A service token has a name and no address; it is a viewer. */
function callerOf(payload: JWTPayload, settings: AccessSettings): Result<Caller, AccessFault> {
  const { email, common_name: service } = payload;
  if (isName(email)) {
    return ok({ name: email, scope: isOperator(email, settings) ? "operator" : "viewer", by: "access" });
  }
  return isName(service) ? ok({ name: service, scope: "viewer", by: "access" }) : wrong("nobody's");
}

const isName = (claim: unknown): claim is string =>
  typeof claim === "string" && claim.length > 0 && claim.length <= NAME_LENGTH_MAX;

/** Without the token's own texts, which are anybody's. */
function whyOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `claim ${error.claim}`;
  return error instanceof errors.JOSEError ? error.code : "malformed";
}
