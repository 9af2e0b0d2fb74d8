import type { Rule } from "../routing/index.ts";
import type { CanaryVerdict } from "./canary-verdict.ts";
import type { ClassCounts, StatusClass } from "./status-classes.ts";

/** The JSON that the console reads of its own endpoints. */

/** On requests that the page sends by itself, while it is left alone: they do not renew the session. */
export const UNATTENDED_HEADER = "waybill-unattended";

/** A shift: after it the token is asked for again, however busy the session was. */
export const SESSION_WHOLE_MS = 8 * 3_600_000;

/** `GET /-/console/session`: who is signed in. */
export interface SessionView {
  readonly name: string;
  readonly scope: "support" | "viewer" | "operator" | "mint" | "directory";
  /** `access`: by Cloudflare Access. `open-pages`: all who reach the gateway are operators. */
  readonly by: "token" | "access" | "open-pages" | "session";
  /** ISO 8601; `null` for what is no session. It moves on while the session is used. */
  readonly expiresAt: string | null;
  /** ISO 8601: the session ends then, however much it is used; `null` for what is no session. */
  readonly endsBy: string | null;
  /** Host of the console. */
  readonly deployment: string;
  /** By the setting `ENVIRONMENT`: a name such as `production`. */
  readonly environment: string | null;
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

/** An hour by 10 s, a day by 5 min, 30 days by 2 h. */
export type HistorySpan = "hour" | "day" | "month";

/** Answers of each step by class; a class without any is left out. */
export type ClassSeries = Readonly<Partial<Record<StatusClass, readonly number[]>>>;

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
  /** Requests of isolates of former versions are in no class. */
  readonly classes?: ClassSeries;
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
  /** Requests of all steps together by what decided them, most first. Absent from an object of a former version. */
  readonly routes?: readonly RouteRequests[];
  /** ID of the newest event of the log; absent without one, and from objects of a former version. */
  readonly lastEvent?: number;
}

/**
 * Their sum is that of all requests, but for those that isolates of former versions reported. Routes from 201 on are counted
 * as `(other)`. An entry without a revision has what found no room: then the other figures are at least so many.
 */
export interface RouteRequests {
  /** The table that decided has it. */
  readonly revision: number | null;
  /**
   * JSON pointer: `/routes/0`, `/routes/0/canary`, `/default`, `/moved` and `/moves` (all of them together), `/directory/NAME`,
   * `/withoutId` (requests without an ID). `(other)`; `(none)`: no single rule decided, as of lists and refused IDs.
   */
  readonly pointer: string;
  readonly requests: number;
}

/** `GET /-/metrics/problems/:slug`: the last paths of requests that had a problem. */
export interface ProblemSamples {
  /** `none`: they could not be read. `off`: the deployment keeps none. */
  readonly source: "all" | "none" | "off";
  readonly slug: string;
  /** How long they are kept. */
  readonly keptSeconds: number;
  /** Newest first, at most 5. */
  readonly samples: readonly ProblemSample[];
}

export interface ProblemSample {
  /** ISO 8601: when the response began. */
  readonly at: string;
  readonly method: string;
  /** As logged: without the query and public IDs; at most 200 characters, then `…`. */
  readonly path: string;
  readonly region: string | null;
  readonly status: number;
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
  /** The same over time, in the order of `MetricsHistory.at`. */
  readonly steps?: TableSteps;
}

/** Requests of steps without a canary are 0. Times are `null` where nothing was measured. */
export interface TableSteps {
  readonly requests: readonly number[];
  readonly errors: readonly number[];
  /** Answers from 400 to 499. */
  readonly refused: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  readonly classes: ClassSeries;
}

/** `webhook`: events that the receiver of events did not take. */
export type LogKind = "region" | "origin" | "publication" | "canary" | "errors" | "machine" | "webhook";

/** One event of the log: something that happened to the gateway, its table or what is behind it. */
export interface LogEvent {
  /** Rises. */
  readonly id: number;
  /** ISO 8601. */
  readonly time: string;
  readonly kind: LogKind;
  /** The kind and how it turned out, such as `region.down`; new ones may come. */
  readonly type: string;
  /** One sentence or two. */
  readonly words: string;
  /** Its figures, by name; a former or later version may have others. */
  readonly evidence: Readonly<Record<string, string | number>>;
  readonly region?: string;
  /** Revision that was published, or that of a canary. */
  readonly revision?: number;
  /** It ends something that an event before it began. */
  readonly isOver?: boolean;
}

/** The receiver of events that the setting `EVENTS_WEBHOOK` names. */
export interface WebhookState {
  /** Events that it has not taken yet. */
  readonly waiting: number;
  /** Why it did not take the last one that was sent, such as `it answered 500`; `null` where it did. */
  readonly lastFailure: string | null;
  /** It answered 410: nothing is sent until the setting changes. */
  readonly isGone: boolean;
}

/** `limit` of those whose ID is below `before`. */
export type EventQuery = Readonly<{ before?: number | undefined; limit: number }>;

/** Newest first. */
export interface EventPage {
  readonly events: readonly LogEvent[];
  /** `null`: events are sent nowhere, or the log could not be read. */
  readonly webhook: WebhookState | null;
}

/** `GET /-/events/log`. */
export interface EventLog extends EventPage {
  /** `none`: the log could not be read. */
  readonly source: "all" | "none";
  /** `before` of the next page; `null` on the last one. */
  readonly next: number | null;
}

/** `GET /-/console/routes`: since when each route of the table in force is as it is. */
export interface RouteRevisions {
  readonly revision: number;
  readonly routes: readonly {
    /** JSON pointer. */
    readonly pointer: string;
    /** From 1; `null` where the text has no such place. */
    readonly line: number | null;
    readonly since: EntrySince;
  }[];
}

/** The revision that wrote it. `isExact`: false where it may be an older one. */
interface EntrySince {
  readonly revision: number;
  readonly author: string;
  readonly time: string | null;
  readonly note: string;
  readonly isExact: boolean;
}

/** `GET /-/events`: the data of its events, by name. */
export interface ConsoleEvents {
  /** One event of the log. The newest 20 come first, oldest of them first. */
  readonly log: LogEvent;
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
  /** Writer of the entry of a moved entity. */
  readonly since: EntrySince | null;
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
  /** Milliseconds from the request to the whole answer, or to the end of what is shown. */
  readonly ms?: number;
  /** Bytes of `text`. */
  readonly bytes?: number;
}
