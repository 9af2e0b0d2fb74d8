import type { Authenticate, Caller } from "../../auth-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Client, Clock, Fetch } from "../../ports.ts";
import { clientNetwork } from "../../proxy/client-network.ts";
import { periodCounts } from "../period-counts.ts";
import { type AccessFault, accessCheck } from "./access-check.ts";
import { accessKeys } from "./access-keys.ts";
import type { AccessSettings } from "./access-settings.ts";
import { bearerCheck, type TokenCrypto } from "./bearer.ts";
import { hostOf, isOwnMachine } from "./own-machine.ts";
import type { AuthSettings } from "./settings.ts";

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
