import type { Rule } from "../routing/index.ts";
import type { CanaryVerdict, ClassCounts } from "./canary-verdict.ts";

/** The JSON that the console reads of its own endpoints. */

/** On requests that the page sends by itself, while it is left alone: they do not renew the session. */
export const UNATTENDED_HEADER = "waybill-unattended";

/** `GET /-/console/session`: who is signed in. */
export interface SessionView {
  readonly name: string;
  readonly scope: "support" | "viewer" | "operator" | "mint" | "directory";
  /** `access`: by Cloudflare Access. `open-pages`: all who reach the gateway are operators. */
  readonly by: "token" | "access" | "open-pages" | "session";
  /** ISO 8601; `null` for what is no session. It moves on while the session is used. */
  readonly expiresAt: string | null;
  /** Host of the console. */
  readonly deployment: string;
  /** Revision of the table in force in the isolate that responds. */
  readonly revision: number | null;
}

/** Keys by state: see `KeyCounts`. */
type CountsByState = Readonly<Record<"confirmed" | "reserved" | "expired" | "missing", number>>;

/** `GET /-/directory/:name/-/counts`. A count that lacks shards is no total, and is named `atLeast`. */
export interface DirectoryCounts {
  readonly directory: string;
  /** ISO 8601: when counting began. */
  readonly at: string;
  readonly shards: number;
  readonly answered: number;
  readonly total?: CountsByState;
  readonly atLeast?: CountsByState;
}

export type HistorySpan = "hour" | "day";

/** Counts and times of one step each, in the order of `MetricsHistory.at`. Times are `null` where nothing was measured. */
export interface HistorySeries {
  readonly requests: readonly number[];
  /** Answers and problems from status 500 on. */
  readonly errors: readonly number[];
  /** Those from 400 to 499. */
  readonly refused: readonly number[];
  /** Attempts at origins without a response. */
  readonly faults: readonly number[];
  /** Milliseconds that all requests of the step took together: by its length, how many were in progress. */
  readonly busyMs: readonly number[];
  /** Milliseconds from the arrival of a request to the start of its response. */
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  /** The same of the origin's response. */
  readonly originP50: readonly (number | null)[];
  readonly originP99: readonly (number | null)[];
}

/** The tables in force by isolate, as reported in the last minute or so. */
export interface IsolateTables {
  readonly count: number;
  /** At most 50 of them, those that are furthest behind first. */
  readonly shown: readonly {
    readonly isolate: string;
    readonly revision: number;
    readonly canary: number | null;
    /** ISO 8601: when it was last confirmed to be the published one. */
    readonly confirmedAt: string;
    readonly reportedAt: string;
  }[];
}

/** `GET /-/metrics/history`: requests for entities, without the gateway's own pages. A step is that of its report. */
export interface MetricsHistory {
  /** `none`: the counters could not be read, and there are no steps. */
  readonly source: "all" | "none";
  readonly span: HistorySpan;
  readonly stepSeconds: number;
  /** ISO 8601: since when it was counted. Before it nothing is known. */
  readonly since: string | null;
  /** Start of each step, Unix seconds, rising without gaps. The last step is not over yet. */
  readonly at: readonly number[];
  readonly total: HistorySeries;
  readonly regions: Readonly<Record<string, HistorySeries>>;
  /** Responses by problem. */
  readonly problems: Readonly<Record<string, readonly number[]>>;
  /** Requests while a canary ran, by the table that decided them; of all steps together. */
  readonly tables: Readonly<Record<"stable" | "canary", TableFigures>>;
  readonly canaryVerdict: CanaryVerdict;
  readonly isolates: IsolateTables;
}

/**
 * Errors are answers from status 500 on, and problems. `classes` counts each request once; those that an isolate of a former
 * version reported are left out. Milliseconds, or `null` where nothing was measured.
 */
export interface TableFigures {
  readonly requests: number;
  readonly errors: number;
  readonly classes: ClassCounts;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** `GET /-/events`: the data of its events, by name. */
export interface ConsoleEvents {
  /** The steps of the hour that are new or changed since the last one: at least the current one. */
  readonly traffic: MetricsHistory;
  /** A revision came in force in the isolate that responds; the first event is that in force already. */
  readonly table: Readonly<{ revision: number; label: string; canary: number | null }>;
  /** The stream ends. `session`: sign in again. `time`: open it again. */
  readonly end: Readonly<{ why: "session" | "time" }>;
}

/** `GET /-/console/rule/:id`: the one entry of the table that decides about an ID. */
export interface RuleView {
  /** Revision of the table that decides: the canary's where it does. */
  readonly revision: number;
  readonly entity: string;
  readonly region: string;
  readonly rule: Rule;
  /** JSON pointer of the entry. */
  readonly pointer: string;
  /** From 1; `null` where the text has no such place. */
  readonly line: number | null;
  readonly entry: unknown;
  /** The revision that wrote the entry of a moved entity. `isExact`: false where it may be an older one. */
  readonly since: {
    readonly revision: number;
    readonly author: string;
    readonly time: string | null;
    readonly note: string;
    readonly isExact: boolean;
  } | null;
}

/** `GET /-/console/entity/:id`: the owner's response to a GET of the entity. */
export interface EntityPreview {
  readonly entity: string;
  readonly region: string | null;
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  /** Text of the body, if it is JSON; never to be shown as HTML. */
  readonly text: string | null;
  /** Whether the body is longer than what is shown. */
  readonly truncated: boolean;
}
