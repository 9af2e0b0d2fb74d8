import { randomFillSync } from "node:crypto";
import { NO_PUBLIC_KEYS, publicCodec } from "../../features/public-ids/table/codec.ts";
import {
  builtinLayouts,
  formatShortKey,
  hotguidIdentity,
  type Layout,
  luuid,
  mintNext,
  type RandomWords,
  startMinter,
  type Words,
} from "../../ids/index.ts";
import {
  type CompiledTable,
  type DeclaredTable,
  type Entity,
  type EntityId,
  LUUID_SHORT,
  primaryPattern,
  resolveAny,
  resolvePath,
} from "../../routing/index.ts";
import type { TableFile } from "./table-file.ts";

/** An ID that the table routes. */
export interface Sample {
  readonly entity: string;
  readonly id: string;
  readonly region: string;
  /** The keys that decide, in words. */
  readonly about: string;
  /** The entity's primary path with the ID. */
  readonly path: string;
  /** The same as its origin gets it: with the internal ID. */
  readonly internalPath: string;
  /** The path with the short key; empty without one. */
  readonly shortPath?: string;
  /** A body of `POST /mint` for such an ID. */
  readonly mint?: object;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** A table may have hundreds of countries and keys. */
const SAMPLES_PER_LAYOUT_MAX = 24;
const KEY_SETS_MAX = 256;

/** The gateway mints primary keys from 1 up, so these stay unused. */
const PRIMARY_KEYS = [0x23122e, 0x23122f];

const entropy: RandomWords = { word: () => randomFillSync(new Uint32Array(1))[0] ?? 0 };

/** Keys of HotGuids: IDs with these never look like another built-in layout's. */
const identity = hotguidIdentity(entropy, [...builtinLayouts.values()]);
const hotguidKeys: Readonly<Record<string, number>> = identity.ok ? { ...identity.value } : {};

/**
 * IDs for the keys, cut-overs and moves of the table, except for layouts that cannot be minted. IDs of public entities are
 * shown as clients get them; without keys they are left out.
 */
export function mintSamples(file: TableFile, keys = NO_PUBLIC_KEYS, nowMs = Date.now()): readonly Sample[] {
  const entities = [...file.table.entities.values()];
  const moved = Object.keys(file.declared.moved ?? {}).slice(0, SAMPLES_PER_LAYOUT_MAX);
  const samples = [
    ...entities.flatMap((entity) => entity.ids.flatMap((id) => samplesOf(file, entity, id, nowMs))),
    ...moved.flatMap((id) => {
      const found = resolveAny(file.table, id, nowMs);
      if (!found.ok) return [];
      const { entity, layout, target } = found.value;
      const path = pathOf(entity, layout, id);
      return [{ entity: entity.name, id, region: target.region.name, about: "moved", path, internalPath: path }];
    }),
  ];
  return samples.flatMap((sample) => asShown(file, sample, keys));
}

/** A sample as clients have it; none where its public ID needs a key that is not there. */
function asShown({ table }: TableFile, sample: Sample, keys: typeof NO_PUBLIC_KEYS): readonly Sample[] {
  const entity = table.entities.get(sample.entity);
  if (entity?.public === undefined) return [sample];
  const id = publicCodec(entity, keys)?.show(sample.id);
  const { path, about } = sample;
  if (id === undefined) return [];
  return [{ ...sample, id, path: path.replace(sample.id, id), about: `${about}, public`, shortPath: "" }];
}

/** An entity with an ID to try; without one where none can be minted here that the table routes. */
export interface EntitySample {
  readonly entity: string;
  readonly paths: readonly string[];
  readonly sample: Sample | undefined;
}

/** One sample for each of the table's first entities. */
export function entitySamples(file: TableFile, countMax: number, keys = NO_PUBLIC_KEYS): readonly EntitySample[] {
  const nowMs = Date.now();
  return [...file.table.entities.values()].slice(0, countMax).map((entity) => {
    const made = entity.ids.flatMap((id) => samplesOf(file, entity, id, nowMs).slice(0, 1));
    const [sample] = made.flatMap((each) => asShown(file, each, keys));
    return { entity: entity.name, paths: entity.paths, sample };
  });
}

function samplesOf(file: TableFile, entity: Entity, entityId: EntityId, nowMs: number): Sample[] {
  const { layout } = entityId.enabled;
  const samples = keySets(file, entityId).flatMap((keys): Sample[] => {
    const values = Object.fromEntries(keys.map(({ name, value }) => [name, BigInt(value)]));
    const { country, timeMs = nowMs }: Partial<KeyOption> = Object.assign({}, ...keys);
    const words = mintWords(layout, values, timeMs);
    if (words === undefined) return [];
    const id = layout.format(words);
    const path = pathOf(entity, layout.name, id);
    const match = file.table.paths.match(path);
    const found = match && resolvePath(file.table, match, path, nowMs);
    if (!found?.ok) return [];
    const requested = keys.filter(({ about, country }) => about !== undefined && country === undefined);
    const mint = {
      entity: entity.name,
      layout: entity.ids.length > 1 ? layout.name : undefined,
      country,
      fields: requested.length > 0 ? Object.fromEntries(requested.map(({ name, value }) => [name, value])) : undefined,
    };
    const isLuuid = layout.name === luuid.name;
    const shortPath = isLuuid ? pathOf(entity, LUUID_SHORT, formatShortKey(Number(values["primaryKey"]))) : "";
    const about = keys.flatMap((key) => key.about ?? []).join(", ") || layout.name;
    const region = found.value.target.region.name;
    return [{ entity: entity.name, id, region, about, path, internalPath: path, shortPath, mint }];
  });
  // Each region's first sample goes first, so that the limit hides no region.
  const isFirst = (sample: Sample) => samples.find(({ region }) => region === sample.region) === sample;
  return samples.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))).slice(0, SAMPLES_PER_LAYOUT_MAX);
}

/** Empty if no path takes the layout. */
const pathOf = (entity: Entity, layout: string, id: string): string =>
  primaryPattern(entity, layout)?.replace(":id", id) ?? "";

/** The general minter suffices for the built-in layouts here. Their own ones add state that the samples do not need. */
function mintWords(layout: Layout, values: Readonly<Record<string, bigint>>, timeMs: number): Words | undefined {
  const { minter: _, ...table } = layout.table;
  const minter = startMinter(builtinLayouts.has(layout.name) ? { ...layout, table } : layout, values);
  const minted = minter.ok ? mintNext(minter.value, timeMs, entropy) : minter;
  return minted.ok ? minted.value.words : undefined;
}

/** The value of a field that is part of the key. */
interface KeyOption {
  readonly value: number;
  /** Absent for a value that a mint request does not contain. */
  readonly about?: string;
  /** Requested by its code. */
  readonly country?: string;
  /** When the ID is minted, if not now. */
  readonly timeMs?: number;
}

function keySets(file: TableFile, id: EntityId): (KeyOption & { readonly name: string })[][] {
  let sets: ReturnType<typeof keySets> = [[]];
  for (const { name, role, max } of id.enabled.layout.fields) {
    if (role !== "key" && role !== "node") continue;
    const options = keyOptions(file, id, name).filter(({ value }) => value <= max);
    sets = sets.flatMap((set) => options.map((option) => [...set, { name, ...option }])).slice(0, KEY_SETS_MAX);
  }
  return sets;
}

function keyOptions({ declared, table }: TableFile, entityId: EntityId, name: string): readonly KeyOption[] {
  const { enabled, service, group } = entityId;
  const layout = enabled.layout.name;
  const own = builtinLayouts.has(layout) ? hotguidKeys : {};
  const fixed = new Map(Object.entries({ ...own, service, group })).get(name);
  if (fixed !== undefined) return [{ value: fixed }];
  if (name === "primaryKey" && layout === luuid.name) return PRIMARY_KEYS.map((value) => ({ value }));
  if (name === "country" && table.countries.size > 0) {
    return [...table.countries].flatMap(([country, value]) => [
      { value, country, about: country },
      ...declared.routes.flatMap(({ when: { country: named, mintedBefore } }) =>
        mintedBefore !== undefined && [named].flat().includes(country)
          ? [{ value, country, about: `${country}, older`, timeMs: Date.parse(mintedBefore) - DAY_MS }]
          : [],
      ),
    ]);
  }
  const shardKeys = name === "shardKey" ? shardKeysOf(declared, table) : [];
  if (shardKeys.length > 0) return shardKeys;
  const routed = declared.routes.flatMap(({ when }) => endsOf(when.fields?.[name]));
  return [...new Set([...routed, 1, 0])].map((value) => ({ value, about: `${name} ${value}` }));
}

type Numbers = NonNullable<DeclaredTable["routes"][number]["when"]["shardKey"]>;

/** Both ends of ranges of numbers such as `7`, `"0-9"` or a list of these. */
const endsOf = (numbers: Numbers = []): number[] => [
  ...new Set([numbers].flat().flatMap((part) => String(part).split("-").map(Number))),
];

/** Both ends of each range of shard keys, and of slices of it, in the routes. */
const shardKeysOf = ({ routes }: DeclaredTable, { layouts }: CompiledTable): readonly KeyOption[] =>
  routes.flatMap(({ when }) => [
    ...endsOf(when.shardKey).map((value) => ({ value, about: `shard key ${value}` })),
    ...Object.entries(when.slices ?? {}).flatMap(([name, numbers]) => {
      const slice = layouts.get("hotguid")?.slices.get(name);
      // Other layouts have slices too.
      if (slice === undefined) return [];
      const unit = 2 ** (32 - slice.offset - slice.bits);
      return endsOf(numbers).map((number) => ({ value: number * unit, about: `${name} ${number}` }));
    }),
  ]);
