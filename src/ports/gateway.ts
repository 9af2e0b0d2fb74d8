import type { CopyStore, Directory, DirectoryTruth } from "../features/directory/port.ts";
import type { IdempotencyKeys, RunningHash } from "../features/idempotency/port.ts";
import type { MintOrder } from "../features/mint/table/plan.ts";
import type { MissingPage } from "../features/packs/table/pack.ts";
import type { AnswerOutcome } from "../formats/canary-verdict.ts";
import type { HistorySpan, MetricsHistory } from "../formats/console-api.ts";
import type { RecentTraffic } from "../formats/region-state.ts";
import type { MintError, Words } from "../ids/index.ts";
import type { WordRows } from "../ids/mint/mint.ts";
import type { Result } from "../ids/result.ts";
import type { KeyRange } from "../ids/tools/key-range.ts";
import type { AuthError, PublicIdsError, SequenceError, TableError } from "../problems/errors.ts";
import type { OriginFault } from "../proxy/errors.ts";
import type { Signable } from "../proxy/signature.ts";
import type { BreakerPolicy, CompiledTable, Entity, Origin, Region } from "../routing/table.ts";
import type { Authenticate, ControlPlaneApi, ServedTable, Tables } from "./admin.ts";
import type { ConsolePort } from "./console.ts";
import type { Counters, Metric, ShadowOutcome } from "./metrics.ts";

/** The interfaces that the inner zones and the routes need from the world. `src/edge/` has one adapter for each. */

/** Unix time. In a Worker it stands still between I/O, and it may step back. */
export interface Clock {
  nowMs(): number;
}

/** Cryptographically strong: one uniformly random unsigned 32-bit word a call. */
export interface Entropy {
  word(): number;
}

/** Numbers that are handed out once: first 1, then rising, never the same twice, with gaps allowed. */
export interface Sequences {
  /** The next `count` numbers of the sequence, in rising order. An error uses none of them up. */
  take(name: string, count: number, bounds: SequenceBounds): Promise<Result<readonly number[], SequenceError>>;
  /** A number that it may give next; none is taken. */
  peek(name: string, bounds: SequenceBounds): Promise<Result<number, SequenceError>>;
  /** Why so many are refused, where that is known at once. */
  refusal(name: string, count: number, bounds: SequenceBounds): SequenceError | undefined;
}

export interface SequenceBounds extends Pick<KeyRange, "interleaved"> {
  /** Beyond it the sequence is exhausted. */
  readonly max: number;
  /** Where it begins, if not at 1. The same in every call. */
  readonly first?: number;
  readonly least?: number;
  /** Beyond `number` numbers may be taken later: after how many seconds? */
  readonly until?: { readonly number: number; readonly secondsTo: (number: number) => number };
}

export type {
  BeginCall,
  Begun,
  CreateRecord,
  FinishCall,
  IdempotencyKeys,
  KeptAnswer,
  KeyEntry,
} from "../features/idempotency/port.ts";
export type { ServedCanary, ServedTable, Tables } from "./admin.ts";
export type {
  CountedEvents,
  Counters,
  LookupOutcome,
  Metric,
  Sample,
  ShadowOutcome,
} from "./metrics.ts";

/** The packs of the tables in force. Look-ups read what is in memory; these fetch the rest. */
export interface Packs {
  /** Gives a table the verified header of each of its packs. `waitMs`: what the caller has left to wait for them, if it is little. */
  open(table: CompiledTable, waitMs?: number): Promise<Result<undefined, TableError>>;
  /** Fetches what a look-up was lacking, within a deadline. */
  load(table: CompiledTable, missing: MissingPage): Promise<Result<undefined, TableError>>;
}

/** How a request reaches an origin, through a binding if one is named. One that is not there rejects with `MissingBinding`. */
export type Fetch = (target: string | Request, init?: RequestInit, binding?: string) => Promise<Response>;

/** Whether an origin may be asked. `probe`: to find out whether it answers again. `last`: for want of another one. */
export type Admission =
  | { readonly state: "closed" | "probe" | "last" }
  | { readonly state: "open"; readonly retryAfterMs: number };

export type Admitted = Exclude<Admission["state"], "open">;

/** Knowledge of origins by how they answered, in this isolate and, as a hint, in others. */
export interface OriginHealth {
  /** Whether a request may go to the origin now. Every one that was admitted must be reported or released. */
  admit(origin: Origin, policy: BreakerPolicy | undefined, nowMs: number): Admission;
  /** Whether it may go to the origin although its breaker is open, because there is no other one. */
  admitLast(origin: Origin, policy: BreakerPolicy, nowMs: number): Admission;
  /**
   * How an attempt ended: `undefined` for an answer, whatever its status. `again`: the request failed there before; it
   * counts against the origin once.
   */
  report(region: Region, origin: Origin, fault: OriginFault | undefined, nowMs: number, as?: Admitted | "again"): void;
  /** An attempt ended in a way that says nothing of the origin. */
  release(origin: Origin, as: Admitted): void;
}

/** One origin, as the isolates that asked it and the active checks have found it. */
export interface OriginStatus {
  readonly region: string;
  /** Index into the region's origins. */
  readonly index: number;
  /** Host and port, without a path. */
  readonly host: string;
  readonly weight: number;
  readonly breaker: "closed" | "open" | "half-open";
  /** Unix ms; `undefined` unless open. */
  readonly openUntilMs: number | undefined;
  readonly lastFault: { readonly fault: OriginFault; readonly atMs: number } | undefined;
  readonly lastAnswerAtMs: number | undefined;
  readonly lastCheck: OriginCheck | undefined;
}

/** Outcome of one active check: a status, or why there was none. */
export interface OriginCheck {
  readonly atMs: number;
  readonly isGood: boolean;
  readonly status: number | undefined;
  readonly fault: OriginFault | undefined;
}

/** Traffic as operators see it. */
export interface MetricsSnapshot {
  /** `all`: of every isolate. `isolate`: of this one alone, because the others cannot be asked. */
  readonly source: "all" | "isolate";
  /** Since when it was counted, Unix ms. */
  readonly sinceMs: number;
  readonly metrics: readonly Metric[];
  readonly origins: readonly OriginStatus[];
  /** Requests by the region that they went to. */
  readonly requests: ReadonlyMap<string, number>;
  readonly recent: ReadonlyMap<string, RecentTraffic> | undefined;
}

export interface Metrics {
  /** With all that this isolate has counted up to now. `served`: the table in force, when there is one. */
  snapshot(served: ServedTable | undefined): Promise<MetricsSnapshot>;
  /** The same over time. `from`: Unix seconds of the first step that is asked for. */
  history(span: HistorySpan, from?: number): Promise<MetricsHistory>;
}

/** How many requests may be sent again. */
export interface RetryBudget {
  /** Whether no region has spent anything lately: then there is nothing to earn. */
  readonly isFull: boolean;
  /** Called once for each request. */
  earn(region: string): void;
  /** Whether one more attempt may be made. */
  spend(region: string): boolean;
}

/** Two answers to one request that are not alike. It holds no value of a field. */
export interface ResponseDifference {
  readonly entity: string;
  /** `undefined` for a public entity. */
  readonly id: string | undefined;
  readonly method: string;
  /** The region that the client was answered from. */
  readonly region: string;
  readonly status: number;
  readonly shadowStatus: number;
  /** Names of the compared fields in which they differ. */
  readonly fields: readonly string[];
}

/** Reads that are sent to the shadow of their route too. */
export interface Shadows {
  /** Whether one more may be sent to the region now. Every one that was admitted must be reported. */
  admit(region: string): boolean;
  report(region: string, outcome: ShadowOutcome, difference?: ResponseDifference): void;
}

/** The key of an entity that an origin called moved. */
export interface MovedKey {
  readonly entity: string;
  /** One text for all texts of an ID. */
  readonly id: string;
  /** The region that the table decided on. Hints from there are void for a table that decides on another one. */
  readonly decided: string;
}

/** Where origins said that entities are. A hint that an origin corrects when it is wrong. */
export interface MovedMemory {
  /** Whether nothing was remembered yet: then `recall` is not worth its key. */
  readonly isEmpty: boolean;
  /** The region's name; waits for no more than the edge's cache. */
  recall(key: MovedKey): string | undefined | Promise<string | undefined>;
  remember(key: MovedKey, region: string, seconds: number): void;
  forget(key: MovedKey): void;
}

export type { Signable } from "../proxy/signature.ts";

/** The value of `waybill-signature` for one request to an origin. */
export type Sign = (what: Signable) => Promise<string>;

/** Fields of requests and responses that stop at the gateway: names in lower case, as the deployment has set them. */
export interface FieldRules {
  readonly stopped: ReadonlySet<string>;
  readonly hidden: ReadonlySet<string>;
}

/** How a deployment names itself in `cdn-loop` (RFC 8586 §2), and in `via` (RFC 9110 §7.6.3). */
export type Pseudonym = Readonly<{ name: string; via: string }>;

/** Whether one more request may come from a key now. */
export interface RateLimit {
  /** The greatest burst; `undefined` where it is not known. */
  readonly max: number | undefined;
  /** 0 when so many may come, and they are counted; else after how many seconds, at most, they may come again. */
  waitSeconds(key: string, count?: number): Promise<number>;
}

/** The limits that the deployment has bound, by the client's address; absent ones are off. */
export interface RateLimits {
  readonly client: RateLimit | undefined;
  /** By entity as well. */
  readonly entity: RateLimit | undefined;
  /** The limit of look-ups under `/any` and `/-/ids`. */
  readonly lookup: RateLimit | undefined;
}

/** The client, as far as the platform can vouch for it. */
export interface Client {
  readonly address: string | undefined;
  /** ISO 3166-1 alpha-2, where the platform knows it. */
  readonly country: string | undefined;
  /** AF, AN, AS, EU, NA, OC or SA, where the platform knows it. */
  readonly continent: string | undefined;
  /** How the client asked, where a trusted proxy says so. */
  readonly scheme?: "http" | "https" | undefined;
  readonly host?: string | undefined;
}

/** Makes IDs that are never made again, in the order that their layout promises. */
export interface Minters {
  mint(order: MintOrder, count: number): Promise<Result<WordRows, MintError | SequenceError>>;
  /**
   * An ID like the next one of an order that takes numbers from a sequence, or why so many are refused; it takes none.
   * `undefined` for other orders.
   */
  sample(order: MintOrder, count: number): Promise<Result<Words | undefined, MintError | SequenceError>>;
}

/** Public texts of the IDs of public entities. The keys stay behind this port. */
export interface PublicIds {
  /** The public text of an internal one; `undefined` when the text is no ID of the entity. */
  show(entity: Entity, internal: string): Result<string | undefined, PublicIdsError>;
  /** The internal text of a public one; `undefined` when no key made it. */
  open(entity: Entity, text: string): Result<string | undefined, PublicIdsError>;
  /** Whether there are keys for every public entity of a table. */
  covers(table: CompiledTable): boolean;
}

/** One request, as logs and metrics show it when its answer begins. */
export interface RequestLine extends AnswerOutcome {
  /** When the answer began, Unix ms. */
  readonly atMs: number;
  readonly method: string;
  /** Without the query. An ID of a public entity is left out of it. */
  readonly path: string;
  readonly entity: string | undefined;
  readonly layout: string | undefined;
  /** The region that answered, or the last one that was asked. */
  readonly region: string | undefined;
  /** Without an ID: the source that chose the region, and those before it that let a value go on. */
  readonly source?: string | undefined;
  readonly unlisted?: readonly string[] | undefined;
  /** Revision of the table that decided. */
  readonly revision: number | undefined;
  readonly ms: number;
  /** Until the origin's answer began; `undefined` where none did. */
  readonly originMs: number | undefined;
  readonly attempts: number;
  /** Trace ID of the client's W3C trace context; `undefined` without a valid one. */
  readonly trace: string | undefined;
  /** Where a directory decided without a key that it surely has; see `Rule`. */
  readonly directory?: "stale" | "default" | "unknown" | undefined;
}

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
  readonly shadows: Shadows;
  /** Absent: requests to origins are not signed. */
  readonly sign: Sign | undefined;
  readonly fieldRules: FieldRules;
  readonly pseudonym: Pseudonym;
}

/** All that the gateway needs from the world, put together once per isolate. */
export interface Gateway extends ProxyPorts {
  /** Bounds of answers that come before their request's body; 0 for no wait. */
  readonly earlyAnswers: { readonly bytesMax: number; readonly holdMs: number };
  readonly tables: Tables;
  readonly packs: Packs;
  readonly controlPlane: ControlPlaneApi;
  readonly minters: Minters;
  readonly subtle: Pick<SubtleCrypto, "digest" | "importKey" | "encrypt" | "decrypt">;
  readonly hashOf: (name: "SHA-256" | "SHA-512") => RunningHash;
  /** Secrets that cursors of lists are sealed with: the first seals, all open. */
  readonly cursorKeys: readonly Uint8Array[];
  readonly idempotency: IdempotencyKeys;
  readonly directory: Directory;
  readonly directoryTruth: DirectoryTruth;
  readonly directoryCopies: CopyStore;
  readonly publicIds: PublicIds;
  readonly clientOf: (request: Request) => Client;
  /** Requests to origins must be signed: without `sign` none is sent. */
  readonly mustSign: boolean;
  /** Names of the deployment's invalid settings, for which safe values are taken. */
  readonly invalidSettings: readonly string[];
  readonly rateLimits: RateLimits;
  readonly authenticate: Authenticate;
  /** Absent: the deployment has no console. */
  readonly console: ConsolePort | undefined;
  /** The claims of a client's token, once it is verified; `undefined` without a token. */
  readonly clientClaims: (
    request: Request,
  ) => Promise<Result<Readonly<Record<string, unknown>> | undefined, AuthError>>;
  /** Callers that may mint: all, none, or the callers of scope `mint` that it finds. */
  readonly mintDoor: "open" | "off" | Authenticate;
  /** Whether the forwarding fields of requests are another proxy's of the same operator. */
  readonly trustsForwarded: boolean;
  readonly counters: Counters;
  readonly metrics: Metrics;
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
