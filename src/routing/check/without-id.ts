import { listOf } from "../compile/conditions.ts";
import { PATTERNS_MAX } from "../limits.ts";
import { indexPaths, patternsOf, segmentsOf } from "../lookup/paths.ts";
import type { Draft } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";
import { checkSegments } from "./paths.ts";
import { checkSources, checkSticky } from "./sources.ts";

/** Every path without an ID must be reachable and of one entry, and every entry needs sources that can decide. */
export const checkWithoutId = (draft: Draft, report: Report): void => {
  if (draft.sources !== undefined) checkSources(draft, draft.sources, ["sources"], report);
  for (const [name, entry] of draft.withoutId) {
    const place: Place = ["withoutId", name];
    if (draft.names.entities.has(name)) {
      const message = `${JSON.stringify(name)} is the name of an entity too, so logs and metrics could not distinguish them; rename one of them.`;
      report("name-clash", place, message);
    }
    if (entry.sources !== undefined) checkSources(draft, entry.sources, [...place, "sources"], report);
    if (entry.sources?.length === 0 && entry.idIn === undefined) {
      report("schema", [...place, "sources"], "A list of sources has at least one, unless there is `idIn`.");
    }
    if (entry.sources === undefined && draft.sources === undefined && entry.idIn === undefined) {
      const message =
        "These requests have no source of a region; add `sources` here, or at the top level for all entries.";
      report("schema", [...place, "sources"], message);
    }
    checkSticky(entry.sources ?? draft.sources ?? [], entry, place, report);
  }
  checkPaths(draft, report);
};

const checkPaths = (draft: Draft, report: Report): void => {
  const paths = [...draft.withoutId].flatMap(([name, { path }]) =>
    listOf(path).map((pattern, index) => ({
      pattern,
      name,
      place: ["withoutId", name, "path", ...(Array.isArray(path) ? [index] : [])],
    })),
  );
  if (paths.length > PATTERNS_MAX) {
    const message = `A table has at most ${PATTERNS_MAX} paths without an ID; there are ${paths.length}.`;
    report("size", ["withoutId"], message);
    return;
  }
  const owners = new Map<string, string>();
  const entityPaths = indexPaths(
    [...draft.entities].map(([name, { path }]) => ({ name, paths: patternsOf(path).map(({ pattern }) => pattern) })),
  );
  for (const { pattern, name, place } of paths) {
    checkSegments(pattern, segmentsOf(pattern), place, report);
    const owner = owners.get(pattern);
    if (owner !== undefined) {
      report("path-collision", place, `${pattern} is already a path of ${JSON.stringify(owner)}; remove one of them.`);
    }
    owners.set(pattern, name);
    // The pattern is matched as a path: no literal segment of an entity is `*`, so only an open segment matches it.
    const entity = entityPaths.match(pattern)?.entity.name;
    if (entity !== undefined) {
      const message = `A path of the entity ${JSON.stringify(entity)} matches everything that ${pattern} could match; change one of them.`;
      report("path-collision", place, message);
    }
  }
};
