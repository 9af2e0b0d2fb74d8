import type { Result } from "../ids/result.ts";
import type { Clock } from "../ports/gateway.ts";
import type { DeclaredTable, Fault } from "../routing/index.ts";
import type { ReadFile } from "./start-table.ts";

/** Deadline and repetition of a call to the object. */
export interface CallRule {
  readonly deadline: "read" | "check" | "part";
  readonly isIdempotent: boolean;
}

/** Parts of tables that are stored apart from their text, as an isolate knows them. */
export interface StoredParts {
  readonly name: string;
  /** Whether a table has such parts: without them the object need not be asked. */
  isIn(declared: DeclaredTable): boolean;
  /** The calls that the feature adds to `ControlPlaneApi`. */
  readonly calls: Readonly<Record<string, CallRule>>;
}

/** The same in the object of the control plane. */
export interface PartStoreFeature {
  readonly name: string;
  open(options: PartStoreOptions): PartStore;
}

export interface PartStoreOptions {
  readonly storage: DurableObjectStorage;
  readonly kv: KVNamespace;
  readonly clock: Clock;
  /** For the audit. */
  readonly record: (entry: PartChange) => void;
}

export type PartChange = Readonly<{ author: string; action: "pack"; outcome: string; pack: string }>;

export interface PartStore {
  /** Faults of parts that a table names: they must be in KV, complete and verified, before it comes into force. */
  faultsOf(text: string): Promise<readonly Fault[]>;
  /** Stores the parts of a table that are missing, from files by the names of their keys. Leaves faults to `faultsOf`. */
  take(text: string, readFile: ReadFile, author: string): Promise<void>;
  /** By the names of `StoredParts`. */
  readonly calls: Readonly<Record<string, (...values: never[]) => Promise<Result<unknown, unknown>>>>;
}
