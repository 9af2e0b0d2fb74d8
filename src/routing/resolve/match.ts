import { fieldOf, type Layout, luuid, type TextForm, type Words } from "../../ids/index.ts";
import { LUUID_SHORT } from "../identity.ts";
import type { CompiledTable, EnabledLayout, EntityId, FormReader, LayoutHint, Owner, TargetOrNone } from "../table.ts";
import { applyRollout } from "./rollout.ts";

export type { LayoutHint };
export { LUUID_SHORT };

/** Whether the ID was minted when IDs of its layout are. Both ends of the window belong to it. */
export const isInWindow = ({ layout, window }: EnabledLayout, words: Words, nowMs: number): boolean => {
  if (window === undefined || layout.mintedAtMs === undefined) return true;
  const mintedMs = layout.mintedAtMs(words);
  return mintedMs >= window.fromMs && mintedMs <= nowMs + window.aheadMs;
};

/** Whether the bits can be an ID of a layout, whatever entity owns it. */
export const canBe = (enabled: EnabledLayout, words: Words, nowMs: number): boolean =>
  enabled.layout.fits(words) && isInWindow(enabled, words, nowMs);

/** An owner with the bits in which it reads the text, and the form in which it reads them. */
export interface OwnerReading extends Owner {
  readonly form: TextForm;
  readonly words: Words;
}

/** Everyone who can own an ID, over all layouts and entities, or over the one layout that a hint names. */
export const allOwners = (
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint?: LayoutHint,
): readonly OwnerReading[] => {
  const owners: OwnerReading[] = [];
  for (const { form, of } of table.readers) {
    const hinted = hint === undefined ? of : hintedIn(of, (enabled) => enabled, hint);
    const words = hinted.length === 0 ? undefined : form.read(text, 0, text.length);
    if (words === undefined) continue;
    for (const enabled of hinted) {
      if (!canBe(enabled, words, nowMs)) continue;
      for (const { entity, id } of enabled.ownersOf(words)) owners.push({ entity, id, form, words });
    }
  }
  return owners;
};

/** Those of which the hint speaks. */
export const hintedIn = <Reader>(
  readers: readonly Reader[],
  enabledOf: (reader: Reader) => EnabledLayout,
  hint: LayoutHint | undefined,
): readonly Reader[] =>
  hint === undefined ? readers : readers.filter((reader) => enabledOf(reader).layout === hint.enabled?.layout);

/** Groups layouts, or what has one, by their text forms. */
export const readersOf = <Reader>(
  readers: readonly Reader[],
  layoutOf: (reader: Reader) => Layout,
): readonly FormReader<Reader>[] => {
  const byForm = new Map<TextForm, Reader[]>();
  for (const reader of readers) {
    for (const form of layoutOf(reader).texts) byForm.set(form, [...(byForm.get(form) ?? []), reader]);
  }
  return [...byForm].map(([form, of]) => ({ form, of }));
};

/** So many digits in a row are no chance in numerals of 32 digits or more: fewer than one ID in 10^8 has them. */
const DIGITS_MIN = 16;

/** Forms in which digits alone are usual. */
const DIGIT_FORMS: readonly string[] = ["decimal", "hex"];

/** Whether a text of this form may look like this: false for a base62 or the like of many digits and nothing else. */
export const isPlausibleNumeral = ({ name }: TextForm, text: string): boolean =>
  text.length < DIGITS_MIN || DIGIT_FORMS.includes(name) || !/^[0-9]+$/.test(text);

/** Leaves decimal and hex readings alone where a long text has digits only, so that no Snowflake is taken for base62. */
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

/** The same for a short key. */
export const shortTargetOf = (
  table: CompiledTable,
  id: EntityId,
  group: number,
  primaryKey: number,
  words: Words,
): TargetOrNone => table.moved.findShort(group, primaryKey) ?? applyRollout(id.find(words), LUUID_SHORT, words);

/** An LUUID of which only the group and the primary key are known; its random bits are 0. */
export const shortWords = (group: number, primaryKey: number): Words => {
  const words = [...luuid.fixed.value];
  fieldOf(luuid, "group").write(words, group);
  fieldOf(luuid, "primaryKey").write(words, primaryKey);
  return words;
};
