/** Where requests go, as a compiled table has it. */

export interface Origin {
  /** Scheme, host and optional base path, without a slash at the end. */
  readonly url: string;
  /** Share of the region's IDs, relative to the other origins. 0 takes none. */
  readonly weight: number;
  /** Name of the deployment's binding that requests go through; absent: the network. */
  readonly binding: string | undefined;
}

/** How long to wait for an origin, in milliseconds. `undefined`: nothing said here; 0: no limit. */
export interface Deadlines {
  readonly firstByteMs: number | undefined;
  readonly idleMs: number | undefined;
  readonly totalMs: number | undefined;
}

/** When an origin is left alone: after so many failures in a row, for so long. */
export interface BreakerPolicy {
  readonly failures: number;
  readonly openMs: number;
}

export interface HealthCheck {
  readonly path: string;
  readonly timeoutMs: number;
}

export interface Region {
  readonly name: string;
  readonly origins: readonly Origin[];
  /** Regions that may answer reads when no origin of this one can be reached, in order. */
  readonly failover: readonly string[];
  /** Whether they may take writes that are safe to repeat, too. */
  readonly failoverWrites: boolean;
  readonly deadlines: Deadlines;
  /** `undefined`: its origins are never left alone. */
  readonly breaker: BreakerPolicy | undefined;
  readonly health: HealthCheck | undefined;
}
