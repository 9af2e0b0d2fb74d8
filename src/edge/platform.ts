import type { Ok, Result } from "../ids/result.ts";
import type { Client, Clock, Entropy, Fetch, RunningHash, ServedTable, Span } from "../ports/gateway.ts";
import { isTraceparent } from "../proxy/headers.ts";
import { MissingBinding } from "../proxy/origin-response.ts";
import type { Sha256 } from "../routing/bytes.ts";
import type { CompiledTable } from "../routing/index.ts";

/** The platform's clock. On Cloudflare it does not advance between I/O. */
export const systemClock: Clock = { nowMs: () => Date.now() };

export const systemPause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The runtime's own, which hashes a stream without keeping it. */
export function runningHash(name: "SHA-256" | "SHA-512"): RunningHash {
  const stream = new crypto.DigestStream(name);
  const writer = stream.getWriter();
  return {
    update: (bytes) => writer.write(bytes),
    async digest() {
      await writer.close();
      return stream.digest;
    },
  };
}

export const subtleSha256: Sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** Words fetched at once: a call into the platform costs far more than an ID. 4 KiB. */
const POOL_WORDS = 1024;

/** Web Crypto's random bits, from a pool that is filled on first use (a Worker has no randomness at start-up). */
export function pooledEntropy(): Entropy {
  const pool = new Uint32Array(POOL_WORDS);
  let next = POOL_WORDS;
  return {
    word() {
      if (next === POOL_WORDS) {
        crypto.getRandomValues(pool);
        next = 0;
      }
      const word = pool[next] as number;
      // A word is given once: nothing that can be read later tells an ID made before.
      pool[next++] = 0;
      return word;
    },
  };
}

/**
 * Begins the span of a request if its client sampled it, or, without a trace, of a share of the requests (W3C Trace Context
 * §3.2.2.5). Others stay as they came.
 */
export function spanMaker(share: number, entropy: Entropy): (request: Request) => Span | undefined {
  const digits = () => entropy.word().toString(16).padStart(8, "0");
  return ({ headers }) => {
    const given = headers.get("traceparent") ?? "";
    const id = digits() + digits();
    if (!isTraceparent(given)) {
      const isBegun = entropy.word() < share * 2 ** 32;
      const trace = digits() + digits() + digits() + digits();
      return isBegun ? { id, parent: undefined, traceparent: `00-${trace}-${id}-01` } : undefined;
    }
    // Other flags are unknown, but that the trace ID is random.
    const flags = Number.parseInt(given.slice(53, 55), 16) & 3;
    if ((flags & 1) === 0) return undefined;
    return { id, parent: given.slice(36, 52), traceparent: `00-${given.slice(3, 35)}-${id}-0${flags}` };
  };
}

/** The result of work, or of `late`, which may throw, after the deadline. The work itself goes on. */
export function withTimeout<Value, Late>(
  work: Promise<Value>,
  deadlineMs: number,
  late: (deadlineMs: number) => Late,
): Promise<Value | Late> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // A throw becomes a rejection here as in any other promise.
      new Promise<Late>((give) => give(late(deadlineMs))).then(resolve, reject);
    }, deadlineMs);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** For work without which nothing can be said. */
export function throwTimeout(deadlineMs: number): never {
  throw new Error(`no answer within ${deadlineMs} ms`);
}

/** Calls a Durable Object within a deadline: once more where the call may be repeated and the platform says that this helps. */
export async function callObject<Value>(
  send: () => Promise<Value>,
  deadlineMs: number,
  isIdempotent: boolean,
): Promise<Value> {
  for (let mayRepeat = isIdempotent; ; mayRepeat = false) {
    try {
      return await withTimeout(send(), deadlineMs, throwTimeout);
    } catch (error) {
      if (!mayRepeat || !isRetryable(error)) throw error;
    }
  }
}

/** Cloudflare's documentation of Durable Objects, "Error handling": `retryable` and `overloaded` of what a stub throws. */
function isRetryable(error: unknown): boolean {
  const { retryable, overloaded }: { retryable?: unknown; overloaded?: unknown } = Object(error);
  return retryable === true && overloaded !== true;
}

/** Sets the last entry of a map. Beyond `max` entries the least recently set one makes room. */
export function setLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value as Key);
}

/** Head start of the cache over KV. */
const GRACE_MS = 100;

/**
 * The value from the edge's cache, or else KV, which is asked too when the cache is slow: the first good one is taken.
 * Both end by themselves. `near`: `undefined` for nothing there.
 */
export async function raceCacheAndKv<Value, Failure>(
  near: Promise<Ok<Value> | undefined>,
  far: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  const found = await withTimeout(near, GRACE_MS, () => "late" as const);
  if (found !== "late") return found ?? far();
  const asked = far();
  const first = await Promise.race([near, asked]);
  return first?.ok ? first : ((await near) ?? asked);
}

/**
 * Counts by key, reset with each full period: one number a key, so that up to twice a limit may pass across the seam of
 * two periods. When there are too many keys, the oldest is dropped: a client with so many keys passes limits by key
 * anyway, and no client is refused for what others did.
 */
export function periodCounts(periodSeconds: number, clock: Clock, keysMax: number) {
  const periodMs = periodSeconds * 1000;
  let period = Number.NaN;
  const counts = new Map<string, number>();

  const countOf = (key: string): number => {
    const now = Math.floor(clock.nowMs() / periodMs);
    if (now !== period) {
      period = now;
      counts.clear();
    }
    return counts.get(key) ?? 0;
  };

  return {
    countOf,
    /** Until the period ends and all are counted again: from 1 to `periodSeconds`. */
    secondsLeft: (): number => Math.ceil((periodMs - (clock.nowMs() % periodMs)) / 1000),
    add(key: string, added = 1): void {
      const count = countOf(key);
      if (count === 0 && counts.size >= keysMax) for (const oldest of counts.keys()) if (counts.delete(oldest)) break;
      counts.set(key, count + added);
    },
  };
}

/** The source of the client's address: Cloudflare's edge, the socket of a self-hosted workerd, or whichever of them there is. */
export type ClientSource = "cf-connecting-ip" | "socket" | "either";

/**
 * Reads the client from the one source that the deployment vouches for. `cf-connecting-ip` is Cloudflare's own on its
 * edge, and anybody's word elsewhere; a self-hosted workerd knows the address of the socket, and the edge does not.
 */
export function clientReader(source: ClientSource): (request: Request) => Client {
  const ofSocket = (request: Request): Client => ({
    address: socketAddress(request.cf),
    country: undefined,
    continent: undefined,
  });
  if (source === "socket") return ofSocket;
  const ofEdge = ({ headers, cf }: Request): Client => {
    const address = headers.get("cf-connecting-ip");
    return {
      address: address !== null && ADDRESS.test(address) ? address : undefined,
      country: typeof cf?.country === "string" ? cf.country : undefined,
      continent: typeof cf?.continent === "string" ? cf.continent : undefined,
    };
  };
  if (source === "cf-connecting-ip") return ofEdge;
  return (request) => (typeof request.cf?.["clientIp"] === "string" ? ofSocket(request) : ofEdge(request));
}

/** Only an address goes into the headers for origins, whatever the client sent. */
const ADDRESS = /^[0-9A-Fa-f.:]{2,45}$/;

/** workerd gives `address:port`, an IPv6 address in brackets; only the address is wanted. */
function socketAddress(cf: Request["cf"]): string | undefined {
  const clientIp: unknown = cf?.["clientIp"];
  if (typeof clientIp !== "string") return undefined;
  if (clientIp.startsWith("[")) return clientIp.slice(1, clientIp.indexOf("]"));
  const port = clientIp.lastIndexOf(":");
  const address = port === -1 ? clientIp : clientIp.slice(0, port);
  // A Unix socket has no address that an origin could use.
  return DIGIT.test(address.charAt(0)) ? address : undefined;
}

const DIGIT = /\d/;

type Send = (target: string | Request, init?: RequestInit) => Promise<Response>;

/**
 * Requests to origins: over the network, or through a binding of the deployment that the routing table names, such as a
 * client certificate, a private network or another Worker. Rejects with `MissingBinding` for one that is not there.
 */
export function originFetch(bindings: object, network: Send = fetch): Fetch {
  const byName = new Map<string, Send>();
  return (target, init, binding) => {
    if (binding === undefined) return network(target, init);
    let send = byName.get(binding);
    if (send === undefined) {
      send = senderIn(bindings, binding);
      if (send === undefined) return Promise.reject(new MissingBinding(binding));
      byName.set(binding, send);
    }
    return send(target, init);
  };
}

function senderIn(bindings: object, name: string): Send | undefined {
  const binding: unknown = Object.hasOwn(bindings, name) ? bindings[name as keyof typeof bindings] : undefined;
  return canFetch(binding) ? (target, init) => binding.fetch(target, init) : undefined;
}

function canFetch(binding: unknown): binding is { readonly fetch: Send } {
  return typeof binding === "object" && binding !== null && "fetch" in binding && typeof binding.fetch === "function";
}

/** Origins that cannot be asked, for want of a binding. */
export type MissingBindings = Readonly<{ revision: number; bindings: readonly string[] }>;

/** Reports once for each table the bindings that it names and the deployment lacks. */
export function bindingWatch(bindings: object, report: (missing: MissingBindings) => void) {
  const watched = new WeakSet<CompiledTable>();
  return ({ table, canary }: ServedTable): void => {
    for (const each of canary === undefined ? [table] : [table, canary.table]) {
      if (watched.has(each)) continue;
      watched.add(each);
      const origins = [...each.regions.values()].flatMap((region) => region.servers);
      const named = new Set(origins.flatMap(({ binding }) => binding ?? []));
      const missing = [...named].filter((name) => senderIn(bindings, name) === undefined);
      if (missing.length > 0) report({ revision: each.revision, bindings: missing });
    }
  };
}
