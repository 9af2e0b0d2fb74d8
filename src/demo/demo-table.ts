import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { REGIONS, type RunningOrigins } from "./origins.ts";

/** What is read here of a declared table. The gateway checks the whole of it. */
export interface AnyTable {
  readonly regions: Readonly<Record<string, { readonly origins: readonly { readonly url: string }[] }>>;
  readonly countries?: Readonly<Record<string, number>>;
  readonly entities: Readonly<Record<string, AnyEntity>>;
  readonly layouts?: Readonly<Record<string, { readonly slices?: Readonly<Record<string, DeclaredSlice>> }>>;
  readonly routes: readonly { readonly when: AnyConditions; readonly region: string }[];
  readonly moved?: Readonly<Record<string, string | { readonly region: string }>>;
}

interface AnyEntity {
  readonly ids: readonly { readonly layout: string; readonly service?: number; readonly class?: string }[];
}

interface AnyConditions {
  readonly layout?: string | readonly string[];
  readonly entity?: string | readonly string[];
  readonly country?: string | readonly string[];
  /** ISO 8601. */
  readonly mintedBefore?: string;
  readonly shardKey?: Numbers;
  readonly fields?: Readonly<Record<string, Numbers>>;
  readonly slices?: Readonly<Record<string, Numbers>>;
}

/** The demo's own table, which has every part, in its shortest form. */
export interface DemoTable extends AnyTable {
  readonly countries: Readonly<Record<string, number>>;
  readonly entities: Readonly<Record<string, DemoEntity>>;
  readonly routes: readonly { readonly when: DemoConditions; readonly region: string }[];
  readonly moved: Readonly<Record<string, string>>;
}

interface DemoEntity extends AnyEntity {
  readonly path: string;
}

interface DemoConditions extends AnyConditions {
  readonly layout?: string;
  readonly entity?: string;
  readonly shardKey?: string;
  readonly slices?: { readonly m49?: readonly number[] };
}

/** Numbers, their decimal text, or inclusive ranges: `0-1023`. */
type Numbers = number | string | readonly (number | string)[];

type DeclaredSlice =
  | readonly [offset: number, bits: number]
  | { readonly offset: number; readonly bits: number; readonly codes?: string };

export const TABLE_FILE = fileURLToPath(new URL("../../routing-table.json", import.meta.url));

/** The demo's own `routing-table.json`. */
export const readDemoTable = (): DemoTable => JSON.parse(readFileSync(TABLE_FILE, "utf8"));

/** The ports that the origins of the demo's table name. `PORT` moves them. */
const DECLARED_PORTS: readonly string[] = REGIONS.map((_, index) => String(8788 + index));

/** Whether the demo's own origins can stand in for all that a table names: its regions, on this machine and its ports. */
export const isDemoTable = ({ regions }: AnyTable): boolean =>
  Object.entries(regions).every(
    ([name, { origins }]) =>
      REGIONS.some((region) => region === name) &&
      origins.every(({ url }) => {
        const { protocol, port, pathname } = new URL(url);
        return protocol === "http:" && isLoopback(url) && DECLARED_PORTS.includes(port) && pathname === "/";
      }),
  );

/** What an operator should know whose table names the demo's regions on this machine, at ports where none of its origins is. */
export function otherPortsNote({ regions }: AnyTable): string | undefined {
  const urls = Object.values(regions).flatMap(({ origins }) => origins.map(({ url }) => url));
  const areOurs = Object.keys(regions).every((name) => REGIONS.some((region) => region === name));
  const others = urls.filter((url) => isLoopback(url) && !DECLARED_PORTS.includes(new URL(url).port));
  if (!areOurs || others.length === 0) return undefined;
  return `note: requests go to ${others.join(", ")}, as the table says, and npm start began no origin there. Should you want the demo's: they stand in for a table that names ports ${DECLARED_PORTS.join(", ")}, whatever PORT is.`;
}

const isLoopback = (url: string): boolean => /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(new URL(url).hostname);

/** The table with the origins where they listen in this run. */
export function tableWithOrigins<Table extends AnyTable>(table: Table, origins: RunningOrigins): Table {
  const regions = Object.fromEntries(
    Object.entries(table.regions).map(([name, region]) => {
      const url = origins.of(name).url;
      return [name, { ...region, origins: region.origins.map((origin) => ({ ...origin, url })) }];
    }),
  );
  return { ...table, regions };
}

export const pathWithId = (pattern: string, id: string): string => pattern.replace(":id", id);

/** Whether a condition names a value; an absent one names all. */
export const isNamed = (condition: string | readonly string[] | undefined, value: string): boolean =>
  condition === undefined || [condition].flat().includes(value);

/** Inclusive ranges. */
export const rangesOf = (numbers: Numbers): readonly (readonly [from: number, to: number])[] =>
  [numbers].flat().map((part) => {
    const [from = Number.NaN, to = from] = String(part).split("-").map(Number);
    return [from, to] as const;
  });

/** A shard key that some route of the table is about. */
export interface ShardKey {
  readonly shardKey: number;
  /** The part of it that the route looks at, in words. */
  readonly about: string;
}

const SHARD_KEY_BITS = 32;

/** The value of a slice of the shard key. */
export function sliceOfKey(table: AnyTable, name: string, shardKey: number): number {
  const { bits, unit } = sliceOf(table, name);
  return Math.floor(shardKey / unit) % 2 ** bits;
}

/** `unit`: what one step of the slice adds to the shard key. */
function sliceOf(table: AnyTable, name: string) {
  const slice = table.layouts?.["hotguid"]?.slices?.[name];
  if (slice === undefined) return { bits: 0, unit: Number.NaN, label: name };
  const [offset, bits] = "offset" in slice ? [slice.offset, slice.bits] : slice;
  const label = "codes" in slice && slice.codes === "m49" ? "M.49 area" : name;
  return { bits, unit: 2 ** (SHARD_KEY_BITS - offset - bits), label };
}

/** Both ends of each range of shard keys, and of each range of a slice. */
export function shardKeysOf(table: AnyTable): readonly ShardKey[] {
  const endsOf = (numbers: Numbers) => rangesOf(numbers).flatMap(([from, to]) => (from === to ? [from] : [from, to]));
  return table.routes.flatMap(({ when }) => {
    const ends = when.shardKey === undefined ? [] : endsOf(when.shardKey);
    return [
      ...ends.map((shardKey) => ({ shardKey, about: `shard key ${shardKey}` })),
      ...Object.entries(when.slices ?? {}).flatMap(([name, numbers]) => {
        const { unit, label } = sliceOf(table, name);
        // A slice of another layout's key is no part of a shard key.
        const values = Number.isNaN(unit) ? [] : endsOf(numbers);
        return values.map((value) => ({ shardKey: value * unit, about: `${label} ${value}` }));
      }),
    ];
  });
}

/** Countries with a cut-over: their new IDs go elsewhere than the old ones. */
export function cutOversOf(table: AnyTable): readonly { readonly country: string; readonly atMs: number }[] {
  return table.routes.flatMap(({ when: { country, mintedBefore } }) =>
    country === undefined || mintedBefore === undefined
      ? []
      : [country].flat().map((code) => ({ country: code, atMs: Date.parse(mintedBefore) })),
  );
}
