import type { Authenticate, Caller } from "../../admin-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Client, Clock, Fetch } from "../../ports.ts";
import { clientNetwork } from "../../proxy/client-network.ts";
import { periodCounts } from "../platform.ts";
import { type AccessFault, accessCheck, accessKeys } from "./access.ts";
import type { AccessSettings, AdminToken, AuthSettings } from "./settings.ts";

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

/** A name that stands for the loopback address whoever asks (RFC 6761 §6.3), or an address itself; with a port or without. */
const OWN_MACHINE = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Whether a host cannot be somebody else's name for this machine. A page of any site may have its own name resolved to the
 * loopback address once it is loaded (DNS rebinding): to the browser, requests to that name are then the page's own, with answers that it
 * may read and an `origin` that is the host's. Only `host` still tells whose name it is.
 */
export const isOwnMachine = (host: string): boolean => OWN_MACHINE.test(host);

/** The `host` field; of a request that was made without one, what its URL says. */
export const hostOf = ({ headers, url }: Request): string => headers.get("host") ?? URL.parse(url)?.host ?? "";

export interface AuthenticateOptions {
  readonly settings: AuthSettings;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly subtle: TokenCrypto & Pick<typeof crypto.subtle, "importKey">;
  readonly clientOf: (request: Request) => Client;
  /** Told of credentials that were refused, without them. */
  readonly reportRefused: (refused: RefusedCredentials) => void;
  /** Told why the keys of Access could not be fetched. */
  readonly reportKeyFailure: (why: string) => void;
}

export interface RefusedCredentials {
  readonly by: "token" | "access";
  readonly why: string;
  /** Where they came from, as limits know a client. */
  readonly network: string;
}

/** Wrong credentials that one network may send before it is not listened to until the period is over. */
const FAILURES_MAX = 20;
const FAILURES_PERIOD_SECONDS = 60;
const NETWORKS_MAX = 10_000;

/** Clients without a known address count as one: a limit that could be passed by hiding would be none. */
const UNKNOWN_NETWORK = "unknown";

/** Cloudflare's own field, which counts for what is signed in it. `cf-access-authenticated-user-email` is anybody's word. */
const ACCESS_FIELD = "cf-access-jwt-assertion";

type Check = (credential: string) => Promise<Result<Caller, AccessFault>>;

/**
 * Tells callers by a bearer token, or else by what Cloudflare Access has signed. Whoever sends `authorization` is judged by
 * that alone. What is wrong with a credential is logged, and never told.
 */
export function authenticator(options: AuthenticateOptions): Authenticate {
  const { settings, clientOf, reportRefused } = options;
  if (settings.openPages) return openToOwnMachine;
  const checks = checksOf(options);
  const failures = periodCounts(FAILURES_PERIOD_SECONDS, options.clock, NETWORKS_MAX);
  const limited = () =>
    err({ reason: "rate-limited", limit: "failed-attempts", retryAfterSeconds: failures.secondsLeft() } as const);

  return async (request) => {
    const token = request.headers.get("authorization");
    const assertion = settings.access === undefined ? null : request.headers.get(ACCESS_FIELD);
    const credential = token ?? assertion;
    if (credential === null) return err({ reason: "unauthenticated", why: "missing" });
    const by = token === null ? "access" : "token";
    const { address } = clientOf(request);
    const network = address === undefined ? UNKNOWN_NETWORK : clientNetwork(address);
    if (failures.countOf(network) >= FAILURES_MAX) return limited();
    const caller = await checks[by](credential);
    if (caller.ok) return caller;
    if (caller.error.kind === "unavailable") return err({ reason: "authentication-unavailable" });
    // Requests that came at once were all let in above.
    if (failures.countOf(network) >= FAILURES_MAX) return limited();
    failures.add(network);
    reportRefused({ by, why: caller.error.why, network });
    return err({ reason: "unauthenticated", why: "wrong" });
  };
}

/** Everybody who reaches this machine by an address or a name that is nobody else's. */
const openToOwnMachine: Authenticate = async (request) => {
  const host = hostOf(request);
  if (!isOwnMachine(host)) return err({ reason: "forbidden", why: "host", host });
  return ok({ name: "anybody", scope: "operator", by: "open-pages" });
};

function checksOf(options: AuthenticateOptions): Readonly<Record<RefusedCredentials["by"], Check>> {
  const { settings, subtle } = options;
  const bearer = bearerCheck(settings.tokens, subtle);
  return {
    async token(authorization) {
      const caller = await bearer(authorization);
      return caller.ok ? caller : err({ kind: "wrong", why: caller.error });
    },
    access: settings.access === undefined ? refuseAll : accessOf(settings.access, options),
  };
}

const refuseAll: Check = async () => err({ kind: "wrong", why: "Access is not set up" });

function accessOf(settings: AccessSettings, options: AuthenticateOptions): Check {
  const { clock, fetch, subtle, reportKeyFailure: report } = options;
  const keys = accessKeys({ url: `${settings.issuer}/cdn-cgi/access/certs`, fetch, clock, subtle, report });
  return accessCheck({ settings, keys, clock });
}
