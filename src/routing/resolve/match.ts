import { fieldOf, type Layout, luuid, type TextForm, type Words } from "../../ids/index.ts";
import { identityWords, LUUID_SHORT } from "../identity.ts";
import type { Reading } from "../layouts/fields.ts";
import type { DeclaredSplit } from "../schema/parts.ts";
import type {
  CanaryPlace,
  CompiledTable,
  EnabledLayout,
  Entity,
  EntityId,
  FormReader,
  Found,
  LayoutHint,
  Owner,
  Target,
  TargetOrNone,
  TimedLayout,
} from "../table.ts";

export type { LayoutHint };

/** Whether the ID was minted when IDs of its layout are. Both ends of the window belong to it. */
export const isInWindow = ({ layout, window }: TimedLayout, words: Words, nowMs: number): boolean => {
  if (window === undefined || layout.mintedAtMs === undefined) return true;
  const mintedMs = layout.mintedAtMs(words);
  return mintedMs !== undefined && mintedMs >= window.fromMs && mintedMs <= nowMs + window.aheadMs;
};

/** An owner with the bits in which it reads the text, and the form in which it reads them. */
export type OwnerReading = Owner & Reading;

/** Everyone who can own an ID, over all layouts and entities, or over the one layout that a hint names. */
export const allOwners = (table: CompiledTable, text: string, nowMs: number, hint?: LayoutHint): OwnerReading[] => {
  const owners: OwnerReading[] = [];
  for (const { form, of } of table.readers) {
    const hinted = hint === undefined ? of : of.filter((enabled) => isHinted(enabled, hint));
    const words = hinted.length === 0 ? undefined : form.read(text, 0, text.length);
    if (words === undefined) continue;
    for (const enabled of hinted) {
      if (!enabled.layout.fits(words) || !isInWindow(enabled, words, nowMs)) continue;
      const { mark, marked, unmarked } = enabled.owners;
      // As `ownersOf`: an ID on `/any` passes few functions.
      const own = (mark === undefined ? undefined : marked.get(mark.read(words))) ?? unmarked;
      for (const { entity, id } of own) owners.push({ entity, id, form, words });
    }
  }
  return owners;
};

export const isHinted = ({ layout }: EnabledLayout, hint: LayoutHint | undefined): boolean =>
  hint === undefined || layout === hint.enabled?.layout;

export const hintedIn = ({ layouts }: CompiledTable, hint: LayoutHint | undefined): readonly EnabledLayout[] =>
  [...layouts.values()].filter((enabled) => isHinted(enabled, hint));

/** Groups layouts, or what has one, by their text forms. */
export const readersOf = <Reader>(readers: readonly Reader[], layoutOf: (reader: Reader) => Layout) => {
  const byForm = new Map<TextForm, Reader[]>();
  for (const reader of readers) {
    for (const form of layoutOf(reader).texts) byForm.set(form, [...(byForm.get(form) ?? []), reader]);
  }
  return [...byForm].map(([form, of]): FormReader<Reader> => ({ form, of }));
};

/** A run of digits this long is no chance in numerals of 32 digits or more: fewer than one ID in 10^8 has it. */
const DIGITS_MIN = 16;
const UNLIKELY_RADIX_MIN = 32;

/** Whether a text of this form may look like this: false for a base62 or the like of many digits and nothing else. */
export const isPlausibleNumeral = ({ numeral }: TextForm, text: string): boolean =>
  text.length < DIGITS_MIN || (numeral?.digits.length ?? 0) < UNLIKELY_RADIX_MIN || !/^[0-9]+$/.test(text);

/** A long text of digits only is read in decimal, hex and the like, so that no Snowflake is taken for base62. */
export const dropUnlikelyDigits = (readings: readonly OwnerReading[], text: string): readonly OwnerReading[] => {
  if (readings.length < 2) return readings;
  const usual = readings.filter(({ form }) => isPlausibleNumeral(form, text));
  return usual.length === 0 ? readings : usual;
};

/** Where an ID goes: what the table says of it alone, then the routes, then the default. */
export const targetOf = (table: CompiledTable, { enabled, find }: EntityId, words: Words): TargetOrNone => {
  const override = enabled.overrides?.get(words);
  if (override !== undefined) return table.moved.targets[override];
  const found = find(words);
  if (found === undefined || (found.region !== undefined && found.canary === undefined)) return found;
  return applyRollout(found, enabled.layout.name, words);
};

/** An entity with LUUIDs of a known group, which short keys can name. */
export type GroupOwner = Owner & { readonly group: number };

export const groupsOf = (entity: Entity): readonly GroupOwner[] =>
  entity.ids.flatMap((id) =>
    id.enabled.layout === luuid && id.group !== undefined ? [{ entity, id, group: id.group }] : [],
  );

/** The same for a short key. */
export const shortTargetOf = (table: CompiledTable, { id, group }: GroupOwner, primaryKey: number): TargetOrNone => {
  const words = shortWords(group, primaryKey);
  return table.moved.findShort(group, primaryKey) ?? applyRollout(id.find(words), LUUID_SHORT, words);
};

/** An LUUID of which only the group and the primary key are known; its random bits are 0. */
export const shortWords = (group: number, primaryKey: number): Words => {
  const words = [...luuid.fixed.value];
  fieldOf(luuid, "group").write(words, group);
  fieldOf(luuid, "primaryKey").write(words, primaryKey);
  return words;
};

/** Where an entity stands among all: from 0 up to, not including, 1. A share takes those below it. */
export const placeOf = (layout: string, words: Words, seed?: number): number =>
  shareHash(identityWords(layout, words), seed) / 2 ** 32;

/** The least percentage with four decimals at which a canary takes the entity. */
export const percentTaking = (layout: string, words: Words, seed?: number): number =>
  (Math.floor(placeOf(layout, words, seed) * 1e6) + 1) / 1e4;

/** Where an ID stands; `undefined` where its route has no canary, or where the table says more of the ID than its route does. */
export const canaryPlace = (route: Target, target: Target, layout: string, words: Words): CanaryPlace | undefined => {
  const canary = route?.canary;
  if (canary === undefined || (target !== route && target !== canary.target)) return undefined;
  const { target: to, share } = canary;
  return { region: to.region.name, percent: percentOf(share), takesFrom: percentTaking(layout, words) };
};

/** A share as the table writes it. */
export const percentOf = (share: number): number => Number((share * 100).toPrecision(12));

/** Any constant but that of another use: other choices by a hash of the ID stay independent. */
const CANARY_SEED = 0x9747b28c;

/** MurmurHash3, x86, 32 bits, over the words as little-endian blocks (A. Appleby, smhasher, MurmurHash3.cpp). */
export const shareHash = (words: Words, seed = CANARY_SEED): number => {
  let hash = seed;
  for (let at = 0; at < words.length; at++) {
    const block = Math.imul(words[at] as number, 0xcc9e2d51);
    hash ^= Math.imul((block << 15) | (block >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash ^= words.length * 4;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** Any but those of other uses: the parts of a split must not follow the shares of a canary. */
const SPLIT_SEED = 0x3c6ef372;

/** The equal part that an entity is in, from 0: by what it is told by alone, so that all texts of it agree. */
export const partOf = (layout: string, words: Words, parts: number): number =>
  Math.floor((shareHash(identityWords(layout, words), SPLIT_SEED) / 2 ** 32) * parts);

/** By a split's part or a canary's share: of the entity alone, so that it never flips while a share only grows. */
export const applyRollout = (found: Found | undefined, layout: string, words: Words) => {
  if (found === undefined) return undefined;
  if (found.region === undefined) {
    return "parts" in found ? found.parts[partOf(layout, words, found.parts.length)] : found;
  }
  const { canary } = found;
  return canary !== undefined && placeOf(layout, words) < canary.share ? canary.target : found;
};

/** `place`: below the split's `regions`. */
export type SplitFault = { readonly place: readonly (string | number)[]; readonly message: string };

/** The regions of a split's parts. Each part must have exactly one. */
export const readSplit = ({ parts, regions }: DeclaredSplit) => {
  if (Array.isArray(regions)) {
    const message = `There are ${parts} parts and ${regions.length} regions; name one region for each part.`;
    return { regions, faults: regions.length === parts ? [] : [{ place: [], message }] };
  }
  const faults: SplitFault[] = [];
  const found: (string | undefined)[] = new Array(parts).fill(undefined);
  for (const [key, region] of Object.entries(regions)) {
    const [, from, to = from] = /^(0|[1-9][0-9]{0,3})(?:-(0|[1-9][0-9]{0,3}))?$/.exec(key) ?? [];
    const first = Number(from);
    const last = Number(to);
    if (!(first <= last && last < parts)) {
      const message = `Parts are numbered from 0 to ${parts - 1}; write one or a range of them.`;
      faults.push({ place: [key], message });
      continue;
    }
    const taken = found.findIndex((other, part) => part >= first && part <= last && other !== undefined);
    if (taken !== -1) faults.push({ place: [key], message: `Part ${taken} has a region already; name it once.` });
    found.fill(region, first, last + 1);
  }
  const without = found.flatMap((region, part) => (region === undefined ? [part] : []));
  if (without.length > 0 && faults.length === 0) {
    faults.push({ place: [], message: `No region is named for part ${without.join(", ")}; name one for each part.` });
  }
  return { regions: found.filter((region) => region !== undefined), faults };
};
