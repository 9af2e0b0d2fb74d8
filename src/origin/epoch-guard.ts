import { err, ok, type Result } from "../ids/result.ts";

/** What an origin keeps of the moves of one entity. Nothing is kept of one that never moved. */
export interface EpochRecord {
  /** The highest that it was told, by requests or by the operator. */
  readonly epoch: number;
  /** Writes up to this epoch are refused; 0 for none. */
  readonly fencedUpTo: number;
  /** The region that the entity has left for. */
  readonly region: string | undefined;
}

/**
 * Where it is kept: best beside the entities, so that a transaction that writes one looks at its record too. `update` takes
 * a step, which may be taken again, in one transaction, keeps what it gives when that is another record, and gives it.
 */
export interface EpochStore {
  update(id: string, step: EpochStep): EpochRecord | undefined | Promise<EpochRecord | undefined>;
}

export type EpochStep = (held: EpochRecord | undefined) => EpochRecord | undefined;

/** Why a request may not act on an entity. */
export type EpochFault =
  /** A write that may come of a table from before the fence. */
  | { readonly reason: "fenced"; readonly upTo: number }
  /** The entity is in another region. */
  | { readonly reason: "disowned"; readonly region: string };

/** What the operator says comes too late: a higher epoch is known here. */
export interface EpochPassed {
  readonly reason: "epoch-passed";
  readonly known: number;
}

/** One region's part in the moves of its entities (docs/moving.md). Each call says the epoch of the table that it follows. */
export interface EpochGuard {
  /** Whether a request may act on the entity. An epoch above the fence ends it: only a later table can have sent it here. */
  admit(id: string, epoch: number, isWrite: boolean): Promise<Result<void, EpochFault>>;
  /** In the region that an entity leaves: from here on no write up to this epoch. */
  fence(id: string, epoch: number): Promise<Result<void, EpochPassed>>;
  /** In the region that it comes to, once its data are there: no write up to this epoch, until `open` or a higher one. */
  take(id: string, epoch: number): Promise<Result<void, EpochPassed>>;
  /** The entity is this region's: all requests may act on it. */
  open(id: string, epoch: number): Promise<Result<void, EpochPassed>>;
  /** It is not: all requests are sent to the other region, until `take`. */
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
    fence: (id, epoch) => tell(store, id, epoch, (before) => ({ ...before, epoch, fencedUpTo: epoch })),
    take: (id, epoch) => tell(store, id, epoch, () => ({ epoch, fencedUpTo: epoch, region: undefined })),
    open: (id, epoch) => tell(store, id, epoch, (before) => ({ ...before, epoch, fencedUpTo: 0 })),
    leave: (id, epoch, region) => tell(store, id, epoch, () => ({ epoch, fencedUpTo: 0, region })),
  };
}

const NEVER_MOVED: EpochRecord = { epoch: 0, fencedUpTo: 0, region: undefined };

function seen(held: EpochRecord | undefined, epoch: number): EpochRecord | undefined {
  const before = held ?? NEVER_MOVED;
  if (before.region !== undefined || epoch <= before.epoch) return held;
  return { ...before, epoch, fencedUpTo: epoch > before.fencedUpTo ? 0 : before.fencedUpTo };
}

/** Saying the same again changes nothing, so that an operator may repeat a step whose answer was lost. */
async function tell(
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

/** For tests, and for an origin of one process that holds its entities in memory as well. */
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
