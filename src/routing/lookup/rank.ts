import { hasMember } from "../schema/member.ts";
import type { DeclaredEntity } from "../schema/table.ts";
import type { PathIndex } from "../table.ts";
import { areDistinct, conditionsOf } from "./choice.ts";
import { indexPaths, type PathOwner } from "./path-index.ts";
import { BELOW, patternsOf } from "./paths.ts";

/** The patterns of entities, whatever requests on them are theirs. */
export const indexPatterns = <Owner extends PathOwner>(owners: readonly Owner[]) =>
  indexPaths(owners.map((owner) => ({ owner, paths: owner.paths, closedPaths: owner.closedPaths })));

type Patterns<Owner> = Pick<PathIndex<Owner>, "match">;

/**
 * How a path without an ID lies to the patterns of entities. `own`: none takes all that it takes. `literal`: one at the root
 * does, and the path begins with literal text. `shared`: it takes other requests than the entity.
 */
export type PathRank = "own" | "literal" | "shared";

export const rankOf = (pattern: string, entities: Patterns<unknown>): PathRank => {
  const found = coveringOf(pattern, entities);
  if (found === undefined) return "own";
  const first = found.path.slice(found.idStart, found.idEnd);
  return found.idStart === 1 && first !== "*" && first !== BELOW ? "literal" : "shared";
};

/** The entity one of whose patterns takes everything that a path without an ID takes. */
export const coveringOf = <Owner>(pattern: string, { match }: Patterns<Owner>) => {
  // Matched as paths: no literal of an entity is `*`, so only an open segment takes it. A pattern that goes on below needs one that does too.
  const isOpen = pattern.endsWith(`/${BELOW}`);
  if (isOpen && match(pattern) === undefined) return undefined;
  const path = isOpen ? `${pattern}/${BELOW}` : pattern;
  const found = match(path);
  return found && { ...found, path };
};

/** Whether two entities share the path to which an ID leads, for different requests. Public IDs are of one entity. */
export const areTwins = (a: DeclaredEntity, b: DeclaredEntity): boolean => {
  if (hasMember(a, "public") || hasMember(b, "public")) return false;
  if (!areDistinct(conditionsOf(a), conditionsOf(b))) return false;
  const leading = patternsOf(a.path).flatMap(({ pattern }) => (pattern.includes("*") ? [] : [pattern]));
  return patternsOf(b.path).some(({ pattern }) => leading.includes(pattern));
};
