import { type Layout, luuid, type Words } from "../ids/index.ts";
import type { CompiledTable, EnabledLayout, EntityId, Owner, Target } from "./table.ts";

/** Name of the layout of an ID that is only a primary key; its path gives the group. */
export const LUUID_SHORT = "luuid-short";

/** Whether the ID was minted when IDs of its layout are. Both ends of the window belong to it. */
export const isInWindow = ({ layout, window }: EnabledLayout, words: Words, nowMs: number): boolean => {
  if (window === undefined || layout.mintedAtMs === undefined) return true;
  const mintedMs = layout.mintedAtMs(words);
  return mintedMs >= window.fromMs && mintedMs <= nowMs + window.aheadMs;
};

/** Whether the bits can be an ID of a layout, whoever owns it. */
export const canBe = (enabled: EnabledLayout, words: Words, nowMs: number): boolean =>
  enabled.layout.fits(words) && isInWindow(enabled, words, nowMs);

/** Whether the bits can be an ID of an entity. */
export const isCandidate = (id: EntityId, words: Words, nowMs: number): boolean =>
  canBe(id.enabled, words, nowMs) && id.claims(words);

/** An owner with the bits in which it reads the text. */
export interface OwnerReading extends Owner {
  readonly words: Words;
}

/** Everyone who can own an ID, over all layouts and entities. */
export const allOwners = (table: CompiledTable, text: string, nowMs: number): readonly OwnerReading[] => {
  const owners: OwnerReading[] = [];
  for (const enabled of table.layouts.values()) {
    const words = readWhole(enabled.layout, text);
    if (words === undefined || !canBe(enabled, words, nowMs)) continue;
    for (const { entity, id } of enabled.ownersOf(words)) owners.push({ entity, id, words });
  }
  return owners;
};

/** The bits of a text in a layout's canonical form, whatever they say. */
export const readWhole = ({ table }: Layout, text: string): Words | undefined => table.text.read(text, 0, text.length);

/** Where an ID goes: its move, then the routes, then the default. */
export const targetOf = (table: CompiledTable, id: EntityId, words: Words): Target | undefined =>
  (table.moved.size === 0 ? undefined : table.moved.find(id.enabled.layout, words)) ?? id.find(words);

/** The same for a short key. */
export const shortTargetOf = (
  table: CompiledTable,
  id: EntityId,
  group: number,
  primaryKey: number,
  words: Words,
): Target | undefined => table.moved.findShort(group, primaryKey) ?? id.find(words);

/** An LUUID of which only the group and the primary key are known; its random bits are 0. */
export const shortWords = (group: number, primaryKey: number): Words => {
  const words = [...luuid.fixed.value];
  fieldOf(luuid, "group").write(words, group);
  fieldOf(luuid, "primaryKey").write(words, primaryKey);
  return words;
};

const fieldOf = (layout: Layout, name: string) => {
  const field = layout.field(name);
  if (field === undefined) throw new Error(`layout ${layout.name} has no field ${name}`);
  return field;
};
