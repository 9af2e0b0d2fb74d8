declare module "../../ports/gateway.ts" {
  interface ProxyPorts {
    readonly shadows: Shadows;
  }
}

declare module "../../ports/metrics.ts" {
  interface CountedEvents {
    /** A read that was sent to a shadow as well, or was to be. */
    readonly mirrored_reads: readonly [region: string, outcome: ShadowOutcome];
  }
}

/** The outcome of a read that was to be sent to a shadow as well. */
export type ShadowOutcome = "match" | "status-differs" | "headers-differ" | "failed" | "dropped";

/** Two answers to one request that are not alike. It holds no value of a field. */
export interface ResponseDifference {
  readonly entity: string;
  /** `undefined` for a public entity. */
  readonly id: string | undefined;
  readonly method: string;
  /** The region that the client was answered from. */
  readonly region: string;
  readonly status: number;
  readonly shadowStatus: number;
  /** Names of the compared fields in which they differ. */
  readonly fields: readonly string[];
}

/** Reads that are sent to the shadow of their route too. */
export interface Shadows {
  /** Whether one more may be sent to the region now. Every one that was admitted must be reported. */
  admit(region: string): boolean;
  report(region: string, outcome: ShadowOutcome, difference?: ResponseDifference): void;
}
