import type { Result } from "./ids/result.ts";
import type {
  AuthError,
  PackChangeError,
  RequestError,
  TableChangeError,
  TableError,
  TableHistoryError,
} from "./problems/errors.ts";
import type { CanarySelector } from "./routing/resolve/table-canary.ts";
import type { Fault } from "./routing/schema/faults.ts";
import type { CompiledTable, Decision } from "./routing/table.ts";

/** The ports of the routing table: the one in force, and behind it the truth about all there were, in plain data. */

/** Where the served table came from. */
export type TableSource = "memory" | "edge" | "kv" | "bundled";

/** The table that answers a request, and where and when it was got. */
export interface ServedTable {
  readonly table: CompiledTable;
  readonly source: TableSource;
  /** SHA-256 of the table's text in lower-case hex; `undefined` for the bundled one, which is no text. */
  readonly digest: string | undefined;
  /** When this copy was last confirmed to be the published one, Unix ms. */
  readonly confirmedAtMs: number;
  /** Value of the `waybill-table` field. */
  readonly label: string;
  /** Another table that decides about some of the IDs. */
  readonly canary: ServedCanary | undefined;
}

/** A table for a part of the IDs. Which part follows from what the table beside it makes of an ID. */
export interface ServedCanary extends Pick<ServedTable, "table" | "label"> {
  /** SHA-256 of its text in lower-case hex. */
  readonly digest: string;
  readonly audience: CanarySelector;
  /** Whether it decides about an ID that the other table has decided about. */
  readonly matches: (decision: Decision) => boolean;
  /** Whether it decides about every ID of an entity, those that the other table does not know too. */
  readonly ownsEntity: (entity: string) => boolean;
}

/** The table in force. Never waits once an isolate has one; refreshes in the background. */
export interface Tables {
  /** The table in memory, or `undefined` before the first load. An old one is refreshed beside the request. */
  peek(waitUntil: (work: Promise<unknown>) => void): ServedTable | undefined;
  /** Loads within a deadline; falls back to the bundled copy. */
  load(): Promise<Result<ServedTable, TableError>>;
}

/**
 * - `bundled`: the table that was deployed with the code, as revision 0.
 * - `import`: found in KV under a higher number than any here.
 * - `canary`: for a part of the IDs alone, while it runs.
 */
export type RevisionKind = "bundled" | "publish" | "rollback" | "promote" | "import" | "canary";

/** One state of the table. It never changes, and its number is never given again. */
export interface TableRevision {
  readonly revision: number;
  /** SHA-256 of the text in lower-case hex. */
  readonly digest: string;
  readonly bytes: number;
  readonly author: string;
  /** ISO 8601; `undefined` for revision 0. */
  readonly time: string | undefined;
  readonly note: string;
  readonly kind: RevisionKind;
  /** The revision that a publish or a canary was made for, or whose text a roll-back or a promotion repeats. */
  readonly basedOn: number | undefined;
  /** Of a canary: whom it was for. `undefined` for one that began before this was kept. */
  readonly audience?: CanarySelector | undefined;
}

export interface RunningCanary {
  readonly revision: number;
  readonly digest: string;
  readonly audience: CanarySelector;
}

/** What somebody wants to change. `expectedRevision`: the revision that he has seen last, of the canary where one runs. */
export interface ChangeRequest {
  readonly expectedRevision: number;
  readonly author: string;
  readonly note: string;
}

export interface TableStatus {
  readonly truth: TableRevision;
  readonly canary: RunningCanary | undefined;
  /** What KV holds as the object sees it, and when it was asked; `undefined` for nothing. */
  readonly kv:
    | { readonly revision: number; readonly digest: string; readonly canary: RunningCanary | undefined }
    | undefined;
  readonly askedAtMs: number;
  /** Whether KV is still to be brought to the last revision. */
  readonly isPending: boolean;
  /** What went wrong with KV last, until it is right again. */
  readonly lastError: string | undefined;
}

/** What somebody may want to do to the table; `pack`: to bring what a table is to name. */
export type TableAction = "publish" | "rollback" | "canary" | "promote" | "abort" | "pack";

export interface AuditEntry {
  readonly id: number;
  /** ISO 8601; of tries that are counted together the first one's. */
  readonly time: string;
  readonly author: string;
  readonly action: TableAction | "import";
  /** What it made, or what it ended. */
  readonly revision: number | undefined;
  /** `done`, or the slug of the problem. */
  readonly outcome: string;
  readonly note: string;
  /** Of a canary: whom it is for, or had served when it was promoted or aborted. */
  readonly audience?: CanarySelector | undefined;
  /** Of a pack: its digest. Of tries that are counted together the first one's. */
  readonly pack?: string | undefined;
  /** How often a try was refused alike within a minute, if more than once. */
  readonly times?: number | undefined;
}

/** A change that a known caller wanted, and that was refused before it came here. */
export interface RejectedChange {
  readonly author: string;
  readonly action: TableAction;
  readonly outcome: RequestError["reason"];
  /** Of a pack: its digest. */
  readonly pack?: string | undefined;
}

/** Newest first: `limit` of those whose number is below `before`. */
export interface PageQuery {
  readonly before: number | undefined;
  readonly limit: number;
}

type Answer<Value> = Promise<Result<Value, TableHistoryError>>;
type Change = Promise<Result<TableRevision, TableChangeError>>;

/** All revisions of the table. A change is made only if nobody else was faster: see `ChangeRequest`. */
export interface TableHistory {
  /** The text of a revision, byte for byte; without a number of the one in force. */
  text(revision?: number): Promise<Result<RevisionContent, TableChangeError>>;
  revisions(pageQuery: PageQuery): Answer<readonly TableRevision[]>;
  audit(pageQuery: PageQuery): Answer<readonly AuditEntry[]>;
  status(): Answer<TableStatus>;
  /** What is wrong with the packs that a text names, as KV holds them; none for a text that is no table. */
  packFaults(bytes: Uint8Array): Answer<readonly Fault[]>;
  publish(request: ChangeRequest, bytes: Uint8Array): Change;
  rollback(request: ChangeRequest, to: number): Change;
  startCanary(request: ChangeRequest, bytes: Uint8Array, audience: CanarySelector): Change;
  /** Makes the canary's text the next revision. */
  promote(request: ChangeRequest): Change;
  /** The revision that is in force alone again. */
  abort(request: ChangeRequest): Change;
  /** For the audit. */
  recordRejection(refused: RejectedChange): Answer<undefined>;
}

export interface RevisionContent {
  readonly revision: TableRevision;
  readonly bytes: Uint8Array;
}

/** What the deployment's store holds of a pack. */
export interface PackStatus {
  /** SHA-256 of its header in lower-case hex. */
  readonly sha256: string;
  /** How many pages it has, and the numbers of those that are missing, rising; `undefined` while its header is not known. */
  readonly parts: { readonly pages: number; readonly missing: readonly number[] } | undefined;
  /** Whether all of it is there, verified: a table that names it can be published. */
  readonly isWhole: boolean;
}

/** `isNew`: whether something was stored that was not there before; `completes`: whether the pack lacked nothing else. */
export interface PackReceipt {
  readonly status: PackStatus;
  readonly isNew: boolean;
  readonly completes: boolean;
}

/** Who brings a part of which pack. `sha256`: of its header, in lower-case hex. */
export interface PackPartRequest {
  readonly sha256: string;
  readonly author: string;
}

/**
 * Where packs are put, for tables that are to name them. Whatever is put is verified; the same bytes again change nothing.
 * The audit tells of each pack once, when it is whole, and of parts that were refused.
 */
export interface PackStore {
  packStatus(sha256: string): Answer<PackStatus>;
  /** The first part of a pack: its pages are verified by it. */
  putHeader(request: PackPartRequest, bytes: Uint8Array<ArrayBuffer>): Promise<Result<PackReceipt, PackChangeError>>;
  putPage(
    request: PackPartRequest,
    page: number,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<Result<PackReceipt, PackChangeError>>;
}

/** `viewer` sees the gateway's own pages, `operator` changes what they show as well. */
export type Scope = "viewer" | "operator";

/** Who asks for the gateway's own pages. */
export interface Caller {
  /** Of the token, or the address or service token that Access vouches for. It stands in the audit. */
  readonly name: string;
  readonly scope: Scope;
  /** `access` comes with a browser's cookie, so another site can make the browser send it; `open-pages` is for everybody. */
  readonly by: "token" | "access" | "open-pages";
}

/** Who sends a request, or why that cannot be told. Never throws. */
export type Authenticate = (request: Request) => Promise<Result<Caller, AuthError>>;

/** Why a request for the gateway's own pages was turned away, as it is counted. */
export type DenialReason = "missing" | "wrong" | Exclude<AuthError["reason"], "unauthenticated">;
