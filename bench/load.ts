/** What the load process is asked for. */
export interface LoadRequest {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** Whole requests, sent in turn. */
  readonly requests: readonly string[];
}

/** What it found. An answer other than 200 ends the run with an error. */
export interface LoadFigures {
  readonly answers: number;
  readonly tookMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
