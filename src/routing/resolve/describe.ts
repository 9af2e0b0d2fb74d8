import { type Field, isoTime, type Layout, parseShortKey, textFault, type Words } from "../../ids/index.ts";
import { ofRole } from "../../ids/layout/words.ts";
import type { LayoutFault, RoutingError } from "../errors.ts";
import { LUUID_SHORT } from "../identity.ts";
import { keyFieldOf, ownerKeyField, ownersOf, type Reading, readingsOf } from "../layouts/fields.ts";
import { sliceReader } from "../layouts/plan.ts";
import { ID_LENGTH_MAX } from "../limits.ts";
import { patternFor } from "../lookup/paths.ts";
import type { Candidate, CompiledTable, EnabledLayout, Entity, Owner, TargetOrNone } from "../table.ts";
import {
  allOwners,
  canaryPlace,
  type GroupOwner,
  groupsOf,
  hintedIn,
  isInWindow,
  type LayoutHint,
  type OwnerReading,
  shortTargetOf,
  shortWords,
  targetOf,
} from "./match.ts";

/** Readings of an ID for people. Made only when a request fails or someone asks, so nothing here is fast. */

/** Every layout in use that can read the text. Each has the entities that can own the ID, or the reason why none can. */
export const describeAll = (table: CompiledTable, text: string, nowMs: number, hint?: LayoutHint): Candidate[] =>
  hintedIn(table, hint).flatMap((enabled) =>
    readingsOf(enabled.layout, text).flatMap((reading) => {
      const owners = enabled.layout.fits(reading.words) ? ownersOf(enabled, reading.words) : [];
      const found = owners.length === 0 ? [undefined] : owners;
      return found.map((owner) => describe(table, { ...reading, enabled }, owner, nowMs));
    }),
  );

export const describeOwner = (table: CompiledTable, owner: OwnerReading, nowMs: number): Candidate =>
  describe(table, { ...owner, enabled: owner.id.enabled }, owner, nowMs);

type LayoutReading = Reading & { readonly enabled: EnabledLayout };

const describe = (table: CompiledTable, reading: LayoutReading, owner: Owner | undefined, nowMs: number): Candidate => {
  const { enabled, form, words } = reading;
  const { layout } = enabled;
  const reasons: Reasons = { for: [], against: [] };
  const fits = weighBits(enabled, words, reasons);
  const inWindow = fits && weighTime(enabled, words, nowMs, reasons);
  if (fits) weighOwner(enabled, owner, words, reasons);
  const excluded = !fits || !inWindow;
  const target = owner === undefined || excluded ? undefined : targetOf(table, owner.id, words);
  return {
    layout: layout.name,
    form: form.name,
    entity: owner?.entity.name,
    fields: fieldsOf(layout.fields, words),
    mintedAt: layout.mintedAtMs === undefined ? undefined : isoTime(layout.mintedAtMs(words)),
    ...reasons,
    excluded,
    ...sourceOf(target),
    ...canaryOf(owner, target, layout.name, words),
  };
};

/** Reading of a short key as an entity's. Only the entity's own path can say that it is meant, so elsewhere it is out. */
export const describeShort = (table: CompiledTable, owner: GroupOwner, primaryKey: number, onItsPath: boolean) => {
  const { entity, group } = owner;
  const words = shortWords(group, primaryKey);
  const target = shortTargetOf(table, owner, primaryKey);
  return {
    layout: LUUID_SHORT,
    entity: entity.name,
    fields: { primaryKey: String(primaryKey), group: String(group) },
    mintedAt: undefined,
    for: [`1 to 12 hex digits, the short key of primary key ${primaryKey} in group ${group} of ${entity.name}`],
    against: onItsPath ? [] : [`a short key needs its entity's path, such as ${patternFor(entity, LUUID_SHORT)}`],
    excluded: !onItsPath,
    ...sourceOf(target),
    ...canaryOf(owner, target, LUUID_SHORT, words),
  };
};

const sourceOf = (target: TargetOrNone): Pick<Candidate, "region" | "rule" | "move"> => {
  const source = { region: target?.region?.name, rule: target?.rule };
  return target?.region === undefined || target.move === undefined ? source : { ...source, move: target.move };
};

const canaryOf = (owner: Owner | undefined, target: TargetOrNone, layout: string, words: Words) => {
  const route = owner?.id.find(words);
  if (target?.region === undefined || route?.region === undefined) return {};
  const canary = canaryPlace(route, target, layout, words);
  return canary === undefined ? {} : { canary };
};

export const keysOf = ({ fields }: Layout, words: Words) => fieldsOf(ofRole(fields, "key"), words);

/** Every field as text, so that no digit is lost in JSON. */
export const fieldsOf = (fields: readonly Field[], words: Words): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.map((field) => [field.name, field.readBig(words).toString()]));

type Reasons = { readonly for: string[]; readonly against: string[] };

const weighBits = ({ layout }: EnabledLayout, words: Words, reasons: Reasons): boolean => {
  const fixed = ofRole(layout.fields, "fixed");
  const wrong = fixed.filter((field) => field.read(words) !== field.read(layout.fixed.value));
  for (const field of wrong) {
    reasons.against.push(`${field.name} is ${field.read(words)}, and it is always ${field.read(layout.fixed.value)}`);
  }
  if (wrong.length > 0) return false;
  const misfit = layout.misfit(words);
  if (misfit?.reason === "range") {
    reasons.against.push(`${misfit.field ?? "the value"} is outside the range ${misfit.min} to ${misfit.max}`);
    return false;
  }
  if (fixed.length === 0) reasons.against.push("no bit is fixed, so nothing in the text marks this layout");
  else {
    const values = fixed.map((field) => `${field.name}=${field.read(words)}`).join(", ");
    reasons.for.push(`fixed bits ${values} match (${layout.fixedBits} ${layout.fixedBits === 1 ? "bit" : "bits"})`);
  }
  return true;
};

const weighTime = (enabled: EnabledLayout, words: Words, nowMs: number, reasons: Reasons): boolean => {
  const { layout, window } = enabled;
  if (layout.mintedAtMs === undefined) return true;
  const mintedMs = layout.mintedAtMs(words);
  const minted = `minted ${nameTime(mintedMs)}`;
  if (window === undefined) reasons.for.push(`${minted}; the table sets no window for this layout`);
  else if (mintedMs !== undefined && mintedMs < window.fromMs)
    reasons.against.push(`${minted}, before ${nameTime(window.fromMs)}`);
  else if (!isInWindow(enabled, words, nowMs)) {
    reasons.against.push(`${minted}, after ${nameTime(nowMs + window.aheadMs)}`);
  } else reasons.for.push(`${minted}, inside of the window from ${nameTime(window.fromMs)}`);
  return isInWindow(enabled, words, nowMs);
};

const nameTime = (unixMs: number | undefined): string =>
  isoTime(unixMs) ?? `at Unix millisecond ${unixMs ?? "beyond 2^53 - 1"}`;

const weighOwner = ({ layout }: EnabledLayout, owner: Owner | undefined, words: Words, reasons: Reasons): void => {
  const mark = ownerKeyField(layout);
  if (mark === undefined) return;
  const value = `${mark.name} ${mark.read(words)}`;
  if (owner === undefined) reasons.against.push(`${value} is no entity of the table`);
  else if (owner.id.service === undefined && owner.id.group === undefined) {
    reasons.for.push(`${owner.entity.name} takes every ${mark.name}`);
  } else reasons.for.push(`${value} is ${owner.entity.name}`);
};

/** The LUUID groups of a table, with their entities, where some path takes their short keys. */
export const shortKeyOwners = (table: CompiledTable): readonly GroupOwner[] =>
  [...table.entities.values()].filter((entity) => patternFor(entity, LUUID_SHORT) !== undefined).flatMap(groupsOf);

/** No layout can read the text: each says why. A text that is too long for any is not looked at more closely. */
export const malformed = (layouts: Iterable<EnabledLayout>, text: string, short = false): RoutingError => {
  const faults = faultsOf(layouts, text);
  const key = short && text.length <= ID_LENGTH_MAX ? parseShortKey(text) : undefined;
  const all = key?.ok === false ? [...faults, { layout: LUUID_SHORT, error: key.error }] : faults;
  return { reason: "malformed-id", id: text, faults: all };
};

export const faultsOf = (layouts: Iterable<EnabledLayout>, text: string): readonly LayoutFault[] => {
  const faults: LayoutFault[] = [];
  for (const { layout } of layouts) {
    const tooLong = { reason: "length", expected: `at most ${ID_LENGTH_MAX}`, actual: text.length } as const;
    const error = text.length > ID_LENGTH_MAX ? tooLong : textFault(layout, text);
    if (error !== undefined) faults.push({ layout: layout.name, error });
  }
  return faults;
};

/** The text can be read, but no layout of the entity takes it: it belongs to another entity, or to none. */
export const wrongEntityError = (
  table: CompiledTable,
  entity: Entity,
  text: string,
  nowMs: number,
  hint?: LayoutHint,
): RoutingError => {
  const owners = allOwners(table, text, nowMs, hint);
  if (owners.length > 0) {
    const candidates = owners.map((owner) => describeOwner(table, owner, nowMs));
    return { reason: "wrong-entity", id: text, entity: entity.name, candidates };
  }
  const candidates = describeAll(table, text, nowMs, hint);
  const own = new Set(entity.ids.map(({ enabled }) => enabled.layout.name));
  // It is of the entity's layout, only its service or group is another one.
  const misplaced = candidates.some(({ layout, excluded }) => !excluded && own.has(layout));
  return misplaced
    ? { reason: "wrong-entity", id: text, entity: entity.name, candidates }
    : { reason: "unknown-id", id: text, candidates };
};

/** No entity has the ID: either no layout can read it, or no entity claims what it says. */
export const unknownIdError = (table: CompiledTable, text: string, nowMs: number, hint?: LayoutHint): RoutingError => {
  const candidates = text.length > ID_LENGTH_MAX ? [] : describeAll(table, text, nowMs, hint);
  return candidates.length === 0
    ? malformed(hintedIn(table, hint), text)
    : { reason: "unknown-id", id: text, candidates };
};

/** No route and no default takes the ID: what it carries, so that a route can be written for it. */
export const unassigned = (
  entity: Entity,
  { layout, slices }: EnabledLayout,
  layoutName: string,
  text: string,
  words: Words,
): RoutingError => {
  const field = keyFieldOf(layout);
  const read =
    field === undefined
      ? []
      : [...slices.values()].map((slice) => [`slices.${slice.name}`, sliceReader(field, slice)(words)]);
  const mintedMs = layout.mintedAtMs?.(words);
  const mintedAt = mintedMs === undefined ? undefined : isoTime(mintedMs);
  const key = { ...keysOf(layout, words), ...Object.fromEntries(read), ...(mintedAt && { mintedAt }) };
  return { reason: "unassigned-key", id: text, entity: entity.name, layout: layoutName, key };
};
