import { type AnyTable, isNamed, rangesOf, sliceOfKey } from "./demo-table.ts";

/** What a new ID is about. */
export interface IdKeys {
  readonly entity: string;
  readonly layout: string;
  readonly country?: string;
  readonly shardKey?: number;
}

/**
 * The region that the declared table names for an ID minted now, read line by line: slow, obvious, and none of the code
 * that the gateway runs. `undefined`: no route takes it.
 */
export function expectedRegion(table: AnyTable, keys: IdKeys, nowMs: number): string | undefined {
  const { shardKey } = keys;
  const isIn = (value: number, numbers: Parameters<typeof rangesOf>[0]) =>
    rangesOf(numbers).some(([from, to]) => value >= from && value <= to);
  return table.routes.find(
    ({ when }) =>
      isNamed(when.entity, keys.entity) &&
      isNamed(when.layout, keys.layout) &&
      isNamed(when.country, keys.country ?? "") &&
      (when.mintedBefore === undefined || nowMs < Date.parse(when.mintedBefore)) &&
      (when.shardKey === undefined || (shardKey !== undefined && isIn(shardKey, when.shardKey))) &&
      Object.entries(when.slices ?? {}).every(
        ([name, numbers]) => shardKey !== undefined && isIn(sliceOfKey(table, name, shardKey), numbers),
      ),
  )?.region;
}
