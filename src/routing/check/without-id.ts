import { readShortKey } from "../../ids/index.ts";
import { LUUID_SHORT } from "../identity.ts";
import { PATTERNS_MAX } from "../limits.ts";
import { areDistinct, conditionsOf, leavesTo } from "../lookup/choice.ts";
import { pathsOf, patternsOf } from "../lookup/paths.ts";
import { coveringOf, indexPatterns, rankOf } from "../lookup/rank.ts";
import type { Draft } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";
import { hasMember } from "../schema/member.ts";
import type { DeclaredEntity } from "../schema/table.ts";
import type { PathConditions } from "../table.ts";
import { checkOtherMethods, checkPrefix, checkSegments, checkWritten, hasShortKeys } from "./paths.ts";
import { checkSources, checkSticky } from "./sources.ts";

/** Every path without an ID must be reachable and of one entry, and every entry needs sources that can decide. */
export const checkWithoutId = (draft: Draft, isEmpty: boolean, report: Report): void => {
  if (isEmpty) {
    const message = "This table routes nothing; add `entities`, or `withoutId` for requests without an ID.";
    report("schema", ["entities"], message);
  }
  if (draft.sources !== undefined) checkSources(draft, draft.sources, ["sources"], report);
  for (const [name, entry] of draft.withoutId) {
    const place: Place = ["withoutId", name];
    if (draft.names.entities.has(name)) {
      const message = `${JSON.stringify(name)} is the name of an entity too, so logs and metrics could not distinguish them; rename one of them.`;
      report("name-clash", place, message);
    }
    const readsIds = hasMember(entry, "idIn");
    if (entry.sources !== undefined) checkSources(draft, entry.sources, [...place, "sources"], report);
    if (entry.sources?.length === 0 && !readsIds) {
      report("schema", [...place, "sources"], "A list of sources has at least one, unless there is `idIn`.");
    }
    if (entry.sources === undefined && draft.sources === undefined && !readsIds) {
      const message =
        "These requests have no source of a region; add `sources` here, or at the top level for all entries.";
      report("schema", [...place, "sources"], message);
    }
    checkWritten(entry.path, place, report);
    checkPrefix(entry, pathsOf(entry.path), place, report);
    checkOtherMethods(entry, place, report);
    checkSticky(entry.sources ?? draft.sources ?? [], entry, place, report);
  }
  checkPaths(draft, report);
};

const checkPaths = (draft: Draft, report: Report): void => {
  const paths = [...draft.withoutId].flatMap(([name, declared]) =>
    pathsOf(declared.path).map(({ pattern, index }) => ({
      pattern,
      name,
      conditions: conditionsOf(declared),
      place: ["withoutId", name, "path", ...(index === undefined ? [] : [index])],
    })),
  );
  if (paths.length > PATTERNS_MAX) {
    const message = `A table has at most ${PATTERNS_MAX} paths without an ID; there are ${paths.length}.`;
    report("size", ["withoutId"], message);
    return;
  }
  const owners = new Map<string, PathWithoutId[]>();
  const patterns = entityPatterns(draft);
  for (const path of paths) {
    const { pattern, place } = path;
    checkSegments(draft, pattern, place, report);
    const rivals = owners.get(pattern) ?? [];
    const owner = rivals.find(
      ({ name, conditions }) => name === path.name || !areDistinct(conditions, path.conditions),
    );
    if (owner !== undefined) report("path-collision", place, taken(path, owner));
    owners.set(pattern, [...rivals, path]);
    checkCovered(draft, path, patterns, report);
  }
};

type PathWithoutId = Readonly<{
  pattern: string;
  name: string;
  conditions: PathConditions | undefined;
  place: Place;
}>;

const taken = ({ pattern, conditions, name }: PathWithoutId, owner: PathWithoutId): string => {
  const already = `${pattern} is already a path of ${JSON.stringify(owner.name)}`;
  return name !== owner.name && (conditions ?? owner.conditions) !== undefined
    ? `${already} on a common host for a common method; change one of them.`
    : `${already}; remove one of them, or give both of them other \`methods\` or \`hosts\`.`;
};

const entityPatterns = ({ entities }: Draft) =>
  indexPatterns(
    [...entities].map(([name, declared]) => {
      const patterns = patternsOf(declared.path);
      const closed = patterns.flatMap(({ pattern, below }) => (below === false ? [pattern] : []));
      return { name, declared, paths: patterns.map(({ pattern }) => pattern), closedPaths: new Set(closed) };
    }),
  );

/** An entity that takes all of its paths leaves it other requests; one at the root, literal text. */
const checkCovered = (
  draft: Draft,
  { pattern, conditions, place }: PathWithoutId,
  patterns: ReturnType<typeof entityPatterns>,
  report: Report,
): void => {
  const found = coveringOf(pattern, patterns);
  if (found === undefined) return;
  const { name, declared } = found.entity.owner;
  const literal = found.path.slice(found.idStart, found.idEnd);
  if (rankOf(pattern, patterns) === "literal") {
    const layout = readerOf(draft, declared, literal);
    if (layout === undefined) return;
    const message = `${JSON.stringify(literal)} in ${pattern} is also an ID of ${JSON.stringify(name)}, a ${layout}; rename the segment.`;
    report("path-collision", place, message);
    return;
  }
  const sharers = [...draft.entities].filter(([, each]) => leavesTo(conditionsOf(each), conditions));
  const rivals = entityPatterns({ ...draft, entities: subtract(draft.entities, sharers) });
  const rival = coveringOf(pattern, rivals)?.entity.owner.name;
  if (rival === undefined) return;
  const message = `A path of the entity ${JSON.stringify(rival)} matches everything that ${pattern} could match; change one of them, or give both of them other \`methods\` or \`hosts\`.`;
  report("path-collision", place, message);
};

const subtract = (entities: Draft["entities"], those: readonly (readonly [string, unknown])[]): Draft["entities"] => {
  const names = new Set(those.map(([name]) => name));
  return new Map([...entities].filter(([name]) => !names.has(name)));
};

/** The layout of an entity in which a text is an ID. */
const readerOf = (draft: Draft, entity: DeclaredEntity, text: string): string | undefined => {
  if (hasShortKeys(entity) && readShortKey(text, 0, text.length) !== undefined) return LUUID_SHORT;
  return entity.ids.map(({ layout }) => layout).find((layout) => draft.known.get(layout)?.parseText(text).ok === true);
};
