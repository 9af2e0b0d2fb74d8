import { err, ok, type Result } from "../ids/result.ts";

type Awaitable<Value> = Value | Promise<Value>;

/** What an origin knows of the moves of one entity. */
export interface EpochRecord {
  /** The highest that was seen; 0 for none. */
  readonly epoch: number;
  /** The region that owns the entity from this epoch on; `undefined`: this one. */
  readonly region: string | undefined;
}

/** Where an origin keeps it: best in the database that holds the entities, so that a write can be checked with it. */
export interface EpochStore {
  /** Keeps the epoch if it is higher than the one held, and no region with it. What is held then; one atomic step. */
  raise(id: string, epoch: number): Awaitable<EpochRecord>;
  /** Keeps the epoch and the region, unless a higher epoch is held. One atomic step. */
  disown(id: string, epoch: number, region: string): Awaitable<void>;
}

/** Why a request comes too late for an entity. */
export type EpochFault =
  /** The gateway that sent it has not heard of the latest move. */
  | { readonly reason: "stale-epoch"; readonly seen: number }
  /** The entity is in another region. */
  | { readonly reason: "disowned"; readonly region: string };

export interface EpochGuard {
  /** Whether a request with this epoch may act on the entity. */
  admit(id: string, epoch: number): Promise<Result<void, EpochFault>>;
  /** From now on the entity is in `region`: requests up to this epoch are sent there. */
  disown(id: string, epoch: number, region: string): Promise<void>;
}

/** Refuses requests of gateways whose table is older than the latest move that this origin has seen. */
export function createEpochGuard(store: EpochStore): EpochGuard {
  return {
    async admit(id, epoch) {
      const held = await store.raise(id, epoch);
      if (held.region !== undefined) return err({ reason: "disowned", region: held.region });
      return held.epoch > epoch ? err({ reason: "stale-epoch", seen: held.epoch }) : ok(undefined);
    },
    disown: async (id, epoch, region) => store.disown(id, epoch, region),
  };
}

const NEVER_MOVED: EpochRecord = { epoch: 0, region: undefined };

/** For tests, and for an origin of one process that holds its entities in memory as well. */
export function memoryEpochStore(): EpochStore {
  const records = new Map<string, EpochRecord>();
  return {
    raise(id, epoch) {
      const held = records.get(id) ?? NEVER_MOVED;
      if (epoch <= held.epoch) return held;
      const raised = { epoch, region: undefined };
      records.set(id, raised);
      return raised;
    },
    disown(id, epoch, region) {
      if (epoch >= (records.get(id)?.epoch ?? 0)) records.set(id, { epoch, region });
    },
  };
}
