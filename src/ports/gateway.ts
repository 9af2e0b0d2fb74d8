import type { Result } from "../ids/result.ts";
import type { AuthError } from "../problems/errors.ts";
import type { ReadPorts } from "../routing/resolve/reading.ts";
import type { CompiledTable } from "../routing/table.ts";
import type { Authenticate, ControlPlaneApi, Tables } from "./admin.ts";
import type { ConsolePort } from "./console.ts";
import type { MachinesPort } from "./machines.ts";
import type { Counters, Metrics, RequestLine, Span } from "./metrics.ts";
import type { Moving } from "./moving.ts";
import type { MovedMemory, OriginHealth, RetryBudget } from "./origins.ts";
import type {
  Client,
  Clock,
  Entropy,
  Fetch,
  FieldRules,
  Pseudonym,
  RateLimits,
  RunningHash,
  Sign,
} from "./platform.ts";

/**
 * The interfaces that the inner zones and the routes need from the world. `src/edge/` has one adapter for each. A feature
 * adds its own ports to `Gateway` in its `port.ts`, and composes them in its `edge`.
 */

export type { ServedCanary, ServedTable, Tables } from "./admin.ts";
export type * from "./metrics.ts";
export type * from "./origins.ts";
export type * from "./platform.ts";

/** Ports for sending a request to origins. */
export interface ProxyPorts {
  readonly clock: Clock;
  /** Waits before a retry. */
  readonly pause: (ms: number) => Promise<void>;
  readonly entropy: Entropy;
  readonly fetch: Fetch;
  /** Whether the platform answers with statuses of its own where an origin cannot be reached. */
  readonly isOnEdge: boolean;
  /** Where neither the entity nor the region says otherwise, in milliseconds; 0 for no limit. */
  readonly deadlines: { readonly firstByteMs: number; readonly idleMs: number; readonly totalMs: number };
  readonly originHealth: OriginHealth;
  readonly retryBudget: RetryBudget;
  /** Absent: what origins say of moved entities is followed and forgotten. */
  readonly movedMemory: MovedMemory | undefined;
  /** Absent: requests to origins are not signed. */
  readonly sign: Sign | undefined;
  readonly fieldRules: FieldRules;
  readonly pseudonym: Pseudonym;
}

/** Ports for what decisions need and is not in memory. Features add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface LoadPorts {}

/** All that the gateway needs from the world, put together once per isolate. */
export interface Gateway extends ProxyPorts, ReadPorts, LoadPorts {
  /** Absent: the gateway is no part of traces. */
  readonly beginSpan: ((request: Request) => Span | undefined) | undefined;
  /** Bounds of answers that come before their request's body; 0 for no wait. */
  readonly earlyAnswers: { readonly bytesMax: number; readonly holdMs: number };
  readonly tables: Tables;
  readonly controlPlane: ControlPlaneApi;
  /** `undefined`: this is an edge, and the state is at the state nodes. */
  readonly moving: () => Promise<Moving | undefined>;
  readonly subtle: Pick<SubtleCrypto, "digest" | "importKey" | "encrypt" | "decrypt">;
  readonly hashOf: (name: "SHA-256" | "SHA-512") => RunningHash;
  readonly clientOf: (request: Request) => Client;
  /** Requests to origins must be signed: without `sign` none is sent. */
  readonly mustSign: boolean;
  /** Names of the deployment's invalid settings, for which safe values are taken. */
  readonly invalidSettings: readonly string[];
  /** Names of those that the table contradicts. */
  readonly misfits?: ((table: CompiledTable) => readonly string[]) | undefined;
  readonly rateLimits: RateLimits;
  readonly authenticate: Authenticate;
  /** Absent: the deployment has no console. */
  readonly console: ConsolePort | undefined;
  /** The claims of a client's token, once it is verified; `undefined` without a token. */
  readonly clientClaims: (
    request: Request,
  ) => Promise<Result<Readonly<Record<string, unknown>> | undefined, AuthError>>;
  /** Whether the forwarding fields of requests are another proxy's of the same operator. */
  readonly trustsForwarded: boolean;
  readonly counters: Counters;
  readonly metrics: Metrics;
  /** Absent: this gateway is alone. */
  readonly machines?: MachinesPort | undefined;
  /** `decidedBy`: the table that decided, while a canary runs. */
  readonly observe: (
    line: RequestLine,
    waitUntil: (work: Promise<unknown>) => void,
    decidedBy: "stable" | "canary" | undefined,
  ) => void;
  /** For defects of our own, which a client is told nothing about. */
  readonly logDefect: (error: unknown) => void;
  /** An answer of an entity that was broken off, because IDs could not be sought in it. */
  readonly logBrokenBody: (entity: string, reason: string) => void;
}
