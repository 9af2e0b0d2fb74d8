import type { Layout } from "../../../ids/layout/layout.ts";
import type { KeyForm } from "./normalise.ts";

/** The `layout` of a decision about a text key: it is of no layout. */
export const TEXT_KEY = "text-key";

/** A directory of the table, compiled. */
export interface DirectoryPlan<Target> {
  readonly name: string;
  /** How texts become keys. `undefined`: keys are IDs, in their canonical text. */
  readonly form: KeyForm | undefined;
  /** Whether keys may have slashes. */
  readonly slash?: boolean | undefined;
  /** Layout of those IDs. */
  readonly layout: Layout | undefined;
  /** How long a found key is taken from a cache. */
  readonly cacheSeconds: number;
  /** How long an absent key is. */
  readonly absentSeconds: number;
  /** How long after that a found key still counts when every layer fails. */
  readonly staleSeconds: number;
  /** How old a published copy may be. */
  readonly copySeconds: number;
  /** Where requests go when every layer fails; `undefined`: they are refused. */
  readonly fallback: string | undefined;
  /** Where requests with keys go that are surely not there; `undefined`: they are refused. */
  readonly unknown?: Target | undefined;
  readonly mode: "write-only" | "verify" | "serve";
  /** Whether an origin's 421 changes the key. */
  readonly learnsMoves: boolean;
  /** By region. */
  readonly targets: ReadonlyMap<string, KeyTargets<Target>>;
}

/** By name. `fills`: whether one that does not serve yet learns of IDs that the rest of the table decides about. */
export interface Directories<Target> extends ReadonlyMap<string, DirectoryPlan<Target>> {
  readonly fills: boolean;
}

/** One frozen target for each way in which a region was found. */
export type KeyTargets<Target> = Readonly<Record<"fresh" | "stale" | "default" | "unknown", Target>>;

/** No layer could say where a key is. Never taken for an absent key. */
export interface KeyUnavailable {
  readonly reason: "directory-unavailable";
  readonly directory: string;
  readonly retryAfterSeconds: number;
  /** `busy`: too many names are asked for that no cache has. `unread`: nothing was asked yet, or there is no directory here. */
  readonly why: "failed" | "busy" | "unread";
}
