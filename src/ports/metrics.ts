import type { EventPage, EventQuery, HistorySpan, MetricsHistory, ProblemSamples } from "../formats/console-api.ts";
import type { RecentTraffic, RegionSince } from "../formats/region-state.ts";
import type { AnswerOutcome } from "../formats/status-classes.ts";
import type { Rule } from "../routing/table.ts";
import type { DenialReason, ServedTable } from "./admin.ts";
import type { OriginStatus } from "./origins.ts";

/**
 * Counted events: a metric of `src/edge/metrics/catalogue.ts`, and values of its labels. These are few, and never a client's.
 * A feature adds its own beside its port.
 */
export interface CountedEvents {
  /** An answer whose body ended before its end. */
  readonly broken_bodies: readonly [entity: string, reason: string];
  /** An answer of another region than the one that was decided on: after failover, or a move that an origin announced. */
  readonly answers_elsewhere: readonly [decided: string, answered: string];
  /** A value that is not listed, which a source with `unlisted: "next"` let go on. */
  readonly unlisted_values: readonly [entity: string, source: string];
  /** Requests for the gateway's own pages whose sender could not be told, or may not. */
  readonly refused_callers: readonly [reason: DenialReason];
}

/** Counts for metrics. Cheap enough for every request. */
export interface Counters {
  count<Name extends keyof CountedEvents>(name: Name, ...labels: CountedEvents[Name]): void;
}

/** A metric with all its values, as monitoring systems know one. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** `name` is that of the metric; for a histogram with `_bucket`, `_sum` or `_count` behind it. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Traffic as operators see it. */
export interface MetricsSnapshot {
  /** `all`: of every isolate. `isolate`: of this one alone, because the others cannot be asked. */
  readonly source: "all" | "isolate";
  /** Since when it was counted, Unix ms. */
  readonly sinceMs: number;
  readonly metrics: readonly Metric[];
  readonly origins: readonly OriginStatus[];
  /** Requests by the region that they went to. */
  readonly requests: ReadonlyMap<string, number>;
  readonly recent: ReadonlyMap<string, RecentTraffic> | undefined;
  /** By region: since when it is as it is. */
  readonly states: ReadonlyMap<string, RegionSince> | undefined;
}

export interface Metrics {
  /** With all that this isolate has counted up to now. `served`: the table in force, when there is one. */
  snapshot(served: ServedTable | undefined): Promise<MetricsSnapshot>;
  /** The same over time. `from`: Unix seconds of the first step that is asked for. */
  history(span: HistorySpan, from?: number): Promise<MetricsHistory>;
  /** The last requests that had a problem. */
  problem(slug: string): Promise<ProblemSamples>;
  /** The log of events, newest first; `undefined` where it cannot be read. */
  events(query: EventQuery): Promise<EventPage | undefined>;
}

/** One request, as logs and metrics show it when its answer begins. */
export interface RequestLine extends AnswerOutcome {
  /** When the answer began, Unix ms. */
  readonly atMs: number;
  readonly method: string;
  /** Without the query. An ID of a public entity is left out of it. */
  readonly path: string;
  readonly entity: string | undefined;
  readonly layout: string | undefined;
  /** The region that answered, or the last one that was asked. */
  readonly region: string | undefined;
  /** Without an ID: the source that chose the region, and those before it that let a value go on. */
  readonly source?: string | undefined;
  readonly unlisted?: readonly string[] | undefined;
  /** Revision of the table that decided. */
  readonly revision: number | undefined;
  /** The rule of it that decided; `undefined` where no single one did. */
  readonly rule?: Rule | undefined;
  readonly ms: number;
  /** Until the origin's answer began; `undefined` where none did. */
  readonly originMs: number | undefined;
  readonly attempts: number;
  /** How many requests the attempts were for, where one of a client asks several, as a list does. */
  readonly asked?: number | undefined;
  /** Trace ID of the client's W3C trace context; `undefined` without a valid one. */
  readonly trace: string | undefined;
  /** The request's own span, and the client's that it is a child of; `undefined` if the request is not sampled. */
  readonly span?: string | undefined;
  readonly parentSpan?: string | undefined;
}

/** A request that is sampled, as a span of its trace. */
export interface Span {
  readonly id: string;
  readonly parent: string | undefined;
  /** The context that origins get (W3C Trace Context §3.2). */
  readonly traceparent: string;
}
