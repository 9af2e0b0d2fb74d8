import type { CreateKeyError } from "../features/create/table/request.ts";
import type { KeyUnavailable } from "../features/directory/table/types.ts";
import type { MintPlanError } from "../features/mint/table/request.ts";
import type { PackFault } from "../features/packs/table/format.ts";
import type { StaleClientId } from "../ids/index.ts";
import type { Fault } from "../routing/schema/faults.ts";

export type RequestError =
  | Exclude<MintPlanError, { readonly reason: "key-out-of-range" }>
  | { readonly reason: "not-found"; readonly path: string }
  | { readonly reason: "method-not-allowed"; readonly method: string; readonly allow: readonly string[] }
  | { readonly reason: "body-too-large"; readonly bytesMax: number }
  | { readonly reason: "precondition-required" }
  | {
      readonly reason: "region-unknown";
      readonly path: string;
      readonly sources: readonly string[];
      /** Values that are in no list, of the sources that let such values go on. */
      readonly unlisted?: readonly { readonly source: string; readonly value?: string }[];
    }
  | {
      readonly reason: "rate-limited";
      readonly limit: "client" | "entity" | "lookup";
      readonly retryAfterSeconds: number;
    }
  | { readonly reason: "idempotency-key-invalid" }
  | { readonly reason: "idempotency-key-missing"; readonly entity: string }
  | { readonly reason: "idempotency-key-in-use"; readonly retryAfterSeconds: number }
  | { readonly reason: "idempotency-key-mismatch" }
  | { readonly reason: "coding-not-accepted"; readonly coding: string }
  | {
      readonly reason: "idempotency-keys-exhausted";
      readonly which: "keys" | "bytes";
      readonly max: number;
      readonly retryAfterSeconds: number;
    }
  | {
      readonly reason: "forbidden";
      readonly why: "scope";
      readonly needs: "support" | "viewer" | "operator" | "mint" | "directory";
    }
  | { readonly reason: "forbidden"; readonly why: "cross-site" | "not-console" | "no-preview" }
  | { readonly reason: "console-unavailable"; readonly why: "not-built" | "streams" }
  | CreateKeyError
  /** `count` and `max`: absent without a list. */
  | {
      readonly reason: "create-count";
      readonly entity: string;
      readonly count: number | undefined;
      readonly max: number | undefined;
    }
  | { readonly reason: "create-regions"; readonly entity: string; readonly regions: readonly string[] }
  | {
      readonly reason: "stale-client-id";
      readonly id: string;
      readonly entity: string;
      readonly stale: StaleClientId;
      /** A public ID hides its time. */
      readonly isPublic?: boolean;
    }
  | {
      readonly reason: "ids-disagree";
      /** `id`: absent for a public entity. */
      readonly ids: readonly {
        readonly place: string;
        readonly entity: string;
        readonly id?: string;
        readonly region: string;
      }[];
    }
  | { readonly reason: "id-not-in-time"; readonly withinBytes: number }
  | { readonly reason: "id-unreadable"; readonly detail: string }
  | { readonly reason: "list-cursor-invalid"; readonly why: "malformed" | "expired" | "other-list" | "other-caller" }
  /** `regions`: what each that failed lacked, by name. */
  | {
      readonly reason: "list-incomplete";
      readonly entity: string;
      readonly regions: Readonly<Record<string, string>>;
    }
  | { readonly reason: "cursors-unavailable" }
  | { readonly reason: "module-unavailable"; readonly module: string }
  | { readonly reason: "answer-too-large"; readonly bytesMax: number }
  | KeyError<"key-reserved", { readonly retryAfterSeconds: number }>
  | KeyError<"claim-lost">
  | KeyError<"key-taken">
  | KeyError<"directory-full">
  | { readonly reason: "stale-key"; readonly directory: string; readonly version: number }
  | { readonly reason: "transfer-coding-unsupported" }
  | { readonly reason: "signing-unavailable" }
  | { readonly reason: "internal-error" };

type KeyError<Reason extends string, More = unknown> = More & {
  readonly reason: Reason;
  readonly directory: string;
  readonly key: string;
};

/** Why a port of the gateway (see `src/ports/gateway.ts`) failed. */

/** `retryAfterMs`: the earliest time for a retry, if known. */
export type TableError = { readonly reason: "table-unavailable"; readonly why: string; readonly retryAfterMs?: number };

export type SequenceError =
  | { readonly reason: "sequence-exhausted"; readonly name: string; readonly max: number }
  /** `isRangeInvalid`: SEQUENCE_RANGE cannot be read, so no retry helps. */
  | { readonly reason: "sequence-unavailable"; readonly name: string; readonly isRangeInvalid?: true }
  /** `least`: the first key that SEQUENCE_RANGE may name now. */
  | { readonly reason: "sequence-range-refused"; readonly name: string; readonly least: number }
  | { readonly reason: "sequence-ahead"; readonly name: string; readonly retryAfterSeconds: number };

/** `why` is only for the log. */
export type IdempotencyError = { readonly reason: "idempotency-unavailable"; readonly why: string };

/** `why` is only for metrics: clients must not learn whether a credential was nearly right. */
export type AuthError =
  | { readonly reason: "unauthenticated"; readonly why: "missing" | "wrong" }
  | { readonly reason: "authentication-unavailable" }
  /** Local pages without authentication require a local `Host`, against DNS rebinding. */
  | { readonly reason: "forbidden"; readonly why: "host"; readonly host: string }
  | { readonly reason: "rate-limited"; readonly limit: "failed-attempts"; readonly retryAfterSeconds: number };

/** `no-keys`: the deployment has no key for the kind of the entity's IDs. Without an entity: for those of several. */
export type PublicIdsError = {
  readonly reason: "public-ids-unavailable";
  readonly why: "no-keys";
  readonly entity?: string;
};

/** Unreachable, or in doubt. `outcome`: whether a change may have been made or may still be made. Absent for reads. */
export type TableHistoryError = {
  readonly reason: "control-plane-unavailable";
  readonly why: string;
  readonly outcome?: "unknown" | "none" | undefined;
};

/** Why a part of a pack was rejected. `fault`: the error in its bytes. */
export type PackChangeError =
  | TableHistoryError
  | { readonly reason: "unknown-pack"; readonly sha256: string; readonly why: string }
  | {
      readonly reason: "invalid-pack";
      readonly part: "header" | number;
      readonly fault: PackFault["reason"];
      readonly why: string;
    };

/** Why a table change was not made, or a revision is not available. */
export type TableChangeError =
  | TableHistoryError
  | {
      readonly reason: "stale-revision";
      readonly expected: number;
      readonly current: number;
      readonly canary: number | undefined;
    }
  | { readonly reason: "canary-running"; readonly canary: number }
  | { readonly reason: "no-canary" }
  | { readonly reason: "unknown-revision"; readonly revision: number; readonly why: string }
  | { readonly reason: "invalid-table"; readonly faults: readonly Fault[] };

export type PortError =
  | KeyUnavailable
  | SequenceError
  | TableError
  | TableChangeError
  | PackChangeError
  | PublicIdsError
  | IdempotencyError
  | AuthError;
