import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  importJWK,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import * as v from "valibot";
import { err, messageOf, ok, type Result } from "../../ids/result.ts";
import type { Clock, Fetch } from "../../ports/gateway.ts";
import { collect } from "../../proxy/body.ts";
import { withTimeout } from "../platform.ts";
import type { JwtSettings } from "./settings.ts";

export type Claims = JWTPayload;

export interface JwtOptions {
  readonly settings: JwtSettings;
  readonly fetch: Fetch;
  readonly clock: Clock;
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

/** A key that the library's resolver takes for RS256 signatures: its purpose in `use`, `key_ops`, `alg` (RFC 7517 §4.2 to §4.4). */
const USABLE_KEY = v.looseObject({
  kty: v.literal("RSA"),
  use: v.exactOptional(v.literal("sig")),
  key_ops: v.exactOptional(v.pipe(v.array(v.string()), v.includes("verify"))),
  alg: v.exactOptional(v.literal("RS256")),
  kid: v.exactOptional(v.string()),
});

/**
 * An issuer's signing keys: fetched on demand, at most once a minute, and retained during outages. The library's remote set
 * does not fit: on Workers each request starts a fetch of its own, a failed one has no cool-down, and it reads the clock itself.
 */
function issuerKeys(options: Required<JwtOptions>) {
  const { clock, fetchDeadlineMs } = options;
  let keys: JWTVerifyGetKey | undefined;
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

  return {
    /** The keys at hand; fetched before where they are old, or `lacksOne`. */
    async current(lacksOne = false): Promise<JWTVerifyGetKey | undefined> {
      if (lacksOne || !isWithin(fetchedAtMs, FRESH_MS)) {
        if (!isWithin(askedAtMs, FETCH_INTERVAL_MS)) running = fetchNow();
        // The fetch may belong to another request and end with it, so each request has its own timeout.
        await withTimeout(running, fetchDeadlineMs, () => undefined);
      }
      return isWithin(fetchedAtMs, KEPT_MS) ? keys : undefined;
    },
    isLastGood: () => isLastGood,
  };
}

async function fetchKeys(options: Required<JwtOptions>): Promise<Result<JWTVerifyGetKey, string>> {
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
    const keys = await usableKeys(published);
    return keys.length > 0
      ? ok(createLocalJWKSet({ keys }))
      : err(`none of its ${published.length} keys is an RSA key that verifies ${ALGORITHM}`);
  } catch (error) {
    if (signal.aborted) return err(`no answer within ${fetchDeadlineMs} ms`);
    return err(messageOf(error));
  }
}

/** The first usable keys. Unusable keys are ignored (RFC 7517 §5). */
async function usableKeys(published: readonly unknown[]): Promise<JWK[]> {
  const keys: JWK[] = [];
  for (const one of published) {
    const key = v.safeParse(USABLE_KEY, one);
    if (!key.success || keys.length === KEYS_MAX) continue;
    const imported = await importJWK(key.output, ALGORITHM).catch(() => undefined);
    if (imported instanceof CryptoKey && imported.type === "public") keys.push(key.output);
  }
  return keys;
}

/** The only algorithm of Access. Tokens with another one, or without a signature, are rejected before the key lookup. */
const ALGORITHM = "RS256";

const CLOCK_TOLERANCE_SECONDS = 60;

/** Verifies tokens of one issuer; the keys are fetched with the first. `undefined`: they could not be fetched. */
export function jwtVerifier(options: JwtOptions) {
  const { settings, clock } = options;
  const keys = issuerKeys({ fetchDeadlineMs: FETCH_DEADLINE_MS, ...options });
  const optionsNow = (): JWTVerifyOptions => ({
    algorithms: [ALGORITHM],
    issuer: settings.issuer,
    audience: [...settings.audiences],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    currentDate: new Date(clock.nowMs()),
    requiredClaims: ["exp"],
  });
  return async (token: string): Promise<Result<Claims, string> | undefined> => {
    try {
      if (decodeProtectedHeader(token).alg !== ALGORITHM) return err("another algorithm");
    } catch {
      return err("malformed");
    }
    const atHand = await keys.current();
    let verified = atHand && (await verify(token, atHand, optionsNow()));
    if (verified?.ok === false && verified.error === UNKNOWN_KEY) {
      const fresh = await keys.current(true);
      verified = fresh && (await verify(token, fresh, optionsNow()));
    }
    const mayBeValid = verified?.ok === false && verified.error === UNKNOWN_KEY && !keys.isLastGood();
    return mayBeValid ? undefined : verified;
  };
}

/** A key that is published by now might verify the token. */
const UNKNOWN_KEY = "unknown key";

async function verify(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<Result<JWTPayload, string>> {
  // The ID is optional (RFC 7515 §4.1.4), and needed where several keys fit (OpenID Connect Core §10.1).
  const { kid } = decodeProtectedHeader(token);
  try {
    return ok((await jwtVerify(token, keys, options)).payload);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return err(UNKNOWN_KEY);
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      return kid === undefined ? err("no key ID, and several keys fit") : verifyByEach(token, error, options);
    }
    // Without an ID only the signature shows that the issuer has another key by now.
    const mayBeNew = kid === undefined && error instanceof errors.JWSSignatureVerificationFailed;
    return err(mayBeNew ? UNKNOWN_KEY : whyOf(error));
  }
}

/** Keys may share an ID (RFC 7517 §4.5): each of them is the issuer's. */
async function verifyByEach(
  token: string,
  keys: AsyncIterable<CryptoKey>,
  options: JWTVerifyOptions,
): Promise<Result<JWTPayload, string>> {
  let last = UNKNOWN_KEY;
  for await (const key of keys) {
    try {
      return ok((await jwtVerify(token, key, options)).payload);
    } catch (error) {
      last = whyOf(error);
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
    }
  }
  return err(last);
}

/** Without text of the token, which is not trusted. */
function whyOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `claim ${error.claim}`;
  return error instanceof errors.JOSEError ? error.code : "malformed";
}
