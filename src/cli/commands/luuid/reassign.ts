import { formatShortKey, PRIMARY_KEY_MAX } from "../../../ids/index.ts";
import type { KeyRecord } from "./record.ts";
import { withPrimaryKey } from "./record.ts";

/** The holder of a primary key that several entities have, and the new keys of the others. Pure: nothing is guessed. */

export interface Reported extends KeyRecord {
  readonly region: string;
  /** Place of the region among the arguments. */
  readonly order: number;
}

export interface Holder {
  readonly region: string;
  readonly id: string;
}

export interface Reassigned extends Holder {
  readonly newId: string;
  readonly newPrimaryKey: number;
  readonly newShortKey: string;
}

interface ClashKey {
  readonly group: number;
  readonly primaryKey: number;
  readonly shortKey: string;
}

/** `keeps`: absent where none keeps the key. */
export type Clash =
  | (ClashKey & { readonly keeps?: Holder; readonly reassigned: readonly Reassigned[] })
  | (ClashKey & { readonly undecided: string; readonly holders: readonly Partial<Holder>[] });

export type OldKey = "moved" | "gone";

/** The clash in all that was reported of one key; `undefined` where it is one entity. */
export const clashIn = (
  records: readonly Reported[],
  old: OldKey,
  nextKey: (group: number) => number | undefined,
): Clash | undefined => {
  const [first] = records;
  if (first === undefined) return undefined;
  const { group, primaryKey } = first;
  const key = { group, primaryKey, shortKey: formatShortKey(primaryKey) };
  const ids = new Set(records.map(({ id }) => id));
  if (ids.size === 1 && first.id !== undefined) return undefined;
  const undecided = (why: string): Clash => {
    const holders = records.map(({ region, id }) => (id === undefined ? { region } : { region, id }));
    return { ...key, undecided: why, holders };
  };
  if (ids.has(undefined)) return undecided("reported without an id, so entities cannot be told apart");
  const entities = byAge(records, old);
  if (typeof entities === "string") return undecided(entities);
  const [oldest, ...others] = entities as readonly [Holder, ...Holder[]];
  const losers = old === "gone" ? entities : others;
  const keys = losers.map(() => nextKey(group));
  if (keys.some((next) => next === undefined || next > PRIMARY_KEY_MAX)) return undecided("no primary key is left");
  const reassigned = losers.map((loser, at): Reassigned => {
    const newPrimaryKey = keys[at] as number;
    const newShortKey = formatShortKey(newPrimaryKey);
    return { ...loser, newId: withPrimaryKey(loser.id, newPrimaryKey), newPrimaryKey, newShortKey };
  });
  return old === "gone" ? { ...key, reassigned } : { ...key, keeps: oldest, reassigned };
};

/** The entities, the one that keeps the key first; or why they have no order. */
const byAge = (records: readonly Reported[], old: OldKey): readonly Holder[] | string => {
  const entities = new Map<string, Reported & { readonly id: string }>();
  for (const record of records) {
    const id = record.id as string;
    const known = entities.get(id);
    if (known === undefined) entities.set(id, { ...record, id });
    else if (known.region !== record.region) return `${id} is reported by ${known.region} and ${record.region}`;
    else if (known.mintedAtMs !== record.mintedAtMs) return `${id} is reported with two times`;
  }
  const all = [...entities.values()];
  const isTimed = all.every(({ mintedAtMs }) => mintedAtMs !== undefined);
  if (!isTimed && all.some(({ mintedAtMs }) => mintedAtMs !== undefined)) return "only some are reported with mintedAt";
  const ageOf = ({ mintedAtMs }: KeyRecord): number => (isTimed ? (mintedAtMs as number) : 0);
  all.sort((a, b) => ageOf(a) - ageOf(b) || a.order - b.order);
  const [first, second] = all;
  const isTie = first !== undefined && second !== undefined && ageOf(first) === ageOf(second);
  if (old === "moved" && isTie && first.order === second.order)
    return `${first.region} reports two, and not which is older`;
  return all.map(({ region, id }) => ({ region, id }));
};
