import { isoTime, type ParseError, parseShortKey, type Words } from "../../ids/index.ts";
import type { LayoutFault, RoutingError } from "../errors.ts";
import { keyFieldOf } from "../layouts/fields.ts";
import { ID_LENGTH_MAX } from "../limits.ts";
import type { CompiledTable, EnabledLayout, Entity, NeedsPage, Owner } from "../table.ts";
import { describeAll, describeOwner, describeShort, fieldsOf } from "./describe.ts";
import { allOwners, hintedIn, type LayoutHint, LUUID_SHORT, type OwnerReading } from "./match.ts";

/** No layout can read the text: each says why. A text that is too long for any is not looked at more closely. */
export const malformed = (layouts: Iterable<EnabledLayout>, text: string, short = false): RoutingError => {
  const faults = faultsOf(layouts, text);
  const key = short && text.length <= ID_LENGTH_MAX ? parseShortKey(text) : undefined;
  const all = key?.ok === false ? [...faults, { layout: LUUID_SHORT, error: key.error }] : faults;
  return { reason: "malformed-id", id: text, faults: all };
};

/** Why the text is none of each layout in its canonical form. */
export const faultsOf = (layouts: Iterable<EnabledLayout>, text: string): readonly LayoutFault[] => {
  const faults: LayoutFault[] = [];
  for (const { layout } of layouts) {
    const parsed = text.length > ID_LENGTH_MAX ? undefined : layout.parseText(text);
    if (parsed === undefined) faults.push({ layout: layout.name, error: tooLong(text) });
    else if (!parsed.ok) faults.push({ layout: layout.name, error: parsed.error });
  }
  return faults;
};

const tooLong = (text: string): ParseError => ({
  reason: "length",
  expected: `at most ${ID_LENGTH_MAX}`,
  actual: text.length,
});

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
    ? malformed(
        hintedIn([...table.layouts.values()], (enabled) => enabled, hint),
        text,
      )
    : { reason: "unknown-id", id: text, candidates };
};

export const ambiguous = (
  table: CompiledTable,
  owners: readonly OwnerReading[],
  text: string,
  nowMs: number,
): RoutingError => ({
  reason: "ambiguous-id",
  id: text,
  candidates: owners.map((owner) => describeOwner(table, owner, nowMs)),
});

/** One short key in several groups of one entity. */
export const ambiguousShort = (
  table: CompiledTable,
  owners: readonly (Owner & { readonly group: number })[],
  text: string,
  primaryKey: number,
): RoutingError => ({
  reason: "ambiguous-id",
  id: text,
  candidates: owners.map((owner) => describeShort(table, owner, owner.group, primaryKey, true)),
});

/** The page that says where the ID goes is not in memory. */
export const needsPage = ({ missing }: NeedsPage): RoutingError => ({
  reason: "table-unavailable",
  why: `${missing.page === undefined ? "the header" : `page ${missing.page}`} of pack ${missing.pack} is not loaded`,
  missing,
});

/** No route and no default takes the ID: what it carries, so that a route can be written for it. */
export const unassigned = (
  entity: Entity,
  { layout, slices }: EnabledLayout,
  layoutName: string,
  text: string,
  words: Words,
): RoutingError => ({
  reason: "unassigned-key",
  id: text,
  entity: entity.name,
  layout: layoutName,
  key: {
    ...fieldsOf(
      layout.fields.filter(({ role }) => role === "key"),
      words,
    ),
    ...slicesOf({ layout, slices }, words),
    ...mintedAtOf(layout.mintedAtMs?.(words)),
  },
});

const mintedAtOf = (mintedMs: number | undefined): { readonly mintedAt?: string } => {
  const mintedAt = mintedMs === undefined ? undefined : isoTime(mintedMs);
  return mintedAt === undefined ? {} : { mintedAt };
};

const slicesOf = (
  { layout, slices }: Pick<EnabledLayout, "layout" | "slices">,
  words: Words,
): Readonly<Record<string, string>> => {
  const key = keyFieldOf(layout);
  if (key === undefined) return {};
  const value = key.readBig(words);
  return Object.fromEntries(
    [...slices.values()].map(({ name, offset, bits }) => [
      `slices.${name}`,
      ((value >> BigInt(key.bits - offset - bits)) & ((1n << BigInt(bits)) - 1n)).toString(),
    ]),
  );
};
