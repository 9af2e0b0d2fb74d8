import type { Pointer, PointerCanary } from "../formats/kv.ts";
import type { AuditEntry, TableRevision, TableSource } from "../formats/table-api.ts";
import type { Result } from "../ids/result.ts";
import type { AuthError, RequestError, TableChangeError, TableError, TableHistoryError } from "../problems/errors.ts";
import type { CanarySelector } from "../routing/resolve/table-canary.ts";
import type { Fault } from "../routing/schema/faults.ts";
import type { CompiledTable, IdDecision } from "../routing/table.ts";

/** Ports of the routing table, its control plane and the authentication of operators, in plain data. */

/** The table that decides a request, with its source and age. */
export interface ServedTable {
  readonly table: CompiledTable;
  readonly source: TableSource;
  /** SHA-256 of the table's text in lower-case hex; `undefined` for the bundled table, which has no text. */
  readonly digest: string | undefined;
  /** When this copy was last confirmed as the published one, Unix ms. */
  readonly confirmedAtMs: number;
  /** Value of the `waybill-table` header. */
  readonly label: string;
  readonly canary: ServedCanary | undefined;
}

/** A table for some of the IDs, selected by the decision of the stable table. */
export interface ServedCanary extends Pick<ServedTable, "table" | "label"> {
  /** SHA-256 of its text in lower-case hex. */
  readonly digest: string;
  readonly audience: CanarySelector;
  /** Whether it decides an ID, given the decision of the stable table. */
  readonly matches: (decision: IdDecision) => boolean;
  /** Whether it decides every ID of an entity, even those that the stable table does not know. */
  readonly ownsEntity: (entity: string) => boolean;
}

/** The current table. Requests never wait once an isolate has one; it is refreshed in the background. */
export interface Tables {
  /** The table in memory, or `undefined` before the first load. A stale one is refreshed in the background. */
  peek(waitUntil: (work: Promise<unknown>) => void): ServedTable | undefined;
  /** Loads within a deadline; falls back to the bundled copy. */
  load(): Promise<Result<ServedTable, TableError>>;
}

export type RunningCanary = PointerCanary;

/** A change. `expectedRevision`: the current revision as the author knows it, or that of a running canary. */
export type ChangeRequest = Readonly<{
  expectedRevision: number;
  author: string;
  note: string;
  /** When its caller no longer waits, Unix ms: a change that is later is not made. Absent from callers of former versions. */
  notAfterMs?: number;
}>;

export interface TableStatus {
  readonly truth: TableRevision;
  readonly canary: RunningCanary | undefined;
  /** The pointer in KV and when it was read; `undefined` for none. */
  readonly kv: Pick<Pointer, "revision" | "digest" | "canary"> | undefined;
  readonly askedAtMs: number;
  /** Whether KV lags behind the last revision. */
  readonly isPending: boolean;
  /** The last error with KV, until it is resolved. */
  readonly lastError: string | undefined;
}

/** A change of the table; `pack` is an upload. */
export type TableAction = Exclude<AuditEntry["action"], "import">;

/** A change of an authenticated caller that was rejected before it reached the control plane. */
export interface RejectedChange {
  readonly author: string;
  readonly action: TableAction;
  readonly outcome: RequestError["reason"];
  /** Digest of a pack. */
  readonly pack?: string | undefined;
}

/** Newest first: `limit` of those whose number is below `before`. */
export type PageQuery = Readonly<{ before: number | undefined; limit: number }>;

type Answer<Value> = Promise<Result<Value, TableHistoryError>>;
type Change = Promise<Result<TableRevision, TableChangeError>>;

/** The revisions of the table, with optimistic concurrency (see `ChangeRequest`). */
export interface TableHistory {
  /** The text of a revision, byte for byte; by default the current one. */
  text(revision?: number): Promise<Result<RevisionContent, TableChangeError>>;
  revisions(pageQuery: PageQuery): Answer<readonly TableRevision[]>;
  audit(pageQuery: PageQuery): Answer<readonly AuditEntry[]>;
  status(): Answer<TableStatus>;
  /** Faults of parts of a table that are stored apart from its text; none for a text that is not a table. */
  partFaults(bytes: Uint8Array): Answer<readonly Fault[]>;
  publish(request: ChangeRequest, bytes: Uint8Array): Change;
  rollback(request: ChangeRequest, to: number): Change;
  startCanary(request: ChangeRequest, bytes: Uint8Array, audience: CanarySelector): Change;
  /** Makes the canary's table the next revision. */
  promote(request: ChangeRequest): Change;
  /** Returns the revision that is in force again. */
  abort(request: ChangeRequest): Change;
  /** For the audit. */
  recordRejection(refused: RejectedChange): Answer<undefined>;
}

/** The control plane. A feature adds calls of its own, such as uploads. */
export interface ControlPlaneApi extends TableHistory {}

export type RevisionContent = Readonly<{ revision: TableRevision; bytes: Uint8Array }>;

/**
 * `support` looks IDs up, `viewer` sees all of the gateway's own pages, `operator` changes them. `mint` mints IDs, and `directory`
 * claims keys, and no more.
 */
export type Scope = "support" | "viewer" | "operator" | "mint" | "directory";

export interface Caller {
  /** Name of the token, or the e-mail address or service token from Access; the author in the audit. */
  readonly name: string;
  readonly scope: Scope;
  /** `access`: by a browser's cookie, which another site can make the browser send. `open-pages`: without authentication. */
  readonly by: "token" | "access" | "open-pages" | "session";
  /** Times of a session. */
  readonly session?: SessionTimes;
}

/** Unix ms. It is renewed while it is used, from when it began. */
export type SessionTimes = Readonly<{ startedAtMs: number; untilMs: number }>;

/** Authenticates a request by what it carries; its client is read only where one is limited. Never throws. */
export type Authenticate = (arrival: Arrival) => Promise<Result<Caller, AuthError>>;

export interface Arrival {
  readonly request: Request;
  readonly client: { readonly address: string | undefined; readonly host?: string | undefined };
}

/** Why a request for the gateway's own pages was denied, as a label of a counter. */
export type DenialReason = "missing" | "wrong" | Exclude<AuthError["reason"], "unauthenticated">;
