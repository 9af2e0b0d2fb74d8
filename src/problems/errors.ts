import type { Fault, UnknownName } from "../routing/schema/faults.ts";

export type RequestError =
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  | UnknownName
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
  | {
      readonly reason: "forbidden";
      readonly why: "scope";
      readonly needs: "support" | "viewer" | "operator" | "mint" | "directory";
    }
  | { readonly reason: "forbidden"; readonly why: "cross-site" | "not-console" | "no-preview" }
  | { readonly reason: "console-unavailable"; readonly why: "not-built" | "streams" }
  | { readonly reason: "module-unavailable"; readonly module: string }
  | { readonly reason: "answer-too-large"; readonly bytesMax: number }
  | { readonly reason: "transfer-coding-unsupported" }
  | { readonly reason: "signing-unavailable" }
  | { readonly reason: "internal-error" };

/** Why a port of the gateway (see `src/ports/gateway.ts`) failed. */

/** `retryAfterMs`: the earliest time for a retry, if known. */
export type TableError = { readonly reason: "table-unavailable"; readonly why: string; readonly retryAfterMs?: number };

/** `why` is only for metrics: clients must not learn whether a credential was nearly right. */
export type AuthError =
  | { readonly reason: "unauthenticated"; readonly why: "missing" | "wrong" }
  | { readonly reason: "authentication-unavailable" }
  /** Local pages without authentication require a local `Host`, against DNS rebinding. */
  | { readonly reason: "forbidden"; readonly why: "host"; readonly host: string }
  | { readonly reason: "rate-limited"; readonly limit: "failed-attempts"; readonly retryAfterSeconds: number };

/** Unreachable, or in doubt. `outcome`: whether a change may have been made or may still be made. Absent for reads. */
export type TableHistoryError = {
  readonly reason: "control-plane-unavailable";
  readonly why: string;
  readonly outcome?: "unknown" | "none" | undefined;
};

/** Why the gateway's state is neither exported nor imported here. `why`: a sentence without its end. */
export type StateError = { readonly reason: "state-refused"; readonly why: string } | TableHistoryError;

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

export type PortError = TableError | TableChangeError | AuthError | StateError;
