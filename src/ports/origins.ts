import type { OriginFault } from "../proxy/errors.ts";
import type { BreakerPolicy, Origin, Region } from "../routing/table.ts";

/** Origins: which may be asked, how often again, and where they said that entities are. */

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

/** How many requests may be sent again. */
export interface RetryBudget {
  /** Whether no region has spent anything lately: then there is nothing to earn. */
  readonly isFull: boolean;
  /** Called once for each request. */
  earn(region: string): void;
  /** Whether one more attempt may be made. */
  spend(region: string): boolean;
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
