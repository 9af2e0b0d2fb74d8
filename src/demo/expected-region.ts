import { areaOf, type DemoTable } from "./demo-table.ts";

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
export function expectedRegion(table: DemoTable, keys: IdKeys, nowMs: number): string | undefined {
  return table.routes.find(({ when }) => {
    const [from = Number.NaN, to = Number.NaN] = when.shardKey?.split("-").map(Number) ?? [];
    return (
      (when.entity === undefined || when.entity === keys.entity) &&
      (when.layout === undefined || when.layout === keys.layout) &&
      (when.country === undefined || [when.country].flat().includes(keys.country ?? "")) &&
      (when.mintedBefore === undefined || nowMs < Date.parse(when.mintedBefore)) &&
      (when.shardKey === undefined || (keys.shardKey !== undefined && keys.shardKey >= from && keys.shardKey <= to)) &&
      (when.slices?.m49 === undefined ||
        (keys.shardKey !== undefined && when.slices.m49.includes(areaOf(keys.shardKey))))
    );
  })?.region;
}
