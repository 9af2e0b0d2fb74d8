import type { Result } from "../../ids/result.ts";
import type { IdempotencyError } from "./problems.ts";

declare module "../../ports/gateway.ts" {
  interface Gateway {
    readonly idempotency: IdempotencyKeys;
  }
}

/** The port of idempotency keys, in plain data. */

/** The facts of a create, fixed by the first attempt: all retries get the same ID in the same region. */
export interface CreateRecord {
  readonly entity: string;
  /** As the client sees it; of several that are created at once all, joined by commas; of a mint the first. */
  readonly id: string;
  readonly region: string;
  readonly revision: number;
}

/** An answer as every retry gets it. */
export interface KeptAnswer {
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export interface BeginCall {
  /** The caller's scope, by `scopeOf`. One key of two callers is two keys. */
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
  /** Made by the caller for this attempt: a repeated begin with it is the same begin. */
  readonly attempt: string;
  readonly proposal: CreateRecord;
  /** Known already: the key is done at once (mints). */
  readonly answer?: KeptAnswer;
  /** From the first begin on. 0: only a look-up; an absent key stays absent. */
  readonly ttlMs: number;
  /** After it a silent attempt is taken for dead. */
  readonly leaseMs: number;
}

/** `untilMs`: when the key ends, Unix ms. */
export type Begun =
  | { readonly state: "started"; readonly record: CreateRecord; readonly isResumed: boolean; readonly untilMs: number }
  | { readonly state: "running"; readonly retryAfterSeconds: number; readonly untilMs: number }
  | { readonly state: "done"; readonly record: CreateRecord; readonly answer: KeptAnswer; readonly untilMs: number }
  | { readonly state: "mismatch"; readonly untilMs: number }
  | { readonly state: "full"; readonly max: number; readonly which: "keys" | "bytes" };

export interface FinishCall {
  readonly scope: string;
  readonly key: string;
  readonly attempt: string;
  /** Absent: nothing is kept, and a retry asks the origin again with the same ID. */
  readonly answer?: KeptAnswer;
  /** Whether the request was none: a key that this attempt began is free again. */
  readonly isVoid?: boolean;
  /** The end of the attempt's lease, Unix ms, until which a call that is lost is made again. */
  readonly leaseUntilMs?: number;
}

/** One key of one caller, for support. */
export interface KeyEntry {
  /** The first 12 hex digits of the caller's hash; empty for requests without a credential. */
  readonly scope: string;
  /** `open`: no attempt is under way, and no answer is kept; a retry asks the origin again. */
  readonly state: "running" | "open" | "done";
  readonly record: CreateRecord;
  readonly fingerprint: string;
  readonly attempts: number;
  readonly startedAtMs: number;
  readonly untilMs: number;
  readonly answer: { readonly status: number; readonly bytes: number } | undefined;
}

/** Keys of creates, each with the ID that was chosen for it and, once there is one, its answer. */
export interface IdempotencyKeys {
  begin(call: BeginCall): Promise<Result<Begun, IdempotencyError>>;
  /** Called when an attempt ends, whatever way. It does nothing where another attempt has the key by now. */
  finish(call: FinishCall): Promise<Result<undefined, IdempotencyError>>;
  /** The entries of a key, of all callers. */
  show(key: string): Promise<Result<readonly KeyEntry[], IdempotencyError>>;
}
