import type { Result } from "../../ids/result.ts";
import type { DirectoryPlan, KeyUnavailable } from "./table/types.ts";

declare module "../../ports/gateway.ts" {
  interface LoadPorts {
    readonly directory: Directory;
  }
  interface Gateway {
    readonly directoryTruth: DirectoryTruth;
    readonly directoryCopies: CopyStore;
  }
}

declare module "../../ports/metrics.ts" {
  interface CountedEvents {
    /** Look-ups in directories, by the layer that answered; `absent` from any. */
    readonly directory_lookups: readonly [directory: string, outcome: LookupOutcome];
    /** While a directory is verified: its answer beside the one that decided. */
    readonly directory_comparisons: readonly [directory: string, outcome: DirectoryComparison["outcome"]];
    /** Changes that origins asked for in answers. */
    readonly directory_updates: readonly [directory: string, kind: "register" | "learn", outcome: UpdateOutcome];
  }
  interface RequestLine {
    /** Where a directory decided without a key that it surely has; see `Rule`. */
    readonly directory?: "stale" | "default" | "unknown" | undefined;
  }
}

/** The directory: regions of keys that carry no shard, such as slugs, e-mail addresses and random UUIDs. Keys are normalised. */

/**
 * The layer that answered. `pages`: a published copy of the whole directory. `stale`: what a cache still had after every layer
 * behind it failed. `default`: the region that the table declares for that case.
 */
export type DirectorySource = "memory" | "cache" | "pages" | "object" | "stale" | "default";

/** The result of a look-up. `absent`: the truth, or a copy that is young enough, says that there is no such key. */
export type DirectoryAnswer =
  | { readonly state: "found"; readonly region: string; readonly source: DirectorySource }
  /** `isReserved`: it is being claimed. */
  | { readonly state: "absent"; readonly source: DirectorySource; readonly isReserved?: boolean | undefined };

/** No layer could say, or too many unknown names were asked for. Never taken for `absent`. */
export type DirectoryFailure = KeyUnavailable;

export type LookupOutcome = DirectorySource | "absent" | "unknown" | "busy" | "failed";

/** `unsigned`: the deployment signs no requests, so nothing proves the origin. `invalid`: not a list of keys. */
type UpdateOutcome = ClaimOutcome["state"] | "failed" | "unsigned" | "invalid";

/** Looks keys up, the nearest layer first. */
export interface Directory {
  /** `caller`: whose look-ups of unknown names are counted together, such as the client's address. */
  lookup(
    plan: DirectoryPlan,
    key: string,
    caller: string | undefined,
  ): Promise<Result<DirectoryAnswer, DirectoryFailure>>;
  /** The answer of a directory that is verified, beside what decided. */
  compared(comparison: DirectoryComparison): void;
  /** Drops the copies of this isolate and location: the key was changed. */
  forget(directory: string, key: string): Promise<void>;
  /** Drops what this isolate knows of keys that an import may have changed: absent ones and, `withFound`, all. */
  forgetMany(directory: string, withFound: boolean): void;
}

/** `same`: both lead to one region. `unknown`: the directory has no such key. `failed`: it could not say. */
export interface DirectoryComparison {
  readonly directory: string;
  readonly outcome: "same" | "differs" | "unknown" | "failed";
  readonly entity: string | undefined;
  /** The region that was decided on, and the one of the directory. */
  readonly decided: string;
  readonly said: string | undefined;
}

/**
 * A published copy of a directory: the layer between the caches and the objects. It decides no claim. An error, and a copy
 * that is not there, are `undefined`: then the objects are asked.
 */
export interface CopyLayer {
  find(directory: string, key: string): Promise<CopyAnswer | undefined>;
  /** By a page in memory, without waiting; `undefined` also where the copy is to be checked again first. */
  peek(directory: string, key: string): CopyAnswer | undefined;
  /** The key was changed here: the copy is wrong about it. */
  forget(directory: string, key: string): void;
  /** Another copy was put in force here, or none: KV is read again, if the last one is in memory. Within a deadline. */
  renew(directory: string): Promise<void>;
}

/**
 * `isConfirmed`: false while the objects do not say whether the key was changed since the copy was made. `builtAtMs`: when the copy was read out of the objects. An `absent` key may have been claimed since.
 */
export type CopyAnswer =
  | { readonly state: "found"; readonly region: string; readonly builtAtMs: number; readonly isConfirmed?: boolean }
  | { readonly state: "absent"; readonly builtAtMs: number };

/** Published copies by the digests of their headers, for those who make and verify them. Without a page: the header. */
export interface CopyStore {
  /** The digest of the copy in force. */
  current(directory: string): Promise<Result<string | undefined, DirectoryFailure>>;
  read(
    directory: string,
    sha256: string,
    page: number | undefined,
  ): Promise<Result<Uint8Array<ArrayBuffer> | undefined, DirectoryFailure>>;
  write(
    directory: string,
    sha256: string,
    page: number | undefined,
    bytes: Uint8Array,
  ): Promise<Result<void, DirectoryFailure>>;
  /** Puts a copy in force, or none. */
  point(directory: string, sha256: string | undefined): Promise<Result<void, DirectoryFailure>>;
}

/** A key of a directory. */
export interface DirectoryKey {
  readonly directory: string;
  readonly key: string;
}

/** A claim, made by the caller. */
export interface Claim extends DirectoryKey {
  /** The entity's ID that the key will name, as the caller writes it. */
  readonly owner: string;
  /** Made by the caller for this claim: a repeated call with it is the same call. */
  readonly operation: string;
}

export interface Reservation extends Claim {
  readonly region: string;
  /** After it another owner may reserve the key. */
  readonly leaseMs: number;
}

/** One key as the truth has it. */
export interface DirectoryEntry {
  readonly key: string;
  readonly region: string;
  /** Absent where an import gave none. */
  readonly owner: string | undefined;
  /** `expired`: a reservation after its lease, which another owner may take. Only a confirmed key routes. */
  readonly state: "reserved" | "expired" | "confirmed";
  /** Rises with each change of the object: the ETag. */
  readonly version: number;
  readonly changedAtMs: number;
  /** End of a reservation. */
  readonly leaseUntilMs: number | undefined;
  /** Since when an origin reports that it has no such entity. */
  readonly missingSinceMs: number | undefined;
}

/** `done`: also for a repeated call, and for the owner of a key that is confirmed already. */
export type ClaimOutcome =
  | { readonly state: "done"; readonly entry: DirectoryEntry }
  /** Another owner has it for good. */
  | { readonly state: "taken" }
  /** Another owner has reserved it. */
  | { readonly state: "held"; readonly retryAfterSeconds: number }
  /** There is no reservation of this operation any more. */
  | { readonly state: "lost" }
  | { readonly state: "full" };

/** `version`: the current one. */
export type ChangeOutcome =
  | { readonly state: "done"; readonly entry: DirectoryEntry | undefined }
  | { readonly state: "absent" }
  | { readonly state: "stale"; readonly version: number };

/** The truth, out of the Durable Objects. No cache answers here. All calls may be repeated, but for `move` and `remove`: read the key after a failure of these. */
export interface DirectoryTruth {
  get(at: DirectoryKey): Promise<Result<DirectoryEntry | undefined, DirectoryFailure>>;
  reserve(claim: Reservation): Promise<Result<ClaimOutcome, DirectoryFailure>>;
  confirm(claim: Claim): Promise<Result<ClaimOutcome, DirectoryFailure>>;
  /** Ends a reservation. One that is not there any more is released already; a confirmed key is `taken`. */
  release(claim: Claim): Promise<Result<"done" | "taken", DirectoryFailure>>;
  /** Both phases at once: what a signed origin says of an entity that it has created. */
  register(claim: Omit<Reservation, "leaseMs">): Promise<Result<ClaimOutcome, DirectoryFailure>>;
  move(at: DirectoryKey, region: string, version: number): Promise<Result<ChangeOutcome, DirectoryFailure>>;
  remove(at: DirectoryKey, version: number): Promise<Result<ChangeOutcome, DirectoryFailure>>;
  /** An origin has no entity of a confirmed key: it is an orphan, until it is moved or confirmed again. */
  reportMissing(at: DirectoryKey, version: number): Promise<Result<ChangeOutcome, DirectoryFailure>>;
  /** An origin said that the key's entity moved. Nothing changes unless the key leads to `from`. */
  learn(at: DirectoryKey, from: string, region: string): Promise<Result<undefined, DirectoryFailure>>;
  /** Keys about which earlier copies are wrong. They are noted before it is changed. */
  changesSince(directory: string, sinceMs: number): Promise<Result<KeyChanges, DirectoryFailure>>;
  /** Reservations after their lease, and confirmed keys that an origin reports missing, of one shard. */
  orphans(directory: string, shard: number, after: string, limit: number): Promise<Result<Rows, DirectoryFailure>>;
  /** Keys of one shard in the order of their bytes, beginning after a key. */
  scan(directory: string, shard: number, after: string, limit: number): Promise<Result<Rows, DirectoryFailure>>;
  /** How many keys one shard has now. */
  count(directory: string, shard: number): Promise<Result<KeyCounts, DirectoryFailure>>;
  /** Confirmed keys, all of one shard. Keys that are there with another region or owner stay, and are conflicts, unless `replace`. */
  putMany(
    directory: string,
    shard: number,
    rows: readonly BulkRow[],
    replace: boolean,
  ): Promise<Result<PutMany, DirectoryFailure>>;
  /** As `putMany`, and nothing is written. */
  tryMany: DirectoryTruth["putMany"];
}

/** Keys moved, removed or replaced since a time: copies of before are wrong about it. `undefined`: too much to name. */
export type KeyChanges = readonly string[] | undefined;

/** Keys by state. `missing`: those of the confirmed ones that an origin reports missing. */
export interface KeyCounts {
  readonly confirmed: number;
  readonly reserved: number;
  readonly expired: number;
  readonly missing: number;
}

export interface Rows {
  readonly rows: readonly DirectoryEntry[];
  /** The key to go on after; `undefined` at the end. */
  readonly next: string | undefined;
}

export type BulkRow = readonly [key: string, region: string, owner: string | null];

/** Rows of one call are put one after the other: a repeated key meets what the row before it left. */
export interface PutMany {
  readonly added: number;
  readonly unchanged: number;
  readonly replaced: number;
  readonly conflicts: number;
  /** The first of them. */
  readonly conflictKeys: readonly string[];
  /** The indexes of their rows; absent in the answer of a former version. */
  readonly conflictRows?: readonly number[];
  readonly isFull: boolean;
}
