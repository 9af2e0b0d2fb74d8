import type { MintError, Words } from "./ids/index.ts";
import type { Result } from "./ids/result.ts";
import type { PublicIdsError, SequenceError, TableError } from "./problems/port-errors.ts";
import type { MintOrder } from "./routing/mint-plan.ts";
import type { CompiledTable, Entity } from "./routing/table.ts";

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
  /** The next `count` numbers of the sequence, in rising order, none above `max` and none below `least`. */
  take(name: string, count: number, max: number, least?: number): Promise<Result<readonly number[], SequenceError>>;
}

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
  /** The table in memory, or `undefined` before the first load. An old one is refreshed beside the request. */
  peek(waitUntil: (work: Promise<unknown>) => void): ServedTable | undefined;
  /** Loads within a deadline; falls back to the bundled copy. */
  load(): Promise<Result<ServedTable, TableError>>;
}

/** How a request reaches an origin: the platform's `fetch`, or a test's. */
export type Fetch = (target: string | Request, init?: RequestInit) => Promise<Response>;

/** Who the client is, as far as the platform can vouch for it. */
export interface Client {
  readonly address: string | undefined;
  /** ISO 3166-1 alpha-2, where the platform knows it. */
  readonly country: string | undefined;
}

/** Makes IDs that are never made again, in the order that their layout promises. */
export interface Minters {
  mint(order: MintOrder, count: number): Promise<Result<readonly Words[], MintError | SequenceError>>;
}

/** Public texts of the IDs of public entities. The keys stay behind this port. */
export interface PublicIds {
  /** The public text of an internal one; `undefined` when the text is no ID of the entity. */
  show(entity: Entity, internal: string): Result<string | undefined, PublicIdsError>;
  /** The internal text of a public one; `undefined` when no key made it. */
  open(entity: Entity, text: string): Result<string | undefined, PublicIdsError>;
  /** Whether there are keys for every public entity of a table. */
  covers(table: CompiledTable): boolean;
}

/** One proxied or refused request, as the log shows it. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly layout: string | undefined;
  readonly region: string | undefined;
  readonly status: number;
  readonly ms: number;
}

/** All that the routes need from the world, put together once per isolate. */
export interface Gateway {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly tables: Tables;
  readonly minters: Minters;
  readonly publicIds: PublicIds;
  readonly fetch: Fetch;
  readonly clientOf: (request: Request) => Client;
  readonly firstByteDeadlineMs: number;
  /** Absent: requests are not logged. */
  readonly logRequest: ((line: RequestLine) => void) | undefined;
  /** For defects of our own, which a client is told nothing about. */
  readonly logDefect: (error: unknown) => void;
  /** An answer of an entity that was broken off, because IDs could not be sought in it. */
  readonly logBrokenBody: (entity: string, reason: string) => void;
}
