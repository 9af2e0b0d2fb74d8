import { luuid, readShortKey } from "../../ids/index.ts";
import { LUUID_SHORT } from "../identity.ts";
import { groupOfId } from "../layouts/fields.ts";
import { groupBy } from "../layouts/plan.ts";
import { ALTERNATIVES_MAX, PATTERNS_MAX } from "../limits.ts";
import { areDistinct, conditionsOf } from "../lookup/choice.ts";
import { countAlternatives, GATEWAY_SEGMENTS, patternsOf, segmentsOf } from "../lookup/paths.ts";
import type { Draft } from "../schema/draft.ts";
import { listNames, type Place, type Report } from "../schema/faults.ts";
import { hasMember } from "../schema/member.ts";
import { listOf } from "../schema/records.ts";
import type { DeclaredEntity } from "../schema/table.ts";
import type { PathConditions } from "../table.ts";

/** A pattern may name layouts of its entity only, and each layout needs a pattern for `/any/:id`. */
export const checkPathLayouts = (draft: Draft, report: Report): void => {
  for (const [name, entity] of draft.entities) {
    const patterns = patternsOf(entity.path);
    const readable = readableIn(entity);
    let isSound = true;
    for (const { layout, index } of patterns) {
      if (layout === undefined || readable.has(layout)) continue;
      isSound = false;
      const place = index === undefined ? ["path", "layout"] : ["path", index, "layout"];
      const message = `${JSON.stringify(name)} has no IDs that are read as ${JSON.stringify(layout)}; name one of ${listNames(readable)}.`;
      report("path-layout", ["entities", name, ...place], message);
    }
    if (!isSound) continue;
    const leading = patterns.filter(({ pattern }) => !pattern.includes("*"));
    const lost = entity.ids.find(({ layout: own }) =>
      leading.every(({ layout }) => layout !== undefined && layout !== own),
    );
    // Where there is no such pattern at all, the first pattern is already reported.
    if (lost === undefined || leading.length === 0) continue;
    const message = `No pattern without \`*\` is for IDs of ${lost.layout}, so /any/:id could not lead to them; add one, or name no layout in one.`;
    report("path-layout", ["entities", name, "path"], message);
  }
};

/** The layouts that a pattern may name. A public ID is never a short key. */
const readableIn = (entity: DeclaredEntity): ReadonlySet<string> => {
  const names = new Set(entity.ids.map(({ layout }) => layout));
  return hasShortKeys(entity) && !hasMember(entity, "public") ? names.add(LUUID_SHORT) : names;
};

export const hasShortKeys = ({ ids }: DeclaredEntity): boolean =>
  ids.some((id) => id.layout === luuid.name && groupOfId(id) !== undefined);

interface Pattern {
  readonly text: string;
  readonly segments: readonly string[];
  readonly entity: string;
  /** The one layout that IDs on it are read as, where it names one. */
  readonly layout: string | undefined;
  /** Whether it takes paths below; `undefined`: it does, and the table does not say so. */
  readonly below: boolean | undefined;
  readonly conditions: PathConditions | undefined;
  readonly place: Place;
}

/** Every path must be of one entity, and none of the gateway's own. */
export const checkPaths = (draft: Draft, report: Report): void => {
  const patterns = [...draft.entities].flatMap(([name, entity]) => placedPatterns(name, entity));
  if (patterns.length > PATTERNS_MAX) {
    report("size", ["entities"], `A table has at most ${PATTERNS_MAX} path patterns; this one has ${patterns.length}.`);
    return;
  }
  for (const pattern of patterns) checkPattern(draft, pattern, report);
  for (const [name, entity] of draft.entities) {
    checkWritten(entity.path, ["entities", name], report);
    checkPrefix(entity, patternsOf(entity.path), ["entities", name], report);
    checkOtherMethods(entity, ["entities", name], report);
    checkCollections(entity, ["entities", name], report);
  }
  // Two patterns meet only if they have the same literals before their first other segment.
  const alike = new Map<string, Pattern[]>();
  for (const pattern of patterns) {
    const key = pattern.segments.slice(0, pattern.segments.findIndex(isOpen)).join("/");
    const rivals = alike.get(key) ?? [];
    alike.set(key, rivals);
    for (const rival of rivals) {
      if (meet(rival, pattern)) report("path-collision", pattern.place, collision(pattern, rival));
    }
    rivals.push(pattern);
  }
  const shortKeyed = byPlaceOfShortKey(draft, patterns);
  for (const pattern of patterns) checkHiddenKeys(pattern, shortKeyed, report);
};

const collision = ({ text, conditions, entity }: Pattern, rival: Pattern): string => {
  const both = `${text} and ${rival.text} of ${JSON.stringify(rival.entity)} match the same paths`;
  return entity !== rival.entity && text === rival.text && (conditions ?? rival.conditions) !== undefined
    ? `${both} on a common host for a common method; change one of them.`
    : `${both}; change one of them.`;
};

const placedPatterns = (name: string, entity: DeclaredEntity): readonly Pattern[] => {
  const conditions = conditionsOf(entity);
  return patternsOf(entity.path).map(({ pattern, layout, below, index }) => ({
    text: pattern,
    segments: segmentsOf(pattern),
    entity: name,
    layout,
    below,
    conditions,
    place: ["entities", name, "path", ...(index === undefined ? [] : [index])],
  }));
};

const isOpen = (segment: string): boolean => segment === "*" || segment === ":id";

/** Rules for paths with and without an ID. */
export const checkSegments = ({ reserved }: Draft, text: string, place: Place, report: Report): void => {
  const segments = segmentsOf(text);
  const [first = ""] = segments;
  const feature = reserved.get(first);
  if (GATEWAY_SEGMENTS.has(first)) {
    report("reserved-path", place, `/${first} is the gateway's own; begin ${text} with another segment.`);
  } else if (feature !== undefined) {
    const message = `/${first} is the gateway's own while the table uses ${feature}; begin ${text} with another segment, or remove ${feature}.`;
    report("reserved-path", place, message);
  }
  if (segments.some((segment) => segment === "." || segment === "..")) {
    report("schema", place, `Dot segments never arrive in a request; remove them from ${text}.`);
  }
};

/** Alternatives must be few, and an object say something. */
export const checkWritten = (path: DeclaredEntity["path"], place: Place, report: Report): void => {
  for (const [index, one] of listOf<PathAsWritten>(path).entries()) {
    const at = [...place, "path", ...(Array.isArray(path) ? [index] : [])];
    const count = countAlternatives(typeof one === "string" ? one : one.path);
    const message = `Its alternatives make ${count} paths; a pattern makes at most ${ALTERNATIVES_MAX}.`;
    if (count > ALTERNATIVES_MAX) report("size", at, message);
    if (typeof one === "string") continue;
    if ((one.layout ?? one.below) === undefined) {
      report(
        "schema",
        [...at, "layout"],
        "Name a layout, or say whether `below` is included; else write the path alone.",
      );
    }
    if (one.below === false && one.path.endsWith("/**")) {
      report("schema", [...at, "below"], "The path ends with `**`, which is all below; remove one of them.");
    }
  }
};

type PathAsWritten = Extract<DeclaredEntity["path"], readonly unknown[]>[number];

/** The removed prefix must begin every path. */
export const checkPrefix = (
  { removePrefix }: Pick<DeclaredEntity, "removePrefix">,
  patterns: readonly { readonly pattern: string }[],
  place: Place,
  report: Report,
): void => {
  const without = patterns.find(({ pattern }) => !`${pattern}/`.startsWith(`${removePrefix}/`));
  if (removePrefix === undefined || without === undefined) return;
  const message = `${without.pattern} does not begin with ${removePrefix}; give it an entry of its own, or shorten the prefix.`;
  report("schema", [...place, "removePrefix"], message);
};

/** Collections have neither hosts nor prefixes. */
const checkCollections = (entity: DeclaredEntity, place: Place, report: Report) => {
  const { hosts, removePrefix } = entity;
  const isListed = hasMember(entity, "list");
  if (hosts !== undefined && (isListed || hasMember(entity, "create"))) {
    report("schema", [...place, "hosts"], "Collections are on all hosts; remove this, or `create` and `list`.");
  }
  if (isListed && removePrefix !== undefined) {
    report(
      "schema",
      [...place, "removePrefix"],
      "Pages of a list are read by the path of clients; remove this, or `list`.",
    );
  }
};

export const checkOtherMethods = (
  { methods, otherMethods }: Pick<DeclaredEntity, "methods" | "otherMethods">,
  place: Place,
  report: Report,
): void => {
  if (otherMethods === undefined || methods !== undefined) return;
  report("schema", [...place, "otherMethods"], "All methods match here; name some in `methods`, or remove this.");
};

const checkPattern = (draft: Draft, { text, segments, below, place }: Pattern, report: Report): void => {
  checkSegments(draft, text, place, report);
  if (isOpen(segments[0] ?? "") && below === undefined) {
    const message = `${text} takes every path of the host but the gateway's own /any, /mint and /-; begin it with literal text, or say how far it goes: { "path": ${JSON.stringify(text)}, "below": false } for such paths alone, or ${JSON.stringify(`${text}/**`)} with all below.`;
    report("reserved-path", place, message);
  }
  const isFirstPath = typeof place.at(-1) !== "number" || place.at(-1) === 0;
  const message = `/any/:id leads to the first pattern of an entity, so it has no \`*\`; put another one before ${text}.`;
  if (isFirstPath && segments.includes("*")) report("schema", place, message);
};

/** Whether some request is for both with equal precedence: a literal segment precedes an open one. */
const meet = (one: Pattern, other: Pattern): boolean => {
  const a = one.segments;
  const b = other.segments;
  const shorter = a.length < b.length ? one : other;
  if (a.length !== b.length && shorter.below === false) return false;
  const isShared = one.entity !== other.entity && one.text === other.text && isWhole(one) === isWhole(other);
  if (isShared && areDistinct(one.conditions, other.conditions)) return false;
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const left = a[at] as string;
    const right = b[at] as string;
    if (isOpen(left) !== isOpen(right) || (!isOpen(left) && left !== right)) return false;
  }
  return true;
};

const isWhole = ({ below }: Pattern): boolean => below !== false;

/** A literal segment that is also a short key would hide that key on a pattern of lower precedence. */
const checkHiddenKeys = (pattern: Pattern, shortKeyed: ReadonlyMap<number, readonly Pattern[]>, report: Report) => {
  for (const [at, literal] of pattern.segments.entries()) {
    if (isOpen(literal) || readShortKey(literal, 0, literal.length) === undefined) continue;
    const hidden = shortKeyed.get(at)?.find((rival) => goesFirst(pattern.segments, rival.segments, at));
    if (hidden === undefined) continue;
    const message = `${JSON.stringify(literal)} in ${pattern.text} is also a short key in ${hidden.text} of ${JSON.stringify(hidden.entity)}; rename the segment.`;
    report("path-collision", pattern.place, message);
  }
};

/** The patterns of entities that have short keys, by the place of the ID among the segments. */
const byPlaceOfShortKey = (draft: Draft, patterns: readonly Pattern[]): ReadonlyMap<number, readonly Pattern[]> => {
  const shortKeyed = patterns.filter(({ entity: name, layout = LUUID_SHORT }) => {
    const entity = draft.entities.get(name);
    return layout === LUUID_SHORT && entity !== undefined && hasShortKeys(entity);
  });
  return groupBy(shortKeyed, ({ segments }) => segments.indexOf(":id"));
};

/** Whether some path fits both up to `end`. The one with literal text there is tried before the rival with its ID there. */
const goesFirst = (segments: readonly string[], rival: readonly string[], end: number): boolean => {
  let first: number | undefined;
  for (let at = 0; at < end; at++) {
    const own = segments[at] as string;
    const other = rival[at] as string;
    if (own === other) continue;
    if (!isOpen(own) && !isOpen(other)) return false;
    first ??= precedenceOf(own) - precedenceOf(other);
  }
  return first === undefined || first < 0;
};

const precedenceOf = (segment: string): number => (segment === "*" ? 2 : segment === ":id" ? 1 : 0);
