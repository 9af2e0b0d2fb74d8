import { luuid, readShortKey } from "../../ids/index.ts";
import { LUUID_SHORT } from "../identity.ts";
import { groupOfId } from "../layouts/fields.ts";
import { groupBy } from "../layouts/plan.ts";
import { PATTERNS_MAX } from "../limits.ts";
import { GATEWAY_SEGMENTS, patternsOf, segmentsOf } from "../lookup/paths.ts";
import type { Draft } from "../schema/draft.ts";
import { listNames, type Place, type Report } from "../schema/faults.ts";
import type { DeclaredEntity } from "../schema/table.ts";

/** A pattern may name layouts of its entity only, and each layout needs a pattern for `/any/:id`. */
export const checkPathLayouts = (draft: Draft, report: Report): void => {
  for (const [name, entity] of draft.entities) {
    const patterns = patternsOf(entity.path);
    const readable = readableIn(entity);
    let isSound = true;
    for (const [index, { layout }] of patterns.entries()) {
      if (layout === undefined || readable.has(layout)) continue;
      isSound = false;
      const place = Array.isArray(entity.path) ? ["path", index, "layout"] : ["path", "layout"];
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
  return hasShortKeys(entity) && entity.public === undefined ? names.add(LUUID_SHORT) : names;
};

const hasShortKeys = ({ ids }: DeclaredEntity): boolean =>
  ids.some((id) => id.layout === luuid.name && groupOfId(id) !== undefined);

interface Pattern {
  readonly text: string;
  readonly segments: readonly string[];
  readonly entity: string;
  /** The one layout that IDs on it are read as, where it names one. */
  readonly layout: string | undefined;
  readonly place: Place;
}

/** Every path must be of one entity, and none of the gateway's own. */
export const checkPaths = (draft: Draft, report: Report): void => {
  const patterns = [...draft.entities].flatMap(([name, entity]) => placedPatterns(name, entity));
  if (patterns.length > PATTERNS_MAX) {
    report("size", ["entities"], `A table has at most ${PATTERNS_MAX} path patterns; this one has ${patterns.length}.`);
    return;
  }
  for (const pattern of patterns) checkPattern(pattern, report);
  // Two patterns meet only if they have the same literals before their first other segment.
  const alike = new Map<string, Pattern[]>();
  for (const pattern of patterns) {
    const key = pattern.segments.slice(0, pattern.segments.findIndex(isOpen)).join("/");
    const rivals = alike.get(key) ?? [];
    alike.set(key, rivals);
    for (const rival of rivals) {
      if (!meet(rival.segments, pattern.segments)) continue;
      const message = `${pattern.text} and ${rival.text} of ${JSON.stringify(rival.entity)} match the same paths; change one of them.`;
      report("path-collision", pattern.place, message);
    }
    rivals.push(pattern);
  }
  const shortKeyed = byPlaceOfShortKey(draft, patterns);
  for (const pattern of patterns) checkHiddenKeys(pattern, shortKeyed, report);
};

const placedPatterns = (name: string, { path }: DeclaredEntity): readonly Pattern[] =>
  patternsOf(path).map(({ pattern, layout }, index) => ({
    text: pattern,
    segments: segmentsOf(pattern),
    entity: name,
    layout,
    place: Array.isArray(path) ? ["entities", name, "path", index] : ["entities", name, "path"],
  }));

const isOpen = (segment: string): boolean => segment === "*" || segment === ":id";

/** What holds for paths with and without an ID. */
export const checkSegments = (text: string, segments: readonly string[], place: Place, report: Report): void => {
  const [first = ""] = segments;
  if (GATEWAY_SEGMENTS.has(first)) {
    report("reserved-path", place, `/${first} is the gateway's own; begin ${text} with another segment.`);
  }
  if (segments.some((segment) => segment === "." || segment === "..")) {
    report("schema", place, `Dot segments never arrive in a request; remove them from ${text}.`);
  }
};

const checkPattern = ({ text, segments, place }: Pattern, report: Report): void => {
  checkSegments(text, segments, place, report);
  if (isOpen(segments[0] ?? "")) {
    const message = `${text} would match the gateway's own /any, /mint and /-; begin it with literal text.`;
    report("reserved-path", place, message);
  }
  const isFirstPath = typeof place.at(-1) !== "number" || place.at(-1) === 0;
  const message = `/any/:id leads to the first pattern of an entity, so it has no \`*\`; put another one before ${text}.`;
  if (isFirstPath && segments.includes("*")) report("schema", place, message);
};

/** Whether some path matches both with equal precedence: a literal segment precedes an open one. */
const meet = (a: readonly string[], b: readonly string[]): boolean => {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [one, other] = [a[at] as string, b[at] as string];
    if (isOpen(one) !== isOpen(other) || (!isOpen(one) && one !== other)) return false;
  }
  return true;
};

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

/** Whether some path fits both up to `end`, and the one with literal text there is tried before the rival with its ID there. */
const goesFirst = (segments: readonly string[], rival: readonly string[], end: number): boolean => {
  let first: number | undefined;
  for (let at = 0; at < end; at++) {
    const [own, other] = [segments[at] as string, rival[at] as string];
    if (own === other) continue;
    if (!isOpen(own) && !isOpen(other)) return false;
    first ??= precedenceOf(own) - precedenceOf(other);
  }
  return first === undefined || first < 0;
};

const precedenceOf = (segment: string): number => (segment === "*" ? 2 : segment === ":id" ? 1 : 0);
