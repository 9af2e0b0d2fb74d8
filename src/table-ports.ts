import type { Result } from "./ids/result.ts";
import type { PackChangeError, TableChangeError, TableError, TableHistoryError } from "./problems/port-errors.ts";
import type { RequestError } from "./problems/request-error.ts";
import type { Fault } from "./routing/faults.ts";
import type { CompiledTable, Decision } from "./routing/table.ts";
import type { CanaryAudience } from "./routing/table-canary.ts";

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
  readonly audience: CanaryAudience;
  /** Whether it decides about an ID that the other table has decided about. */
  readonly chooses: (decision: Decision) => boolean;
  /** Whether it decides about every ID of an entity, those that the other table does not know too. */
  readonly servesAll: (entity: string) => boolean;
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
  readonly audience?: CanaryAudience | undefined;
}

export interface RunningCanary {
  readonly revision: number;
  readonly digest: string;
  readonly audience: CanaryAudience;
}

/** What somebody wants to change. `expect`: the revision that he has seen last, of the canary where one runs. */
export interface TableWish {
  readonly expect: number;
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
  readonly audience?: CanaryAudience | undefined;
  /** Of a pack: its digest. Of tries that are counted together the first one's. */
  readonly pack?: string | undefined;
  /** How often a try was refused alike within a minute, if more than once. */
  readonly times?: number | undefined;
}

/** A change that a known caller wanted, and that was refused before it came here. */
export interface RefusedChange {
  readonly author: string;
  readonly action: TableAction;
  readonly outcome: RequestError["reason"];
  /** Of a pack: its digest. */
  readonly pack?: string | undefined;
}

/** Newest first: `limit` of those whose number is below `before`. */
export interface Stretch {
  readonly before: number | undefined;
  readonly limit: number;
}

type Answer<Value> = Promise<Result<Value, TableHistoryError>>;
type Change = Promise<Result<TableRevision, TableChangeError>>;

/** All revisions of the table. A change is made only if nobody else was faster: see `TableWish`. */
export interface TableHistory {
  /** The text of a revision, octet for octet; without a number of the one in force. */
  text(revision?: number): Promise<Result<RevisionText, TableChangeError>>;
  revisions(stretch: Stretch): Answer<readonly TableRevision[]>;
  audit(stretch: Stretch): Answer<readonly AuditEntry[]>;
  status(): Answer<TableStatus>;
  /** What is wrong with the packs that a text names, as KV holds them; none for a text that is no table. */
  packFaults(octets: Uint8Array): Answer<readonly Fault[]>;
  publish(wish: TableWish, octets: Uint8Array): Change;
  rollback(wish: TableWish, to: number): Change;
  startCanary(wish: TableWish, octets: Uint8Array, audience: CanaryAudience): Change;
  /** Makes the canary's text the next revision. */
  promote(wish: TableWish): Change;
  /** The revision that is in force alone again. */
  abort(wish: TableWish): Change;
  /** For the audit. */
  noteRefusal(refused: RefusedChange): Answer<undefined>;
}

export interface RevisionText {
  readonly revision: TableRevision;
  readonly octets: Uint8Array;
}

/** What the deployment's store holds of a pack. */
export interface PackSight {
  /** SHA-256 of its header in lower-case hex. */
  readonly sha256: string;
  /** How many pages it has, and the numbers of those that are missing, rising; `undefined` while its header is not known. */
  readonly parts: { readonly pages: number; readonly missing: readonly number[] } | undefined;
  /** Whether all of it is there, verified: a table that names it can be published. */
  readonly isWhole: boolean;
}

/** `isNew`: whether something was stored that was not there before; `completes`: whether the pack lacked nothing else. */
export interface PackReceipt {
  readonly sight: PackSight;
  readonly isNew: boolean;
  readonly completes: boolean;
}

/** Who brings a part of which pack. `sha256`: of its header, in lower-case hex. */
export interface PackWish {
  readonly sha256: string;
  readonly author: string;
}

/**
 * Where packs are put, for tables that are to name them. Whatever is put is verified; the same octets again change nothing.
 * The audit tells of each pack once, when it is whole, and of parts that were refused.
 */
export interface PackStore {
  sight(sha256: string): Answer<PackSight>;
  /** The first part of a pack: its pages are verified by it. */
  putHeader(wish: PackWish, octets: Uint8Array<ArrayBuffer>): Promise<Result<PackReceipt, PackChangeError>>;
  putPage(wish: PackWish, page: number, octets: Uint8Array<ArrayBuffer>): Promise<Result<PackReceipt, PackChangeError>>;
}
