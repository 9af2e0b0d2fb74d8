import {
  err,
  formatShortKey,
  fromSql,
  hotguid,
  hotguidSql,
  luuid,
  readShortKey,
  textsOf,
  toSql,
} from "../../ids/index.ts";
import type { LayoutFault, RoutingError } from "../errors.ts";
import { ID_LENGTH_MAX } from "../limits.ts";
import { pathWithId, primaryPattern } from "../lookup/paths.ts";
import type { Candidate, CompiledTable, Decision, EnabledLayout, Move, Rule, Share } from "../table.ts";
import { describeAll, describeShort, faultsOf, needsPage, shortKeyOwners } from "./describe.ts";
import {
  allOwners,
  hintedIn,
  isInWindow,
  type LayoutHint,
  LUUID_SHORT,
  percentOf,
  shortTargetOf,
  shortWords,
  targetOf,
} from "./match.ts";
import { isWithoutPage, type Resolution, resolveAny } from "./resolve.ts";

/** Everything that a table says about a text. Plain JSON: no number that could lose a digit, no object of the table. */
export interface Explanation {
  readonly text: string;
  /** Every layout in use, the excluded ones too, each with the reasons for and against it. */
  readonly candidates: readonly Candidate[];
  /** The layouts in use that cannot read the text, each with its reason. */
  readonly unreadable?: readonly LayoutFault[];
  /** The texts that name the same ID, for each layout that the text can be. */
  readonly forms: readonly TextFormOf[];
  /** Where `/any/:id` leads; absent when it leads nowhere. */
  readonly decision: PlainDecision | undefined;
  /** Public entities whose public IDs have this form. Only the keys tell more. */
  readonly publicOf?: readonly string[];
  /** Why `/any/:id` leads nowhere; absent when there is a decision. */
  readonly error: RoutingError | undefined;
}

export interface TextFormOf {
  readonly layout: string;
  /** The name of a text form of the layout; `hex` for a UUID without hyphens; another form of the same ID. */
  readonly form: string;
  readonly text: string;
}

export interface PlainDecision {
  readonly entity: string;
  readonly layout: string;
  readonly region: string;
  readonly rule: Rule;
  readonly move?: Move;
  /** Where a share of the reads is sent as well; no client sees its answers. */
  readonly shadow?: { readonly region: string; readonly percent: number };
  /** The entity's own path of this ID. */
  readonly path: string;
}

/** Reads a text in every way, or in that of a hint. Unix ms. While a reading needs a page, the error names it. `where`: by default that of `/any`. */
export const explain = (
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint?: LayoutHint,
  where = resolveAny(table, text, nowMs, hint),
): Explanation => {
  const missing = missingPage(table, text, nowMs, hint);
  const resolved = missing === undefined ? where : err(missing);
  const layouts = hintedIn(table, hint);
  const isTooLong = text.length > ID_LENGTH_MAX;
  return {
    text,
    candidates: isTooLong
      ? []
      : [...describeAll(table, text, nowMs, hint), ...shortCandidates(table, text, hint, where)],
    unreadable: unreadableBy(layouts, text),
    forms: isTooLong ? [] : layouts.flatMap((enabled) => formsOf(enabled, text, nowMs)),
    decision: resolved.ok ? plain(resolved.value) : undefined,
    error: resolved.ok ? undefined : resolved.error,
  };
};

const shortCandidates = (
  table: CompiledTable,
  text: string,
  hint: LayoutHint | undefined,
  where: Resolution,
): readonly Candidate[] => {
  const primaryKey = hint?.enabled === undefined ? readShortKey(text, 0, text.length) : undefined;
  if (primaryKey === undefined) return [];
  return shortKeyOwners(table).map((owner) => {
    const isOnPath = where.ok && where.value.layout === LUUID_SHORT && where.value.entity === owner.entity;
    return describeShort(table, owner, owner.group, primaryKey, isOnPath);
  });
};

/** A text that is too long for any layout is not looked at more closely. */
const unreadableBy = (layouts: readonly EnabledLayout[], text: string): readonly LayoutFault[] => {
  const unreadable = layouts.filter(
    ({ layout }) =>
      text.length > ID_LENGTH_MAX || layout.texts.every((form) => form.read(text, 0, text.length) === undefined),
  );
  return faultsOf(unreadable, text);
};

const formsOf = (enabled: EnabledLayout, text: string, nowMs: number): readonly TextFormOf[] => {
  const { layout } = enabled;
  const forms = new Map<string, TextFormOf>();
  const add = (form: string, own: string) => forms.set(`${form} ${own}`, { layout: layout.name, form, text: own });
  for (const form of layout.texts) {
    const words = form.read(text, 0, text.length);
    if (words === undefined || !layout.fits(words) || !isInWindow(enabled, words, nowMs)) continue;
    const texts = textsOf(layout, words);
    for (const [name, own] of Object.entries(texts)) add(name, own);
    if (texts["uuid"] !== undefined && texts["hex"] === undefined) add("hex", texts["uuid"].replaceAll("-", ""));
    if (layout === hotguid) add("hotguid-sql", layout.format(toSql(words)));
    if (layout === hotguidSql) add("hotguid", layout.format(fromSql(words)));
    const primaryKey = layout === luuid ? layout.field("primaryKey")?.read(words) : undefined;
    if (primaryKey !== undefined) add("short-key", formatShortKey(primaryKey));
  }
  return [...forms.values()];
};

const plain = ({ entity, layout, id, target }: Decision): PlainDecision => ({
  entity: entity.name,
  layout,
  region: target.region.name,
  rule: target.rule,
  ...(target.move === undefined ? {} : { move: target.move }),
  ...(target.shadow === undefined ? {} : { shadow: shadowOf(target.shadow) }),
  path: pathWithId(primaryPattern(entity, layout) ?? "", id),
});

const shadowOf = ({ region, share }: Share) => ({ region: region.name, percent: percentOf(share) });

/** The error for the first page that some reading of the text needs. */
const missingPage = (table: CompiledTable, text: string, nowMs: number, hint: LayoutHint | undefined) => {
  if (table.packs.size === 0 || text.length > ID_LENGTH_MAX) return undefined;
  const primaryKey = readShortKey(text, 0, text.length);
  const short = (primaryKey === undefined ? [] : shortKeyOwners(table)).map(({ id, group }) =>
    shortTargetOf(table, id, group, primaryKey as number, shortWords(group, primaryKey as number)),
  );
  const targets = allOwners(table, text, nowMs, hint).map(({ id, words }) => targetOf(table, id, words));
  const target = [...targets, ...short].find(isWithoutPage);
  return target && needsPage(target);
};
