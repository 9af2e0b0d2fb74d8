import {
  builtinLayouts,
  formatShortKey,
  hotguid,
  hotguidIdentity,
  iuid,
  type Layout,
  luuid,
  mintHotguid,
  mintIuid,
  mintLuuid,
  type RandomWords,
  type Result,
  startHotguid,
  startIuid,
  type Words,
} from "../ids/index.ts";
import { type CompiledTable, type Entity, type EntityId, regionsOfMinted } from "../routing/index.ts";
import { type AnyTable, cutOversOf, pathWithId, shardKeysOf } from "./demo-table.ts";

/** An ID with what the table says of it. */
export interface Sample {
  readonly entity: string;
  readonly id: string;
  /** The part of the ID that decides, in words. */
  readonly about: string;
  readonly region: string;
  /** The entity's own path, `/orders/<id>`. */
  readonly path: string;
  /** A second path to the same entity, where its layout has a short form. */
  readonly shortPath: string | undefined;
  /** What an ID with the same keys is minted for, where its layout has a country. */
  readonly country: string | undefined;
}

export interface SampleSource {
  readonly declared: AnyTable;
  readonly table: CompiledTable;
  readonly nowMs: number;
  readonly entropy: RandomWords;
}

/**
 * Primary keys of the demo's persons. The gateway mints from 1 upwards; these are far away, so that no new person gets
 * the number of one that is already there.
 */
const PERSON_KEYS = [0x23122e, 0x23122f];

const DAY_MS = 24 * 60 * 60 * 1000;

/** A table may name hundreds of countries and keys; a screen shows a few. */
const SAMPLES_PER_LAYOUT_MAX = 24;

/**
 * Real IDs for every way in which the table routes: countries, cut-overs, shard ranges, areas, a group, a moved one. What
 * the table sends nowhere, what has a layout that others mint, and what clients see under public IDs only has none.
 */
export function mintSamples(source: SampleSource): readonly Sample[] {
  return [...source.table.entities.values()]
    .filter((entity) => entity.public === undefined)
    .flatMap((entity) => entity.ids.flatMap((id) => samplesOf(source, entity, id).slice(0, SAMPLES_PER_LAYOUT_MAX)));
}

function samplesOf(source: SampleSource, entity: Entity, id: EntityId): Sample[] {
  switch (id.enabled.layout.name) {
    case iuid.name:
      return iuids(source, entity, id.service ?? 0);
    case hotguid.name:
      return hotguids(source, entity);
    case luuid.name:
      return luuids(source, entity, id.group ?? 0);
    default:
      return [];
  }
}

function iuids(source: SampleSource, entity: Entity, service: number): Sample[] {
  const { declared, table, nowMs } = source;
  const mint = (code: string, timeMs: number, about: string) => {
    const minter = must(startIuid({ country: table.countries.get(code) ?? Number.NaN, service }));
    const { words } = must(mintIuid(minter, timeMs, source.entropy));
    return sampleOf(source, entity, iuid, words, about).map((sample) => ({ ...sample, country: code }));
  };
  const moved = Object.keys(declared.moved ?? {}).flatMap((id) => {
    const words = iuid.parse(id);
    const isOurs = words.ok && iuid.field("service")?.read(words.value) === service;
    return isOurs ? sampleOf(source, entity, iuid, words.value, "moved") : [];
  });
  return [
    ...[...table.countries.keys()].flatMap((code) => mint(code, nowMs, code)),
    ...cutOversOf(declared).flatMap(({ country, atMs }) => mint(country, atMs - DAY_MS, `${country}, older`)),
    ...moved,
  ];
}

function hotguids(source: SampleSource, entity: Entity): Sample[] {
  const identity = must(hotguidIdentity(source.entropy, [...builtinLayouts.values()]));
  return shardKeysOf(source.declared).flatMap(({ shardKey, about }) => {
    const minter = must(startHotguid(identity, { shardKey }));
    return sampleOf(source, entity, hotguid, must(mintHotguid(minter, source.nowMs, source.entropy)).words, about);
  });
}

function luuids(source: SampleSource, entity: Entity, group: number): Sample[] {
  return PERSON_KEYS.flatMap((primaryKey) => {
    const words = must(mintLuuid({ group, primaryKey }, source.entropy));
    const shortPath = pathWithId(entity.paths, formatShortKey(primaryKey));
    return sampleOf(source, entity, luuid, words, `group ${group}`).map((sample) => ({ ...sample, shortPath }));
  });
}

/** One sample, or none when the table sends it nowhere. */
function sampleOf({ table }: SampleSource, entity: Entity, layout: Layout, words: Words, about: string): Sample[] {
  const region = regionOf(table, entity, layout, words);
  if (region === undefined) return [];
  const id = layout.format(words);
  const path = pathWithId(entity.paths, id);
  return [{ entity: entity.name, id, about, region, path, shortPath: undefined, country: undefined }];
}

/** The order of trust is the gateway's: what the table says of the entity alone, then the routes with their canaries. */
function regionOf(table: CompiledTable, entity: Entity, layout: Layout, words: Words): string | undefined {
  const alone = table.moved.find(layout, words);
  if (alone !== undefined) return alone.region?.name;
  const enabled = table.layouts.get(layout.name);
  const regions = enabled && regionsOfMinted(entity, enabled, [words]);
  return regions?.ok ? regions.value[0] : undefined;
}

/** The samples are ours: an error in one of them is a mistake in the demo. */
function must<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value;
  throw new Error(`the demo cannot mint its samples: ${JSON.stringify(result.error)}`);
}
