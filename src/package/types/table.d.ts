/** Checks routing tables and explains requests by them, as the command does. Nothing is sent. */

export interface TableFault {
  /** Both from 1; columns in UTF-16 units, as in editors. */
  readonly line: number;
  readonly column: number;
  /** The place in the table as a JSON Pointer (RFC 6901). */
  readonly pointer: string;
  readonly message: string;
}

/** The faults of a table are in its message too, as `waybill table check` prints them. */
export declare class InvalidTable extends Error {
  override readonly name: "InvalidTable";
  readonly faults: readonly TableFault[];
  constructor(file: string, faults: readonly TableFault[]);
}

/** All faults of a table, in their order; empty if it is valid. `file`: routing-table.json by default; its packs are beside it. */
export declare function checkTable(file?: string): Promise<readonly TableFault[]>;

/** Rejects with `InvalidTable`, or with the system's error if a file cannot be read. */
export declare function loadTable(file?: string): Promise<Table>;

export interface Table {
  readonly regions: readonly string[];
  /** Where a request would go, and why. */
  explain(request: ExplainedRequest): Explanation;
}

/**
 * Tests a table by a team's own examples, as `waybill table test` does: `differences` is empty where all is as expected. Rejects with
 * the faults of a file as its message.
 */
export declare function testExamples(files?: {
  /** routing-table.json by default. */
  table?: string;
  /** examples.json by default. */
  examples?: string;
}): Promise<readonly TestedExample[]>;

export interface TestedExample {
  /** Its own name, or method and path. */
  readonly name: string;
  readonly request: string;
  /** A sentence for each difference. */
  readonly differences: readonly string[];
  readonly region?: string;
  readonly problem?: string;
  /** Why the request is refused. */
  readonly detail?: string;
}

export interface ExplainedRequest {
  /** GET by default, or POST with a body. */
  readonly method?: string | undefined;
  /** A path, or a URL with its host. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** The claims of its token. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** Where its client is: ISO 3166-1 alpha-2, and a continent's code. */
  readonly country?: string | undefined;
  readonly continent?: string | undefined;
  /** The time of the decision in Unix milliseconds: now by default. */
  readonly nowMs?: number | undefined;
}

export interface Explanation {
  /** Absent where the gateway would answer itself. */
  readonly region?: string | undefined;
  /** The problem that the client would get (RFC 9457). */
  readonly problem?: Problem;
  /** The entity, or the path without one, that the request belongs to. */
  readonly owner?: string | undefined;
  /** Everything that was read, and the IDs found. */
  readonly places: readonly string[];
  readonly ids: readonly ExplainedId[];
  /** The source of the region where no ID tells it. */
  readonly source?: string;
  /** The entity that the request creates or lists. */
  readonly creates?: string;
  readonly lists?: string;
  readonly isGraphql?: true;
  /** The path that the client is redirected to. */
  readonly redirect?: string;
  /** Path and query that origins get, where the table takes a prefix off. */
  readonly sent?: string;
}

export interface ExplainedId {
  readonly place: string;
  readonly entity: string;
  readonly id: string;
  /** Absent where the ID leads nowhere. */
  readonly region?: string;
  readonly layout?: string;
  readonly problem?: Problem;
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly [extension: string]: unknown;
}
