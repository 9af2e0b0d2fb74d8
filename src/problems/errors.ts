import type { PackFault } from "../routing/packs/format.ts";
import type { Fault } from "../routing/schema/faults.ts";

/** Why one of the gateway's own endpoints does not take a request. */
export type RequestError =
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  | { readonly reason: "not-found"; readonly path: string }
  | { readonly reason: "method-not-allowed"; readonly method: string; readonly allow: readonly string[] }
  | { readonly reason: "body-too-large"; readonly bytesMax: number }
  | { readonly reason: "precondition-required" }
  | {
      readonly reason: "unknown-name";
      readonly what: string;
      readonly name: string;
      readonly known: readonly string[];
    }
  | { readonly reason: "region-unknown"; readonly path: string; readonly sources: readonly string[] }
  | {
      readonly reason: "rate-limited";
      readonly limit: "client" | "entity" | "lookup";
      readonly retryAfterSeconds: number;
    }
  | { readonly reason: "forbidden"; readonly why: "scope"; readonly needs: "viewer" | "operator" }
  | { readonly reason: "forbidden"; readonly why: "cross-site" }
  | { readonly reason: "transfer-coding-unsupported" }
  | { readonly reason: "internal-error" };

/** Why a port of the gateway (see `src/ports.ts`) could not give what it is for. */

/** `retryAfterMs`: when it can be had at the earliest, where that is known. */
export type TableError =
  | { readonly reason: "table-unavailable"; readonly why: string }
  | { readonly reason: "table-unavailable"; readonly why: string; readonly retryAfterMs: number };

export type SequenceError =
  | { readonly reason: "sequence-exhausted"; readonly name: string; readonly max: number }
  | { readonly reason: "sequence-unavailable"; readonly name: string };

/** Why nobody knows who asks. `why` is for the counters: a stranger is not told whether a credential is near to a right one. */
export type AuthError =
  | { readonly reason: "unauthenticated"; readonly why: "missing" | "wrong" }
  | { readonly reason: "authentication-unavailable" }
  /** Pages that are open to everybody on a machine are asked for by a name that can be anybody's. */
  | { readonly reason: "forbidden"; readonly why: "host"; readonly host: string }
  | { readonly reason: "rate-limited"; readonly limit: "failed-attempts"; readonly retryAfterSeconds: number };

/** `no-keys`: the deployment has no key for the kind that the entity's IDs have; no entity: for several of them. */
export type PublicIdsError = {
  readonly reason: "public-ids-unavailable";
  readonly why: "no-keys";
  readonly entity?: string;
};

/**
 * The object that keeps the tables could not be asked, or it does not know enough to answer. `outcome`: of a change, whether
 * it may have been made or be made yet; absent for what changes nothing.
 */
export type TableHistoryError = {
  readonly reason: "control-plane-unavailable";
  readonly why: string;
  readonly outcome?: "unknown" | "none" | undefined;
};

/** Why a part of a pack was not taken. `fault`: what is wrong with its bytes. */
export type PackChangeError =
  | TableHistoryError
  | { readonly reason: "unknown-pack"; readonly sha256: string; readonly why: string }
  | {
      readonly reason: "invalid-pack";
      readonly part: "header" | number;
      readonly fault: PackFault["reason"];
      readonly why: string;
    };

/** Why a change of the table was not made, or a revision cannot be had. */
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
