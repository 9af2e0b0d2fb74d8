import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { checkPortsFree, TABLE_FILE } from "../../../src/demo/table.ts";
import type { DeclaredEntity, DeclaredTable } from "../../../src/routing/index.ts";

/** The demo's own table has these parts, in their short form. */
export interface DemoTable extends DeclaredTable {
  readonly countries: Record<string, number>;
  readonly entities: Record<string, DeclaredEntity & { readonly path: string }>;
  readonly moved: Record<string, string>;
}

export const readDemoTable = (): DemoTable => JSON.parse(readFileSync(TABLE_FILE, "utf8"));

/** A free port for the gateway with free ports for the origins after it. Another process may still take them. */
export async function findFreePorts(): Promise<number> {
  // Below the ports that systems give to connections: those may be taken at any moment.
  const port = randomInt(12_000, 32_000);
  return checkPortsFree(port, true).then(() => port, findFreePorts);
}

type Numbers = NonNullable<DeclaredTable["routes"][number]["when"]["shardKey"]>;

/** Inclusive ranges of numbers such as `7`, `"0-9"` or a list of these. */
export const rangesOf = (numbers: Numbers): (readonly [from: number, to: number])[] =>
  [numbers].flat().map((part) => {
    const [from = Number.NaN, to = from] = String(part).split("-").map(Number);
    return [from, to];
  });

const endsOf = (numbers: Numbers | undefined): number[] => [...new Set(rangesOf(numbers ?? []).flat())];

/** A HotGuid's slice of the shard key. `unit`: what one step of it adds to the key. */
export function sliceOf({ layouts }: DeclaredTable, name: string): { readonly bits: number; readonly unit: number } {
  const slice = layouts?.["hotguid"]?.slices?.[name] ?? [32, 0];
  const [offset, bits] = "offset" in slice ? [slice.offset, slice.bits] : slice;
  return { bits, unit: bits === 0 ? Number.NaN : 2 ** (32 - offset - bits) };
}

/** Both ends of each range of shard keys, and of slices of it, in the routes. `about`: the route's condition, in words. */
export const shardKeysOf = (table: DeclaredTable): readonly { readonly shardKey: number; readonly about: string }[] =>
  table.routes.flatMap(({ when }) => [
    ...endsOf(when.shardKey).map((shardKey) => ({ shardKey, about: `shard key ${shardKey}` })),
    ...Object.entries(when.slices ?? {}).flatMap(([name, numbers]) => {
      const { unit } = sliceOf(table, name);
      // Other layouts have slices too.
      const ends = unit > 0 ? endsOf(numbers) : [];
      return ends.map((value) => ({ shardKey: value * unit, about: `${name} ${value}` }));
    }),
  ]);
