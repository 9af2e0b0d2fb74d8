import type { Machines } from "../formats/machines.ts";
import type { Metric } from "./metrics.ts";

/** An edge's mirror of what is published, as it says itself. */
export interface MirrorState {
  readonly revision: number | undefined;
  readonly change: number | undefined;
  /** Since a state node said that it is current; `undefined`: none ever did. */
  readonly ageSeconds: number | undefined;
  /** The state node that said so. */
  readonly node: string | undefined;
  /** All state nodes, and those that do not answer. */
  readonly nodes: readonly string[];
  readonly silent: readonly string[];
  readonly lastError: string | undefined;
}

/** One of several machines, and what it knows of them. Absent on a gateway that is alone. */
export interface MachinesPort {
  /** `undefined` on a state node. */
  mirror(): Promise<MirrorState | undefined>;
  /** As the control plane heard of them; `undefined` while it cannot be asked. */
  seen(): Promise<Machines | undefined>;
  metrics(): Promise<readonly Metric[]>;
}
