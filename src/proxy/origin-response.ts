import type { OriginCheck, ProxyPorts, Pseudonym } from "../ports/gateway.ts";
import type { CompiledTable, HealthCheck, Origin, Region } from "../routing/table.ts";
import type { OriginFault } from "./errors.ts";

/** Why `fetch` gave no answer, as far as it can be known, and a sentence's end for people that names no address. */
export type Failure = Readonly<{ fault: OriginFault; why: string }>;

/** Thrown by the `Fetch` port for an origin whose binding the deployment lacks. */
export class MissingBinding extends Error {
  override readonly name = "MissingBinding";
}

/**
 * Reads an error of `fetch`. workerd marks what broke on an open or opening connection as `retryable`, be it refused, reset
 * or no HTTP; what is not marked broke before: in the look-up of the name or in TLS. Its text is not for clients.
 */
export function failureOf(error: unknown, originUrl: string): Failure {
  if (error instanceof MissingBinding) {
    return { fault: "proxy_configuration_error", why: "needs a binding that this deployment does not have" };
  }
  if (isLostConnection(error)) return { fault: "connection_terminated", why: "did not respond" };
  // There is no TLS in plain HTTP.
  if (originUrl.startsWith("http:")) return { fault: "dns_error", why: "has a name that does not resolve" };
  return { fault: "destination_unavailable", why: "could not be reached: its name or its certificate is invalid" };
}

function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if ("retryable" in error && error.retryable === true) return true;
  return !error.message.startsWith("internal error");
}

/** Statuses of Cloudflare's edge for an origin that it could not ask (its own, not of RFC 9110). */
const EDGE_STATUSES: ReadonlyMap<number, Failure> = new Map([
  [520, { fault: "connection_terminated", why: "gave no valid response" }],
  [521, { fault: "connection_refused", why: "refused the connection" }],
  [522, { fault: "connection_timeout", why: "did not accept the connection in time" }],
  [523, { fault: "destination_ip_unroutable", why: "cannot be reached from here" }],
  [524, { fault: "http_response_timeout", why: "accepted the request, but did not respond in time" }],
  [525, { fault: "tls_protocol_error", why: "did not complete the TLS handshake" }],
  [526, { fault: "tls_certificate_error", why: "has a certificate that is not valid" }],
  [530, { fault: "dns_error", why: "has a name that does not resolve" }],
]);

/** The failure of the connection that an answer's status means; `undefined` for an answer of the origin's own. */
export const edgeFailure = (status: number): Failure | undefined => EDGE_STATUSES.get(status);

type HealthCheckDeps = Pick<ProxyPorts, "fetch" | "clock" | "isOnEdge" | "pseudonym">;

/** How origins tell a check from a client's request. */
const HEALTH_AGENT = "waybill-health";

/** An origin that leads back here is found out like any other loop (RFC 8586). */
const fieldsOf = ({ name, via }: Pseudonym) => ({ "user-agent": HEALTH_AGENT, accept: "*/*", via, "cdn-loop": name });

/** Asks an origin how it is. Good: a status from 200 to 399 in time. A redirect is not followed, and no body is read. */
export async function checkOrigin(
  { url, binding }: Origin,
  { path, timeoutMs }: HealthCheck,
  { fetch, clock, isOnEdge, pseudonym }: HealthCheckDeps,
): Promise<OriginCheck> {
  const options = new AbortController();
  const timer = setTimeout(() => options.abort(), timeoutMs);
  const init = { headers: fieldsOf(pseudonym), redirect: "manual", signal: options.signal } as const;
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

/** A gateway is asked whether it has a table: how its origins are it knows itself. */
export const healthCheckOf = ({ health }: Region, { isPeer }: Origin): HealthCheck | undefined =>
  isPeer === true ? { path: "/-/ready", timeoutMs: health?.timeoutMs ?? PEER_TIMEOUT_MS } : health;

const PEER_TIMEOUT_MS = 2_000;

export type Checked = Readonly<{ url: string; path: string; check: OriginCheck }>;

/** Limit of answers whose headers a Worker waits for at once; others queue while their time-outs run. */
const PARALLEL_MAX = 6;

type Target = Readonly<{ origin: Origin; health: HealthCheck }>;

/** Every origin and path that the table wants checked, each once, however many regions share it. */
export function checkTargets(table: CompiledTable): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const region of table.regions.values()) {
    for (const origin of region.servers) {
      const health = healthCheckOf(region, origin);
      if (health !== undefined) targets.set(`${origin.url} ${health.path}`, { origin, health });
    }
  }
  return [...targets.values()];
}

/** One round: every target is asked, a few at a time, and reported as soon as it has answered or failed. */
export async function runChecks(
  targets: readonly Target[],
  deps: HealthCheckDeps,
  onChecked: (checked: Checked) => void,
): Promise<void> {
  const waiting = targets[Symbol.iterator]();
  const askInTurn = async (): Promise<void> => {
    for (const { origin, health } of waiting) {
      const check = await checkOrigin(origin, health, deps);
      onChecked({ url: origin.url, path: health.path, check });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_MAX }, askInTurn));
}

/** The runtime's own text when an origin's answer to a WebSocket's handshake is wrong (RFC 6455 §4.1). */
const FAILED_HANDSHAKE = "Server failed WebSocket handshake";
const OWN_TEXT_BYTES_MAX = 1000;

/** Whether an answer to a handshake is the runtime's own word for one that failed. */
export async function isFailedHandshake(response: Response): Promise<boolean> {
  if (response.status !== 502 || !(Number(response.headers.get("content-length")) <= OWN_TEXT_BYTES_MAX)) return false;
  return (await response.clone().text()).startsWith(FAILED_HANDSHAKE);
}
