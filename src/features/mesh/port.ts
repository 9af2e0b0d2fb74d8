/** This gateway in its mesh. */
export interface Mesh {
  /** `GATEWAY_NAME`. */
  readonly name: string;
  /** The regions whose origins it asks. */
  readonly selfRegions: ReadonlySet<string>;
  /** The first signs, all verify. None: a setting is invalid, so no hop is made or believed. */
  readonly keys: readonly PeerKey[];
}

export type PeerKey = Readonly<{ id: string; key: Uint8Array<ArrayBuffer> }>;

declare module "../../ports/gateway.ts" {
  interface Gateway {
    /** Absent: the deployment is in no mesh. */
    readonly mesh?: Mesh | undefined;
  }
}

declare module "../../ports/metrics.ts" {
  interface CountedEvents {
    /** Requests of other gateways, by the name of the one that the client asked. */
    readonly hops_taken: readonly [entry: string, outcome: string];
    /** Requests that other gateways were asked for. `refused`: theirs and this one's settings or tables differ. */
    readonly hops_sent: readonly [region: string, outcome: "answered" | "failed" | "refused" | "unreachable"];
  }
  interface RequestLine {
    /** Host of the gateway that was asked. */
    readonly hop?: string | undefined;
    /** Name of the gateway that the client asked, and that sent the request. */
    readonly entry?: string | undefined;
  }
}
