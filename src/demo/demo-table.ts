import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { RunningOrigins } from "./origins.ts";

/** What the demo reads of the declared table. The gateway checks the whole of it. */
export interface DemoTable {
  readonly regions: Readonly<Record<string, { readonly origins: readonly { readonly url: string }[] }>>;
  readonly countries: Readonly<Record<string, number>>;
  readonly entities: Readonly<Record<string, DemoEntity>>;
  readonly routes: readonly { readonly when: DemoConditions; readonly region: string }[];
  readonly moved: Readonly<Record<string, string>>;
}

export interface DemoEntity {
  readonly path: string;
  readonly ids: readonly { readonly layout: string; readonly service?: number; readonly class?: string }[];
}

export interface DemoConditions {
  readonly layout?: string;
  readonly entity?: string;
  readonly country?: string | readonly string[];
  /** ISO 8601. */
  readonly mintedBefore?: string;
  /** An inclusive range, `0-1023`. */
  readonly shardKey?: string;
  readonly slices?: { readonly m49?: readonly number[] };
}

export const TABLE_FILE = fileURLToPath(new URL("../../routing-table.json", import.meta.url));

/** The demo's own `routing-table.json`. Other tables may say more than `DemoTable` knows. */
export const readDemoTable = (): DemoTable => JSON.parse(readFileSync(TABLE_FILE, "utf8"));

/** The table with the origins where they listen in this run. */
export function tableWithOrigins(table: DemoTable, origins: RunningOrigins): DemoTable {
  const regions = Object.fromEntries(
    Object.entries(table.regions).map(([name, region]) => {
      const url = origins.of(name).url;
      return [name, { ...region, origins: region.origins.map((origin) => ({ ...origin, url })) }];
    }),
  );
  return { ...table, regions };
}

/** A shard key that some route of the table is about. */
export interface ShardKey {
  readonly shardKey: number;
  /** The part of it that the route looks at, in words. */
  readonly about: string;
}

/** The demo's UN M.49 area codes are the shard key's first 10 bits of 32. */
const M49_UNIT = 2 ** 22;

/** The area that a shard key begins with. */
export const areaOf = (shardKey: number): number => Math.floor(shardKey / M49_UNIT);

/** Both ends of each range of shard keys, and one key of each area. */
export function shardKeysOf(table: DemoTable): readonly ShardKey[] {
  return table.routes.flatMap(({ when }) => {
    const ends = when.shardKey?.split("-").map(Number) ?? [];
    const areas = when.slices?.m49 ?? [];
    return [
      ...ends.map((shardKey) => ({ shardKey, about: `shard key ${shardKey}` })),
      ...areas.map((area) => ({ shardKey: area * M49_UNIT, about: `M.49 area ${area}` })),
    ];
  });
}

/** Countries with a cut-over: their new IDs go elsewhere than the old ones. */
export function cutOversOf(table: DemoTable): readonly { readonly country: string; readonly atMs: number }[] {
  return table.routes.flatMap(({ when: { country, mintedBefore } }) =>
    typeof country === "string" && mintedBefore !== undefined ? [{ country, atMs: Date.parse(mintedBefore) }] : [],
  );
}
