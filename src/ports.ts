import type { Result } from "./ids/result.ts";
import type { CompiledTable } from "./routing/table.ts";

/** The interfaces that the inner zones and the routes need from the world. `src/edge/` has one adapter for each. */

/** Unix time. In a Worker it stands still between I/O, and it may step back. */
export interface Clock {
  nowMs(): number;
}

/** Cryptographically strong random bits. */
export interface Entropy {
  /** One uniformly random unsigned 32-bit word. */
  word(): number;
}

/** Numbers that are handed out once: first 1, then rising, never the same twice, with gaps allowed. */
export interface Sequences {
  /** The next `count` numbers of the sequence, in rising order. */
  take(name: string, count: number): Promise<Result<readonly number[], SequenceError>>;
}

export type SequenceError =
  | { readonly reason: "sequence-exhausted"; readonly name: string; readonly max: number }
  | { readonly reason: "sequence-unavailable"; readonly name: string };

/** Where the served table came from. */
export type TableSource = "memory" | "kv" | "bundled";

/** The table that answers a request, and where and when it was got. */
export interface ServedTable {
  readonly table: CompiledTable;
  readonly source: TableSource;
  /** When this copy was last confirmed to be the published one, Unix ms. */
  readonly confirmedAtMs: number;
  /** Value of the `waybill-table` field. */
  readonly label: string;
}

/** The table in force. Never waits once an isolate has one; refreshes in the background. */
export interface Tables {
  /** The table in memory, or `undefined` before the first load. */
  peek(): ServedTable | undefined;
  /** Loads within a deadline; falls back to the bundled copy. */
  load(): Promise<Result<ServedTable, TableError>>;
}

export type TableError = { readonly reason: "table-unavailable"; readonly why: string };

/** How a request reaches an origin: the platform's `fetch`, or a test's. */
export type Fetch = (request: Request) => Promise<Response>;

/** Who the client is, as far as the platform can vouch for it. */
export interface Client {
  readonly address: string | undefined;
  /** ISO 3166-1 alpha-2, where the platform knows it. */
  readonly country: string | undefined;
}
