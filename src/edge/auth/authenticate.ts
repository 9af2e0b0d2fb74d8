import { err, ok, type Result } from "../../ids/result.ts";
import type { Arrival, Authenticate, Caller } from "../../ports/admin.ts";
import type { ConsoleSessions } from "../../ports/console.ts";
import { clientNetwork } from "../../proxy/addresses/client-network.ts";
import { periodCounts } from "../platform.ts";
import { type AccessFault, type AccessOptions, accessCheck, wrong } from "./access.ts";
import type { AdminToken, AuthSettings } from "./settings.ts";

/** Required parts of WebCrypto and workerd. */
type TokenCrypto = Pick<typeof crypto.subtle, "digest" | "timingSafeEqual">;

/** RFC 6750 §2.1: the scheme in any case (RFC 9110 §11.1), spaces, `b64token`. Repeated headers are joined by a comma and do not match. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{32,512}=*)$/i;

/**
 * Finds the entry of a bearer token. Digests are compared in constant time with every entry, so that the duration reveals
 * nothing about the entries.
 */
export function bearerCheck(tokens: readonly AdminToken[], subtle: TokenCrypto) {
  const encoder = new TextEncoder();
  return async (authorization: string): Promise<Result<Caller, AccessFault>> => {
    const [, token] = BEARER.exec(authorization) ?? [];
    if (token === undefined) return wrong("malformed");
    const presented = await subtle.digest("SHA-256", encoder.encode(token));
    let bearer: AdminToken | undefined;
    for (const entry of tokens) if (subtle.timingSafeEqual(presented, entry.sha256)) bearer = entry;
    return bearer === undefined ? wrong("unknown") : ok({ name: bearer.name, scope: bearer.scope, by: "token" });
  };
}

/** A name of the loopback address (RFC 6761 §6.3) or an IP address, with or without a port. */
const OWN_MACHINE = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d*)?$/i;

export interface AuthenticateOptions extends Omit<AccessOptions, "settings"> {
  readonly settings: AuthSettings;
  readonly subtle: TokenCrypto;
  /** The console, and what reads its sessions. */
  readonly sessions?: ConsoleSessions | undefined;
  /** Receives rejections, without the credentials. */
  readonly reportRefused: (refused: RefusedCredentials) => void;
}

/** `network`: the client, by the key of its rate limit. */
export type RefusedCredentials = Readonly<{ by: "token" | "access"; why: string; network: string }>;

/** Wrong credentials of one network that are answered as such, and logged, in a period. */
const FAILURES_MAX = 20;
const FAILURES_PERIOD_SECONDS = 60;
const NETWORKS_MAX = 10_000;

/** Cloudflare's signed header. `cf-access-authenticated-user-email` is not signed, so it is not trusted. */
const ACCESS_FIELD = "cf-access-jwt-assertion";

/**
 * Authenticates callers by a bearer token or, without `authorization`, by Cloudflare Access. The log has the reason of a
 * rejection; the response does not.
 */
export function authenticator(options: AuthenticateOptions): Authenticate {
  const { settings, reportRefused } = options;
  if (settings.openPages) return openToOwnMachine;
  const bearer = bearerCheck(settings.tokens, options.subtle);
  const access = settings.access && accessCheck({ ...options, settings: settings.access });
  const { sessions } = options;
  const failures = periodCounts(FAILURES_PERIOD_SECONDS, options.clock, NETWORKS_MAX);

  return async (arrival) => {
    const { headers } = arrival.request;
    const token = headers.get("authorization");
    // Sessions count at the console's own host alone: what a region serves at another could act for its user.
    const cookies = token === null && sessions?.isAt(hostOf(arrival)) === true ? headers.get("cookie") : null;
    const session = cookies === null ? undefined : await sessions?.read(cookies);
    if (session !== undefined) return ok(session);
    const check = token === null ? access : bearer;
    const credential = token ?? headers.get(ACCESS_FIELD);
    const isMissing = credential === null || check === undefined;
    // A right credential is never limited, so it is checked first.
    const caller = isMissing ? undefined : await check(credential);
    if (caller?.ok) return caller;
    // With an invalid setting it might be right.
    if (settings.isFaulty || caller?.error.kind === "unavailable") return err({ reason: "authentication-unavailable" });
    if (caller === undefined) return err({ reason: "unauthenticated", why: "missing" });
    const network = clientNetwork(arrival.client.address);
    if (failures.countOf(network) >= FAILURES_MAX) {
      return err({ reason: "rate-limited", limit: "failed-attempts", retryAfterSeconds: failures.secondsLeft() });
    }
    failures.add(network);
    reportRefused({ by: token === null ? "access" : "token", why: caller.error.why, network });
    return err({ reason: "unauthenticated", why: "wrong" });
  };
}

/**
 * Accepts every caller that uses a loopback name or an IP address. Guards against DNS rebinding: a site may resolve its own name
 * to the loopback address after its page is loaded. The browser then treats requests to this machine as same-origin. Only the
 * `host` header shows the site's name.
 */
const openToOwnMachine: Authenticate = async ({ request }) => {
  const host = hostOf({ request });
  if (!OWN_MACHINE.test(host)) return err({ reason: "forbidden", why: "host", host });
  return ok({ name: "anybody", scope: "operator", by: "open-pages" });
};

/** As a trusted proxy says, or the client. */
const hostOf = ({ request: { headers, url }, client }: Pick<Arrival, "request"> & Partial<Arrival>): string =>
  client?.host ?? headers.get("host") ?? URL.parse(url)?.host ?? "";
