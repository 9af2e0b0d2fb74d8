import { err, ok, type Result } from "../ids/result.ts";

type Awaitable<Value> = Value | Promise<Value>;

/**
 * What an origin knows of the moves of one entity, from `epoch` on. `seen`: only that requests came with this epoch. `here`
 * and `elsewhere`: where the entity is, as the origin itself was told.
 */
export type EpochRecord =
  | { readonly epoch: number; readonly state: "seen" | "here" }
  | { readonly epoch: number; readonly state: "elsewhere"; readonly region: string };

/** Where an origin keeps it: best in the database that holds the entities, so that one transaction checks and writes. */
export interface EpochStore {
  /** Keeps the epoch as `seen` if it is higher than the one held. What is held then, if anything; one atomic step. */
  raise(id: string, epoch: number): Awaitable<EpochRecord | undefined>;
  /** Keeps the record unless a higher epoch is held. One atomic step. */
  settle(id: string, record: EpochRecord): Awaitable<void>;
}

/** Why a request may not act on an entity. */
export type EpochFault =
  /** The gateway that sent it has not heard of the latest step of a move. */
  | { readonly reason: "stale-epoch"; readonly seen: number }
  /** The entity is in another region. */
  | { readonly reason: "disowned"; readonly region: string };

export interface EpochGuard {
  /** Whether a request with this epoch, 0 for none, may act on the entity. Lower ones are refused from then on. */
  admit(id: string, epoch: number): Promise<Result<void, EpochFault>>;
  /** The entity is in `region` from this epoch on: requests up to it are sent there. */
  disown(id: string, epoch: number, region: string): Promise<void>;
  /** The entity is here from this epoch on: requests of gateways that have not heard of it yet are taken as well. */
  adopt(id: string, epoch: number): Promise<void>;
}

/** Refuses requests of gateways whose table is older than the latest step of a move that this origin knows. */
export function createEpochGuard(store: EpochStore): EpochGuard {
  return {
    async admit(id, epoch) {
      const held = await store.raise(id, epoch);
      if (held === undefined || held.state === "here") return ok(undefined);
      if (held.state === "elsewhere") return err({ reason: "disowned", region: held.region });
      return held.epoch > epoch ? err({ reason: "stale-epoch", seen: held.epoch }) : ok(undefined);
    },
    disown: async (id, epoch, region) => store.settle(id, { epoch, state: "elsewhere", region }),
    adopt: async (id, epoch) => store.settle(id, { epoch, state: "here" }),
  };
}

/** For tests, and for an origin of one process that holds its entities in memory as well. */
export function memoryEpochStore(): EpochStore {
  const records = new Map<string, EpochRecord>();
  return {
    raise(id, epoch) {
      const held = records.get(id);
      if (epoch <= (held?.epoch ?? 0)) return held;
      const raised = { epoch, state: "seen" } as const;
      records.set(id, raised);
      return raised;
    },
    settle(id, record) {
      if (record.epoch >= (records.get(id)?.epoch ?? 0)) records.set(id, record);
    },
  };
}
