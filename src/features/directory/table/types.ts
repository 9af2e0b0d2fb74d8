import type { Layout } from "../../../ids/layout/layout.ts";
import type { Missing } from "../../../routing/resolve/reading.ts";
import type { Target, Undecided } from "../../../routing/table.ts";
import type { KeyFault, KeyForm } from "./normalise.ts";

/** The `layout` of a decision about a text key: it is of no layout. */
export const TEXT_KEY = "text-key";

/** A directory of the table, compiled. */
export interface DirectoryPlan {
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
  readonly targets: ReadonlyMap<string, KeyTargets>;
}

/** By name. `fills`: whether one that does not serve yet learns of IDs that the rest of the table decides about. */
export interface Directories extends ReadonlyMap<string, DirectoryPlan> {
  readonly fills: boolean;
}

/** One frozen target for each way in which a region was found. */
export type KeyTargets = Readonly<Record<"fresh" | "stale" | "default" | "unknown", Target>>;

/** No layer could say where a key is. Never taken for an absent key. */
export interface KeyUnavailable {
  readonly reason: "directory-unavailable";
  readonly directory: string;
  readonly retryAfterSeconds: number;
  /** `busy`: too many names are asked for that no cache has. `unread`: nothing was asked yet, or there is no directory here. */
  readonly why: "failed" | "busy" | "unread";
}

/** A key that must be looked up before it can be decided where a request goes. */
export interface MissingKey extends Missing {
  readonly feature: "directory";
  readonly plan: DirectoryPlan;
  readonly key: string;
  /** The decision but for what the directory says. */
  readonly decision: Undecided;
}

export const isMissingKey = (missing: Missing): missing is MissingKey => missing.feature === "directory";

declare module "../../../routing/table.ts" {
  interface CompiledTable {
    /** By name; `undefined` where there are none. */
    readonly directories?: Directories | undefined;
  }
  interface Entity {
    /** Set: texts stand in place of IDs, and this directory has their regions. */
    readonly directory?: DirectoryPlan | undefined;
    /** Regions in place of those that the directory says; `undefined`: none. */
    readonly regionsInstead?: ReadonlyMap<string, string> | undefined;
  }
  interface Rules {
    /** `state`: no layer could say for certain, and this is old or the default; or the key is surely not there. */
    readonly directory: {
      readonly kind: "directory";
      readonly directory: string;
      readonly state?: "stale" | "default" | "unknown";
    };
  }
  interface LoadRules {
    readonly directory: { readonly kind: "directory"; readonly directory: string };
  }
  interface LoadErrors {
    /** The decision needs a key that is not looked up yet. */
    readonly directory: KeyUnavailable & { readonly missing: MissingKey };
  }
}

declare module "../../../routing/errors.ts" {
  interface FeatureErrors {
    /** The text is no key of the directory. */
    readonly malformedKey: KeyFault & { readonly id?: string; readonly entity?: string; readonly directory: string };
    readonly unknownKey: {
      readonly reason: "unknown-key";
      readonly id: string;
      readonly entity?: string;
      readonly directory: string;
    };
  }
}
