import {
  builtinLayouts,
  formatShortKey,
  hotguid,
  hotguidIdentity,
  iuid,
  luuid,
  mintHotguid,
  mintIuid,
  mintLuuid,
  type Result,
  startHotguid,
  startIuid,
} from "../ids/index.ts";
import { type Entity, type EntityId, LUUID_SHORT, primaryPattern } from "../routing/index.ts";
import { cutOversOf, pathWithId, shardKeysOf } from "./demo-table.ts";
import { fieldSamples } from "./field-samples.ts";
import { type Sample, type SampleSource, sampleOf } from "./sample.ts";

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
      return fieldSamples(source, entity, id);
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
  const shortPattern = primaryPattern(entity, LUUID_SHORT);
  return PERSON_KEYS.flatMap((primaryKey) => {
    const words = must(mintLuuid({ group, primaryKey }, source.entropy));
    const shortPath = shortPattern && pathWithId(shortPattern, formatShortKey(primaryKey));
    return sampleOf(source, entity, luuid, words, `group ${group}`).map((sample) => ({ ...sample, shortPath }));
  });
}

/** The samples are ours: an error in one of them is a mistake in the demo. */
function must<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value;
  throw new Error(`the demo cannot mint its samples: ${JSON.stringify(result.error)}`);
}
