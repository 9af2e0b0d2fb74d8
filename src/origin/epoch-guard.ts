import { err, ok, type Result } from "../ids/result.ts";

/** An origin's record of one entity's moves. An entity that never moved has none. */
export interface EpochRecord {
  /** The highest epoch seen, from requests or from the operator. */
  readonly epoch: number;
  /** Writes up to this epoch are rejected; 0 for none. */
  readonly fencedUpTo: number;
  /** The region that the entity moved to. */
  readonly region: string | undefined;
}

/**
 * Storage for epoch records. Keep them next to the entities, so that one transaction covers both. `update` runs `step`
 * in a transaction, stores a changed result, and returns it. It may retry the step.
 */
export interface EpochStore {
  update(id: string, step: EpochStep): EpochRecord | undefined | Promise<EpochRecord | undefined>;
}

export type EpochStep = (held: EpochRecord | undefined) => EpochRecord | undefined;

/** Why a request must not act on an entity. */
export type EpochFault =
  /** A write that may be based on a table from before the fence. */
  | { readonly reason: "fenced"; readonly upTo: number }
  /** The entity is in another region. */
  | { readonly reason: "disowned"; readonly region: string };

/** The operator's call is stale: a higher epoch is known here. */
export interface EpochPassed {
  readonly reason: "epoch-passed";
  readonly known: number;
}

/** One region's part in moving its entities (docs/guides/move-entities.md). Each call names the epoch of its table. */
export interface EpochGuard {
  /** Whether a request may act on the entity. A higher epoch ends the fence, since only a later table can send it. */
  admit(id: string, epoch: number, isWrite: boolean): Promise<Result<void, EpochFault>>;
  /** Before an entity leaves this region: rejects writes up to this epoch. */
  fence(id: string, epoch: number): Promise<Result<void, EpochPassed>>;
  /** After its data arrived in this region: rejects writes up to this epoch, until `open` or a higher epoch. */
  take(id: string, epoch: number): Promise<Result<void, EpochPassed>>;
  /** The entity belongs to this region: all requests may act on it. */
  open(id: string, epoch: number): Promise<Result<void, EpochPassed>>;
  /** The entity left: all requests are sent to the other region, until `take`. */
  leave(id: string, epoch: number, region: string): Promise<Result<void, EpochPassed>>;
}

export function createEpochGuard(store: EpochStore): EpochGuard {
  return {
    async admit(id, epoch, isWrite) {
      const held = await store.update(id, (before) => seen(before, epoch));
      if (held?.region !== undefined) return err({ reason: "disowned", region: held.region });
      if (!isWrite || held === undefined || held.fencedUpTo === 0) return ok(undefined);
      return err({ reason: "fenced", upTo: held.fencedUpTo });
    },
    fence: (id, epoch) => announce(store, id, epoch, (before) => ({ ...before, epoch, fencedUpTo: epoch })),
    take: (id, epoch) => announce(store, id, epoch, () => ({ epoch, fencedUpTo: epoch, region: undefined })),
    open: (id, epoch) => announce(store, id, epoch, (before) => ({ ...before, epoch, fencedUpTo: 0 })),
    leave: (id, epoch, region) => announce(store, id, epoch, () => ({ epoch, fencedUpTo: 0, region })),
  };
}

const NEVER_MOVED: EpochRecord = { epoch: 0, fencedUpTo: 0, region: undefined };

function seen(held: EpochRecord | undefined, epoch: number): EpochRecord | undefined {
  const before = held ?? NEVER_MOVED;
  if (before.region !== undefined || epoch <= before.epoch) return held;
  return { ...before, epoch, fencedUpTo: epoch > before.fencedUpTo ? 0 : before.fencedUpTo };
}

/** Idempotent, so that an operator can repeat a call whose response was lost. */
async function announce(
  store: EpochStore,
  id: string,
  epoch: number,
  change: (before: EpochRecord) => EpochRecord,
): Promise<Result<void, EpochPassed>> {
  let known = 0;
  await store.update(id, (held) => {
    const before = held ?? NEVER_MOVED;
    known = before.epoch;
    return epoch < known ? held : change(before);
  });
  return epoch < known ? err({ reason: "epoch-passed", known }) : ok(undefined);
}

/** For tests, and for single-process origins that keep their entities in memory. */
export function memoryEpochStore(): EpochStore {
  const records = new Map<string, EpochRecord>();
  return {
    update(id, step) {
      const held = records.get(id);
      const next = step(held);
      if (next !== undefined && next !== held) records.set(id, next);
      return next;
    },
  };
}
