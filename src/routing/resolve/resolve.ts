import {
  formatShortKey,
  fromSql,
  hotguid,
  hotguidSql,
  luuid,
  readShortKey,
  type TextForm,
  textsOf,
  toSql,
} from "../../ids/index.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { LayoutFault, RoutingError } from "../errors.ts";
import { identityWords, LUUID_SHORT } from "../identity.ts";
import { readingsOf } from "../layouts/fields.ts";
import { ID_LENGTH_MAX } from "../limits.ts";
import { hintName, pathWithId, primaryPattern } from "../lookup/paths.ts";
import type { UnknownName } from "../schema/faults.ts";
import type {
  Asked,
  Candidate,
  CompiledTable,
  EnabledLayout,
  Entity,
  EntityId,
  FormReader,
  IdDecision,
  Load,
  PathMatch,
  PlainDecision,
  Target,
  TargetOrNone,
} from "../table.ts";
import {
  describeAll,
  describeOwner,
  describeShort,
  faultsOf,
  malformed,
  shortKeyOwners,
  unassigned,
  unknownIdError,
  wrongEntityError,
} from "./describe.ts";
import {
  allOwners,
  dropUnlikelyDigits,
  groupsOf,
  hintedIn,
  isHinted,
  isInWindow,
  type LayoutHint,
  type OwnerReading,
  percentOf,
  shortTargetOf,
  shortWords,
  targetOf,
} from "./match.ts";

type Resolution = Result<IdDecision, RoutingError>;
type Hint = LayoutHint | undefined;

/** The hot path: the ID is read where it stands, once for each form, by the entity's layouts or by the one named. Unix ms. */
export const resolvePath = (
  table: CompiledTable,
  match: PathMatch,
  path: string,
  nowMs: number,
  said?: LayoutHint,
): Resolution => {
  const { entity, idStart, idEnd } = match;
  const text = path.slice(idStart, idEnd);
  const hint = match.hint ?? said;
  if (said !== undefined && isContradicted(said, hint)) {
    // Neither the pattern nor the request is believed more than the other.
    const layout = hintName(hint as LayoutHint);
    return err({ reason: "layout-mismatch", id: text, entity: entity.name, layout, said: hintName(said) });
  }
  let isReadable = false;
  let first: OwnerReading | undefined;
  const others: OwnerReading[] = [];
  for (let at = 0; at < entity.readers.length && text.length <= ID_LENGTH_MAX; at++) {
    const { form, of } = entity.readers[at] as FormReader<EntityId>;
    const hinted = hint === undefined ? of : of.filter(({ enabled }) => isHinted(enabled, hint));
    const words = hinted.length === 0 ? undefined : form.read(path, idStart, idEnd);
    if (words === undefined) continue;
    isReadable = true;
    for (let place = 0; place < hinted.length; place++) {
      const id = hinted[place] as EntityId;
      if (!id.takes(words) || !isInWindow(id.enabled, words, nowMs)) continue;
      const reading = { entity, id, form, words };
      if (first === undefined) first = reading;
      else others.push(reading);
    }
  }
  if (first !== undefined)
    return others.length === 0 ? decide(table, first, text) : choose(table, [first, ...others], text, nowMs);
  return resolveForeign(table, entity, { text, hint, isReadable }, nowMs);
};

/** A text that is no ID of the entity by its layouts. `isReadable`: one of them reads it, but as another entity's. */
interface ForeignText {
  readonly text: string;
  readonly hint: Hint;
  readonly isReadable: boolean;
}

/** A short key, or the error that says whose ID it may be. */
const resolveForeign = (table: CompiledTable, entity: Entity, foreign: ForeignText, nowMs: number): Resolution => {
  const { text, hint, isReadable } = foreign;
  if (!isReadable && hint?.enabled === undefined) return resolveShort(table, entity, text, hint);
  // A layout that the entity has not may still be able to read the text.
  const error = isReadable ? undefined : unknownIdError(table, text, nowMs, hint);
  return err(error?.reason === "malformed-id" ? error : wrongEntityError(table, entity, text, nowMs, hint));
};

const isContradicted = (said: LayoutHint, hint: Hint): boolean =>
  hint !== said && hint?.enabled?.layout !== said.enabled?.layout;

/** Where an ID goes that comes without a path: all layouts and all entities are tried, or the layout that a hint names. */
export const resolveAny = (
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint?: LayoutHint,
  asked?: Asked,
): Resolution => {
  const all = text.length > ID_LENGTH_MAX ? [] : allOwners(table, text, nowMs, hint);
  const owners = table.hasConditions && all.length > 1 ? reachedOf(table, all, text, asked) : all;
  const [first, second] = owners;
  if (first === undefined) return err(unknownIdError(table, text, nowMs, hint));
  return second === undefined ? decide(table, first, text) : choose(table, owners, text, nowMs);
};

/** The entity that the request would reach on the ID's path, where several share it. */
const reachedOf = (table: CompiledTable, all: readonly OwnerReading[], text: string, asked: Asked | undefined) => {
  const reached = new Map<string, Entity | undefined>();
  return all.filter(({ entity, id }) => {
    const pattern = primaryPattern(entity, id.enabled.layout.name) ?? "";
    const isFirst = !reached.has(pattern);
    if (isFirst) reached.set(pattern, table.paths.match(pathWithId(pattern, text), asked)?.entity);
    const found = reached.get(pattern);
    const isOther = found === undefined ? !isFirst : found !== entity && all.some((other) => other.entity === found);
    return !isOther;
  });
};

/** A request may name its ID's layout, or say `luuid-short`. Nothing said is no hint; an unknown name is an error. */
export const hintNamed = (table: CompiledTable, name: string | undefined): Result<Hint, UnknownName<"layout">> => {
  if (name === undefined) return ok(undefined);
  const enabled = table.layouts.get(name);
  const isShort = name === LUUID_SHORT && table.layouts.has(luuid.name);
  if (enabled !== undefined || isShort) return ok({ enabled });
  return err({ reason: "unknown-name", what: "layout", name, known: [...table.layouts.keys()] });
};

/** Several readings are one decision only if they are of one entity and lead to one region, with one ID. */
const choose = (table: CompiledTable, all: readonly OwnerReading[], text: string, nowMs: number): Resolution => {
  const readings = dropUnlikelyDigits(all, text);
  const [first, ...others] = readings.toSorted((a, b) => placeOf(a) - placeOf(b)) as [OwnerReading, ...OwnerReading[]];
  const [target, ...rest] = [first, ...others].map(({ id, words }) => targetOf(table, id, words));
  // A target that is not known yet may be the same or not.
  const unknown = [target, ...rest].find(isUnloaded);
  if (unknown !== undefined) return err(unknown.error());
  const isOne = others.every(({ entity }, at) => entity === first.entity && sameTarget(rest[at], target));
  if (isOne && isOneId(readings)) return decide(table, first, text);
  const candidates = readings.map((owner) => describeOwner(table, owner, nowMs));
  return err({ reason: "ambiguous-id", id: text, candidates });
};

/** Origins get the canonical text. Where the table declares several texts, readings may have one each: none is taken. */
const isOneId = (readings: readonly OwnerReading[]): boolean =>
  !readings.some(({ id: { enabled } }) => enabled.isOwn && enabled.layout.texts.length > 1) ||
  new Set(readings.map(({ id, words }) => id.enabled.layout.format(words))).size === 1;

/** The order of the table among the IDs of one entity. */
const placeOf = ({ entity, id }: OwnerReading): number => entity.ids.indexOf(id);

const isLoad = (target: TargetOrNone): target is Load => target !== undefined && "isByDecision" in target;

/** Before it is loaded, nothing can be said of the ID. */
export const isUnloaded = (target: TargetOrNone): target is Load => isLoad(target) && !target.isByDecision;

const isLookedUp = (target: TargetOrNone): target is Load => isLoad(target) && target.isByDecision;

/** Look-ups of two texts may find different regions. */
const sameTarget = (a: TargetOrNone, b: TargetOrNone): boolean =>
  a?.region === b?.region && (a === undefined) === (b === undefined) && !isLookedUp(a) && !isLookedUp(b);

const decide = (table: CompiledTable, reading: OwnerReading, text: string): Resolution => {
  const { entity, id, form, words } = reading;
  const { layout, hasOtherWords } = id.enabled;
  const target = targetOf(table, id, words);
  if (target?.region === undefined && !isLookedUp(target)) return err(nowhere(reading, text, target, layout.name));
  const identity = hasOtherWords ? identityWords(layout.name, words) : words;
  // Most requests carry the canonical text: it need not be written again.
  const isCanonical = form === layout.table.text && isWrittenAsRead(form, text);
  const canonical = isCanonical ? text : layout.format(words);
  if (target.region === undefined) {
    return err(target.error({ by: "id", entity, layout: layout.name, id: text, words, identity, canonical }));
  }
  return { ok: true, value: { by: "id", entity, layout: layout.name, id: text, words, identity, canonical, target } };
};

const UPPER_CASE = /[A-Z]/;

/** Whether a text that the form reads is the one that it writes: case is the only latitude of any form. */
const isWrittenAsRead = ({ isCaseless, numeral }: TextForm, text: string): boolean =>
  isCaseless ? !UPPER_CASE.test(text) : numeral !== undefined && !numeral.folded;

type Owned = Omit<OwnerReading, "form">;
type NoTarget = Exclude<TargetOrNone, Target>;

const nowhere = ({ entity, id, words }: Owned, text: string, target: NoTarget, layout: string): RoutingError => {
  if (target === undefined || isLookedUp(target)) return unassigned(entity, id.enabled, layout, text, words);
  return isUnloaded(target) ? target.error() : { reason: "entity-gone", id: text, entity: entity.name };
};

/** A text that nothing else reads may be a short key, where the entity has LUUIDs of a known group. */
const resolveShort = (table: CompiledTable, entity: Entity, text: string, hint?: LayoutHint): Resolution => {
  const groups = groupsOf(entity);
  const primaryKey = readShortKey(text, 0, text.length);
  const [first] = groups;
  if (primaryKey === undefined || first === undefined) {
    const readers = hint === undefined ? new Set(entity.ids.map(({ enabled }) => enabled)) : [];
    return err(malformed(readers, text, first !== undefined));
  }
  const [target, ...others] = groups.map((owner) => shortTargetOf(table, owner, primaryKey));
  const unknown = [target, ...others].find(isUnloaded);
  if (unknown !== undefined) return err(unknown.error());
  if (!others.every((other) => sameTarget(other, target))) {
    const candidates = groups.map((owner) => describeShort(table, owner, primaryKey, true));
    return err({ reason: "ambiguous-id", id: text, candidates });
  }
  const words = shortWords(first.group, primaryKey);
  if (target?.region === undefined) return err(nowhere({ entity, id: first.id, words }, text, target, LUUID_SHORT));
  const identity = identityWords(LUUID_SHORT, words);
  const canonical = formatShortKey(primaryKey);
  return ok({ by: "id", entity, layout: LUUID_SHORT, id: text, words, identity, canonical, target });
};

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

/** Reads a text in every way, or in that of a hint. Unix ms. While a reading needs something loaded, the error says so. `where`: by default that of `/any`. */
export const explain = (
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint?: LayoutHint,
  where = resolveAny(table, text, nowMs, hint),
): Explanation => {
  const missing = unloadedError(table, text, nowMs, hint);
  const resolved = missing === undefined ? where : err(missing);
  const layouts = hintedIn(table, hint);
  const isTooLong = text.length > ID_LENGTH_MAX;
  const own = isTooLong ? [] : describeAll(table, text, nowMs, hint);
  // A text that is too long for any layout is not looked at more closely.
  const unreadable = layouts.filter(({ layout }) => isTooLong || readingsOf(layout, text).length === 0);
  return {
    text,
    candidates: [...own, ...shortCandidates(table, text, hint, where)],
    unreadable: faultsOf(unreadable, text),
    forms: isTooLong ? [] : layouts.flatMap((enabled) => formsOf(enabled, text, nowMs)),
    decision: resolved.ok ? plainDecision(resolved.value) : undefined,
    error: resolved.ok ? undefined : resolved.error,
  };
};

const shortCandidates = (table: CompiledTable, text: string, hint: Hint, where: Resolution): readonly Candidate[] => {
  const primaryKey = hint?.enabled === undefined ? readShortKey(text, 0, text.length) : undefined;
  if (primaryKey === undefined) return [];
  return shortKeyOwners(table).map((owner) => {
    const isOnPath = where.ok && where.value.layout === LUUID_SHORT && where.value.entity === owner.entity;
    return describeShort(table, owner, primaryKey, isOnPath);
  });
};

const formsOf = (enabled: EnabledLayout, text: string, nowMs: number): readonly TextFormOf[] => {
  const { layout } = enabled;
  const forms = new Map<string, TextFormOf>();
  const add = (form: string, own: string) => forms.set(`${form} ${own}`, { layout: layout.name, form, text: own });
  for (const { words } of readingsOf(layout, text)) {
    if (!layout.fits(words) || !isInWindow(enabled, words, nowMs)) continue;
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

/** `text`: the ID as the client wrote it. */
export const plainDecision = (decision: IdDecision, text = decision.id): PlainDecision => {
  const {
    entity,
    layout,
    target: { region, rule, move, shadow },
  } = decision;
  return {
    entity: entity.name,
    layout,
    region: region.name,
    rule,
    ...(move === undefined ? {} : { move }),
    ...(shadow === undefined ? {} : { shadow: { region: shadow.region.name, percent: percentOf(shadow.share) } }),
    ...Object.assign({}, ...entity.plain.map((of) => of(decision))),
    path: pathWithId(primaryPattern(entity, layout) ?? "", text),
  };
};

/** The error for the first thing to load that some reading of the text needs. */
const unloadedError = (table: CompiledTable, text: string, nowMs: number, hint: LayoutHint | undefined) => {
  if (text.length > ID_LENGTH_MAX) return undefined;
  const primaryKey = readShortKey(text, 0, text.length);
  const owners = primaryKey === undefined ? [] : shortKeyOwners(table);
  const short = owners.map((owner) => shortTargetOf(table, owner, primaryKey as number));
  const targets = allOwners(table, text, nowMs, hint).map(({ id, words }) => targetOf(table, id, words));
  const target = [...targets, ...short].find(isUnloaded);
  return target?.error();
};
