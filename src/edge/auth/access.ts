import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose";
import * as v from "valibot";
import type { Authenticate, Caller } from "../../admin-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock, Fetch, Gateway } from "../../ports.ts";
import type { AuthError } from "../../problems/errors.ts";
import { collect } from "../../proxy/body.ts";
import { withTimeout } from "../platform.ts";
import { type AccessSettings, type JwtSettings, type MintDoor, scopeOf } from "./settings.ts";

export type AccessOptions = JwtOptions & { readonly settings: AccessSettings };

export interface JwtOptions {
  readonly settings: JwtSettings;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly subtle: Pick<typeof crypto.subtle, "importKey">;
  readonly reportKeyFailure: (why: string) => void;
  readonly fetchDeadlineMs?: number;
}

/** Limits the fetches that unknown key IDs cause. */
const FETCH_INTERVAL_MS = 60_000;

const FETCH_DEADLINE_MS = 2_000;

/** The longest that a revoked key is accepted. */
const FRESH_MS = 3_600_000;

/** How long cached keys are accepted while fetches fail: Access accepts a replaced key for as long. */
const KEPT_MS = 7 * 86_400_000;

/** Access publishes two keys, with their certificates: some 10 KB. */
const BODY_BYTES_MAX = 65_536;

/** Retained keys: the first usable ones. */
const KEYS_MAX = 16;

const KEY_SET = v.object({ keys: v.array(v.unknown()) });

/** A key that can verify RS256, and that a token can name. */
const USABLE_KEY = v.object({ kty: v.literal("RSA"), kid: v.string(), n: v.string(), e: v.string() });

/**
 * Finds Access's signing keys by ID: fetched on demand, at most once a minute, and retained during outages. `unknown`: Access
 * has no such key. `unavailable`: the keys could not be fetched.
 */
function accessKeys(options: Required<JwtOptions>) {
  const { clock, fetchDeadlineMs } = options;
  let keys: ReadonlyMap<string, CryptoKey> = new Map();
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isLastGood = false;
  let running: Promise<void> = Promise.resolve();

  // A clock that was set back makes an age negative: too far away in either direction is old.
  const isWithin = (sinceMs: number, ms: number): boolean => Math.abs(clock.nowMs() - sinceMs) < ms;

  const fetchNow = async (): Promise<void> => {
    askedAtMs = clock.nowMs();
    isLastGood = false;
    const fetched = await fetchKeys(options);
    if (!fetched.ok) return options.reportKeyFailure(fetched.error);
    keys = fetched.value;
    fetchedAtMs = clock.nowMs();
    isLastGood = true;
  };

  return async (keyId: string): Promise<Result<CryptoKey, "unknown" | "unavailable">> => {
    if (!keys.has(keyId) || !isWithin(fetchedAtMs, FRESH_MS)) {
      if (!isWithin(askedAtMs, FETCH_INTERVAL_MS)) running = fetchNow();
      // The fetch may belong to another request and end with it, so each request has its own timeout.
      await withTimeout(running, fetchDeadlineMs, () => undefined);
    }
    const key = isWithin(fetchedAtMs, KEPT_MS) ? keys.get(keyId) : undefined;
    if (key !== undefined) return ok(key);
    return err(isLastGood ? "unknown" : "unavailable");
  };
}

async function fetchKeys(options: Required<JwtOptions>): Promise<Result<ReadonlyMap<string, CryptoKey>, string>> {
  const { settings, fetchDeadlineMs } = options;
  const signal = AbortSignal.timeout(fetchDeadlineMs);
  try {
    // Where Access publishes its keys.
    const url = settings.keys ?? `${settings.issuer}/cdn-cgi/access/certs`;
    const response = await options.fetch(url, { redirect: "manual", signal });
    if (response.status !== 200) return err(`status ${response.status}`);
    const body = await collect(response.body ?? [], BODY_BYTES_MAX);
    if (body === undefined) return err(`more than ${BODY_BYTES_MAX} bytes`);
    const parsed = v.safeParse(KEY_SET, JSON.parse(new TextDecoder().decode(body)));
    if (!parsed.success) return err("no set of keys");
    const published = parsed.output.keys;
    const keys = await usableKeys(published, options.subtle);
    return keys.size > 0 ? ok(keys) : err(`none of its ${published.length} keys is an RSA key with an ID`);
  } catch (error) {
    if (signal.aborted) return err(`no answer within ${fetchDeadlineMs} ms`);
    return err(error instanceof Error ? error.message : String(error));
  }
}

/** The first usable keys. Unusable keys are ignored (RFC 7517 §5). A key is used for RS256 only, whatever its other members say. */
async function usableKeys(
  published: readonly unknown[],
  subtle: AccessOptions["subtle"],
): Promise<ReadonlyMap<string, CryptoKey>> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const keys = new Map<string, CryptoKey>();
  for (const one of published) {
    const key = v.safeParse(USABLE_KEY, one);
    if (!key.success || keys.size === KEYS_MAX) continue;
    const { kid, n, e } = key.output;
    const imported = subtle.importKey("jwk", { kty: "RSA", n, e }, algorithm, false, ["verify"]);
    await imported.then((usable) => keys.set(kid, usable)).catch(() => undefined);
  }
  return keys;
}

/** `wrong`: the token is invalid; only the log has the reason. `unavailable`: the keys could not be fetched. */
export type AccessFault = { readonly kind: "wrong"; readonly why: string } | { readonly kind: "unavailable" };

/** Access's tokens have some 1 to 2 KB; groups can make them longer. */
const TOKEN_LENGTH_MAX = 8_192;

/** The only algorithm of Access. Tokens with another one, or without a signature, are rejected before the key lookup. */
const ALGORITHM = "RS256";

const CLOCK_TOLERANCE_SECONDS = 60;

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
export function mintDoor(door: MintDoor, authenticate: Authenticate, options: KeyOptions): Gateway["mintDoor"] {
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
  return settings === undefined ? async () => UNAVAILABLE : bearerReader({ ...options, settings }, ok<JWTPayload>);
}

const UNAVAILABLE = err({ reason: "authentication-unavailable" as const });

type ReadPayload<Read> = (payload: JWTPayload) => Result<Read, AccessFault>;

/** What the bearer token of a request says; `undefined` without one. */
function bearerReader<Read>(options: JwtOptions, read: ReadPayload<Read>) {
  const check = jwtCheck(options, read);
  return async ({ headers }: Request): Promise<Result<Read | undefined, AuthError>> => {
    const [, token] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return ok(undefined);
    const checked = await check(token);
    if (checked.ok) return checked;
    return checked.error.kind === "unavailable" ? UNAVAILABLE : err({ reason: "unauthenticated", why: "wrong" });
  };
}

function jwtCheck<Read>(options: JwtOptions, read: ReadPayload<Read>) {
  const { settings, clock } = options;
  const findKey = accessKeys({ fetchDeadlineMs: FETCH_DEADLINE_MS, ...options });
  return async (token: string): Promise<Result<Read, AccessFault>> => {
    if (token.length > TOKEN_LENGTH_MAX) return wrong("too long");
    try {
      const { alg, kid } = decodeProtectedHeader(token);
      if (alg !== ALGORITHM) return wrong("another algorithm");
      if (typeof kid !== "string") return wrong("no key ID");
      const key = await findKey(kid);
      if (!key.ok) return key.error === "unavailable" ? err({ kind: "unavailable" }) : wrong("unknown key");
      const { payload } = await jwtVerify(token, key.value, {
        algorithms: [ALGORITHM],
        issuer: settings.issuer,
        audience: [...settings.audiences],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ["exp"],
      });
      return read(payload);
    } catch (error) {
      return wrong(whyOf(error));
    }
  };
}

/** A service token has a name and no e-mail address; its scope is viewer. */
function callerOf(payload: JWTPayload, settings: AccessSettings): Result<Caller, AccessFault> {
  const { email, common_name: service } = payload;
  if (isName(email)) {
    return ok({ name: email, scope: scopeOf(email, settings), by: "access" });
  }
  return isName(service) ? ok({ name: service, scope: "viewer", by: "access" }) : wrong("without a name");
}

const isName = (claim: unknown): claim is string =>
  typeof claim === "string" && claim.length > 0 && claim.length <= NAME_LENGTH_MAX;

/** Without text of the token, which is not trusted. */
function whyOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `claim ${error.claim}`;
  return error instanceof errors.JOSEError ? error.code : "malformed";
}
