import type { ClaimOutcome, DirectoryComparison, DirectorySource } from "../features/directory/port.ts";
import type { DenialReason } from "./admin.ts";

/**
 * Counted events: a metric of `src/edge/metrics/catalogue.ts`, and values of its labels. These are few, and never a client's.
 */
export interface CountedEvents {
  /** An answer whose body ended before its end. */
  readonly broken_bodies: readonly [entity: string, reason: string];
  /** An answer of another region than the one that was decided on: after failover, or a move that an origin told of. */
  readonly answers_elsewhere: readonly [decided: string, answered: string];
  /** A read that was sent to a shadow as well, or was to be. */
  readonly mirrored_reads: readonly [region: string, outcome: ShadowOutcome];
  /** A read that was sent to a copy. `missing`, `refused` and `failed`: then to the owner. */
  readonly copy_reads: readonly [region: string, outcome: "answered" | "missing" | "refused" | "failed"];
  /** A value that is not listed, which a source with `unlisted: "next"` let go on. */
  readonly unlisted_values: readonly [entity: string, source: string];
  /** Blocks of numbers that were reserved, by how much of the range is used up then: 0, 90 or 99 per cent. */
  readonly sequence_blocks: readonly [sequence: string, percent: string];
  /** Look-ups in directories, by the layer that answered; `absent` from any. */
  readonly directory_lookups: readonly [directory: string, outcome: LookupOutcome];
  /** While a directory is verified: what it says beside what decided. */
  readonly directory_comparisons: readonly [directory: string, outcome: DirectoryComparison["outcome"]];
  /** Changes that origins asked for in answers. */
  readonly directory_updates: readonly [directory: string, kind: "register" | "learn", outcome: UpdateOutcome];
  /** Requests for the gateway's own pages whose sender could not be told, or may not. */
  readonly refused_callers: readonly [reason: DenialReason];
}

export type LookupOutcome = DirectorySource | "absent" | "unknown" | "busy" | "failed";

/** `unsigned`: the deployment signs no requests, so nothing proves the origin. `invalid`: not a list of keys. */
type UpdateOutcome = ClaimOutcome["state"] | "failed" | "unsigned" | "invalid";

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

/** The outcome of a read that was to be sent to a shadow as well. */
export type ShadowOutcome = "match" | "status-differs" | "headers-differ" | "failed" | "dropped";
