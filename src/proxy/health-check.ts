import type { Clock, Fetch, OriginCheck } from "../ports.ts";
import type { HealthCheck, Origin } from "../routing/table.ts";
import { edgeFailure, failureOf } from "./failure.ts";
import { GATEWAY_NAME, VIA } from "./origin-request.ts";

export interface HealthCheckDeps {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Whether the statuses of Cloudflare's edge stand for connections that failed. */
  readonly isOnEdge: boolean;
}

/** How origins tell a check from a client's request. */
const HEALTH_AGENT = "waybill-health";

/** An origin that leads back here is found out like any other loop (RFC 8586). */
const FIELDS = { "user-agent": HEALTH_AGENT, accept: "*/*", via: VIA, "cdn-loop": GATEWAY_NAME };

/** Asks an origin how it is. Good: a status from 200 to 399 in time. A redirect is not followed, and no body is read. */
export async function checkOrigin(
  { url, binding }: Origin,
  { path, timeoutMs }: HealthCheck,
  { fetch, clock, isOnEdge }: HealthCheckDeps,
): Promise<OriginCheck> {
  const options = new AbortController();
  const timer = setTimeout(() => options.abort(), timeoutMs);
  const init = { headers: FIELDS, redirect: "manual", signal: options.signal } as const;
  try {
    const { status, body } = await fetch(url + path, init, binding);
    // A body that is not read holds its connection; how it ends is of no interest.
    void body?.cancel().catch(() => undefined);
    const failure = isOnEdge ? edgeFailure(status) : undefined;
    const isGood = status >= 200 && status <= 399;
    return { atMs: clock.nowMs(), isGood, status, fault: failure?.fault };
  } catch (error) {
    const fault = options.signal.aborted ? "http_response_timeout" : failureOf(error, url).fault;
    return { atMs: clock.nowMs(), isGood: false, status: undefined, fault };
  } finally {
    clearTimeout(timer);
  }
}
