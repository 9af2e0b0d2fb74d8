import type { Layout, TextForm, Words } from "../../../ids/layout/layout.ts";
import { err, ok } from "../../../ids/result.ts";
import type { RoutingError } from "../../../routing/errors.ts";
import { fixedBitsDiffer } from "../../../routing/layouts/overlap.ts";
import { HORIZON_MS, ID_LENGTH_MAX } from "../../../routing/limits.ts";
import { primaryPattern, segmentsOf } from "../../../routing/lookup/paths.ts";
import { keysOf } from "../../../routing/resolve/describe.ts";
import { applyRollout, isHinted, isInWindow } from "../../../routing/resolve/match.ts";
import { shownOf } from "../../../routing/resolve/reading.ts";
import { resolveAny } from "../../../routing/resolve/resolve.ts";
import type { CompiledTable, EnabledLayout, Entity, EntityId, IdDecision } from "../../../routing/table.ts";
import type { MintPlan } from "./plan.ts";

/** Whether `/any` finds an entity's ID for what it is, now and as long as times of this century are read. */
export const isUnambiguous = (table: CompiledTable, entity: Entity, text: string): boolean => {
  const found = resolveAny(shownOf(table), text, HORIZON_MS);
  return found.ok ? isReached(entity, found.value) : found.error.reason !== "ambiguous-id";
};

/** An entity that shares the path is reached by other requests. */
const isReached = (entity: Entity, { entity: found, layout }: IdDecision): boolean =>
  found === entity || primaryPattern(found, layout) === primaryPattern(entity, layout);

/** How many minted IDs are not clear on `/any`, and how to address them. Plain JSON. */
export interface Ambiguous {
  readonly count: number;
  /** The path of the entity, on which nothing else is read. */
  readonly path: string;
  /** The value of the field `id-layout`, where it helps on `/any`. */
  readonly idLayout?: string;
}

type Minted = Pick<MintPlan, "entity" | "enabled">;

/** The texts that are not clear; `undefined` when there are none. */
export const findAmbiguous = (table: CompiledTable, { entity, enabled }: Minted, unclear: readonly string[]) => {
  const [first] = unclear;
  if (first === undefined) return undefined;
  const found = resolveAny(shownOf(table), first, HORIZON_MS, { enabled });
  const isSettled = found.ok && found.value.entity === entity;
  const hint = isSettled ? { idLayout: enabled.layout.name } : {};
  return { count: unclear.length, path: primaryPattern(entity, enabled.layout.name) ?? "", ...hint };
};

/** The region of each freshly minted ID, by the same index and canary that will route it. One that routes nowhere is an error. */
export function regionsOfMinted(entity: Entity, enabled: EnabledLayout, minted: readonly Words[]) {
  const regions: string[] = [];
  for (const words of minted) {
    const id = entity.ids.find((one) => one.enabled === enabled && one.takes(words));
    const target = applyRollout(id?.find(words), enabled.layout.name, words);
    if (target === undefined) return err(unassigned(entity, enabled, words));
    if (target.region === undefined) {
      // A claimed ID has a region; before that a look-up would find none.
      return err(target.isByDecision ? unassigned(entity, enabled, words) : target.error());
    }
    regions.push(target.region.name);
  }
  return ok(regions);
}

/** The ID is not given out, so it is not shown; nor are the numbers in a public entity's. */
function unassigned(entity: Entity, { layout }: EnabledLayout, words: Words): RoutingError {
  const error = { reason: "unassigned-key", entity: entity.name, layout: layout.name } as const;
  return entity.reading?.hides !== true ? { ...error, key: keysOf(layout, words) } : error;
}

/**
 * The region to which a minted ID's path leads, and in which `/any` finds it as what it is; by its words, without reading
 * its text. `undefined`: the text must be read.
 */
export type RegionByWords = (words: Words, nowMs: number) => string | undefined;

/** By the entity's one kind of ID. Compiled tables do not change. */
const decided = new WeakMap<EntityId, RegionByWords | "unproven">();

/**
 * Decides by words where the table proves that a text of the ID can mean nothing else: the entity has one kind of ID, its
 * layout one text form, no path a literal of that form, and no ID is public. `undefined` where it does not.
 */
export function regionByWords(table: CompiledTable, entity: Entity): RegionByWords | undefined {
  const [id] = entity.ids;
  if (id === undefined) return undefined;
  const found = decided.get(id) ?? proveWords(table, entity, id) ?? "unproven";
  decided.set(id, found);
  return found === "unproven" ? undefined : found;
}

function proveWords(table: CompiledTable, entity: Entity, id: EntityId): RegionByWords | undefined {
  const { enabled, takes, find } = id;
  const { layout, overrides, owners } = enabled;
  const form = layout.table.text;
  const isOnlyReading = entity.ids.length === 1 && layout.texts.length === 1 && form.lengthMax <= ID_LENGTH_MAX;
  if (!isOnlyReading || table.reading !== undefined || !isOnOwnPath(table, entity, layout, form)) return undefined;
  const mark = id.service ?? id.group;
  if (mark === undefined && owners.marked.size > 0) return undefined;
  const own = mark === undefined ? owners.unmarked : owners.marked.get(mark);
  if (own?.length !== 1 || own[0]?.id !== id) return undefined;
  const sameForm = table.readers.find((reader) => reader.form === form)?.of ?? [];
  const rivals = sameForm.filter((other) => other !== enabled && !fixedBitsDiffer(other.layout, layout));
  const otherForms = table.readers.flatMap((reader) => (reader.form === form ? [] : [reader.form]));
  return (words, nowMs) => {
    // Until the horizon, a window that takes the ID now takes it then.
    if (nowMs > HORIZON_MS || !takes(words) || !isInWindow(enabled, words, nowMs)) return undefined;
    if (overrides?.get(words) !== undefined) return undefined;
    for (const rival of rivals) {
      if (rival.layout.fits(words) && isInWindow(rival, words, HORIZON_MS)) return undefined;
    }
    if (otherForms.length > 0) {
      const text = layout.format(words);
      for (const other of otherForms) if (other.read(text, 0, text.length) !== undefined) return undefined;
    }
    return applyRollout(find(words), layout.name, words)?.region?.name;
  };
}

/** Whether the entity's first pattern leads to the entity with any text of the form as its ID. */
function isOnOwnPath({ paths, entities }: CompiledTable, entity: Entity, layout: Layout, form: TextForm): boolean {
  const pattern = primaryPattern(entity, layout.name);
  // No literal is `:id`, so the pattern itself stands for all texts that are no literal either.
  const match = pattern === undefined ? undefined : paths.match(pattern);
  if (match?.entity !== entity || match.idStart !== pattern?.indexOf(":id")) return false;
  if (!entity.ids.every(({ enabled }) => isHinted(enabled, match.hint))) return false;
  return [...entities.values()].every((other) =>
    other.paths.every((path) => segmentsOf(path).every((part) => form.read(part, 0, part.length) === undefined)),
  );
}
