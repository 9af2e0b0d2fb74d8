import {
  builtinLayouts,
  formatShortKey,
  groupOfClass,
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
import type { CompiledTable, Target } from "../routing/index.ts";
import { cutOversOf, type DemoTable, shardKeysOf } from "./demo-table.ts";

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
}

export interface SampleSource {
  readonly declared: DemoTable;
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

/** Real IDs for every way in which the table routes: countries, cut-overs, shard ranges, areas, a group, a moved one. */
export function mintSamples(source: SampleSource): readonly Sample[] {
  return Object.entries(source.declared.entities).flatMap(([entity, { ids }]) =>
    ids.flatMap((entityId) => {
      if (entityId.service !== undefined) return iuids(source, entity, entityId.service);
      if (entityId.class !== undefined) return luuids(source, entity, groupOfClass(entityId.class));
      return hotguids(source, entity);
    }),
  );
}

function iuids(source: SampleSource, entity: string, service: number): Sample[] {
  const { declared, nowMs } = source;
  const mint = (code: string, timeMs: number, about: string) => {
    const minter = must(startIuid({ country: declared.countries[code] ?? Number.NaN, service }));
    return sampleOf(source, entity, iuid, must(mintIuid(minter, timeMs, source.entropy)).words, about);
  };
  const minted = [
    ...Object.keys(declared.countries).map((code) => mint(code, nowMs, code)),
    ...cutOversOf(declared).map(({ country, atMs }) => mint(country, atMs - DAY_MS, `${country}, older`)),
  ];
  const moved = Object.keys(declared.moved).flatMap((id) => {
    const words = must(iuid.parse(id));
    const isOurs = iuid.field("service")?.read(words) === service;
    return isOurs ? [sampleOf(source, entity, iuid, words, "moved")] : [];
  });
  return [...minted, ...moved];
}

function hotguids(source: SampleSource, entity: string): Sample[] {
  const identity = must(hotguidIdentity(source.entropy, [...builtinLayouts.values()]));
  return shardKeysOf(source.declared).map(({ shardKey, about }) => {
    const minter = must(startHotguid(identity, { shardKey }));
    return sampleOf(source, entity, hotguid, must(mintHotguid(minter, source.nowMs, source.entropy)).words, about);
  });
}

function luuids(source: SampleSource, entity: string, group: number): Sample[] {
  return PERSON_KEYS.map((primaryKey) => {
    const sample = sampleOf(
      source,
      entity,
      luuid,
      must(mintLuuid({ group, primaryKey }, source.entropy)),
      `group ${group}`,
    );
    return { ...sample, shortPath: pathOf(source, entity, formatShortKey(primaryKey)) };
  });
}

function sampleOf(source: SampleSource, entity: string, layout: Layout, words: Words, about: string): Sample {
  const id = layout.format(words);
  const region = targetOf(source.table, entity, layout, words)?.region.name;
  if (region === undefined) throw new Error(`the demo's table sends ${entity} ${id} (${about}) nowhere`);
  return { entity, id, about, region, path: pathOf(source, entity, id), shortPath: undefined };
}

/** The order of trust of the gateway: a moved entity, then the routes. */
function targetOf(table: CompiledTable, entity: string, layout: Layout, words: Words): Target | undefined {
  const known = table.entities.get(entity);
  return table.moved.find(layout, words) ?? (known && table.layouts.get(layout.name)?.index.find(known, words));
}

const pathOf = (source: SampleSource, entity: string, id: string): string =>
  (source.declared.entities[entity]?.path ?? "").replace(":id", id);

/** The samples are ours: an error in one of them is a mistake in the demo. */
function must<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value;
  throw new Error(`the demo cannot mint its samples: ${JSON.stringify(result.error)}`);
}
