import { err, ok, type Result } from "../../ids/result.ts";
import type { RoutingError } from "../errors.ts";
import { hostRankOf, PLAIN_READ } from "../lookup/choice.ts";
import type { Asked, CompiledTable, Entity, PathMatch, WithoutId } from "../table.ts";

/** Whose a path is: an entity's, or an entry's without an ID. Literal text precedes an entity at the root. */

type OwnerError =
  | Extract<RoutingError, { reason: "unrouted-path" }>
  | { readonly reason: "method-not-allowed"; readonly method: string; readonly allow: readonly string[] };

/** The entity at a path; `undefined` also where a path without an ID comes first. */
export const entityAt = (table: CompiledTable, path: string, asked: Asked | undefined): PathMatch | undefined =>
  table.withoutId.literal?.match(path, asked) === undefined ? table.paths.match(path, asked) : undefined;

/** The entry at a path that is no entity's, or that is one's for other methods. `refused`: by which entity. */
export function withoutEntity(
  table: CompiledTable,
  path: string,
  refused: PathMatch | undefined,
  asked: Asked = PLAIN_READ,
): Result<WithoutId, OwnerError> {
  const { literal, shared, match } = table.withoutId;
  const first = literal?.match(path, asked);
  const beside = first ?? shared?.(path, besideOf(refused, asked));
  const found = beside ?? (refused === undefined ? match(path, asked) : undefined);
  const { method } = asked;
  const allow = [...new Set([...(refused?.allow ?? []), ...(found?.allow ?? [])])];
  if (found === undefined || found.allow !== undefined) {
    if (allow.length > 0) return err({ reason: "method-not-allowed", method, allow });
    const untaken = table.hasConditions ? untakenAt(table, path, asked) : undefined;
    if (untaken === undefined) return err({ reason: "unrouted-path", path });
    return "allow" in untaken
      ? err({ reason: "method-not-allowed", method, allow: untaken.allow })
      : err({ reason: "unrouted-path", path, isOtherHost: true });
  }
  const entry = found.entity;
  // No source may decide about a path in which the origin would read an entity's ID, or which it would read as another
  // entry's. Literal paths win.
  const isMeant = entry.entity.paths.includes(path) || isReadSo(table, entry, path, asked, first !== undefined);
  return isMeant ? ok(entry) : err({ reason: "unrouted-path", path, isRespelled: true });
}

/** An entry for all other hosts, or for a pattern of hosts, excludes those that the entity names, whatever their methods. */
function besideOf(refused: PathMatch | undefined, asked: Asked): Asked {
  if (refused === undefined) return asked;
  const { method, preflightFor, servedHost } = asked;
  return { method, preflightFor, servedHost, hostRankMin: hostRankOf(refused.entity.conditions, asked) };
}

/** Whether servers that are less exact read the path as the entry's own too. */
function isReadSo(table: CompiledTable, entry: WithoutId, path: string, asked: Asked, isLiteral: boolean): boolean {
  const { literal, isElsewhere } = table.withoutId;
  const first = literal?.matchRead(path, asked)?.entity;
  if (isLiteral || first !== undefined) return first === entry;
  const read = table.paths.matchRead(path, asked);
  return (read === undefined || read.allow !== undefined) && !isElsewhere(path, entry, asked);
}

/** Where an entity has the first segment: whether servers may read the path as another's. */
export function isRespelled(table: CompiledTable, entity: Entity, path: string, asked: Asked | undefined): boolean {
  if (table.withoutId.literal?.matchRead(path, asked) !== undefined) return true;
  const read = table.paths.matchRead(path, asked);
  return read !== undefined && read.entity !== entity;
}

function untakenAt({ paths, withoutId }: CompiledTable, path: string, asked: Asked) {
  const entity = paths.untaken(path, asked);
  const entry = withoutId.untaken(path, asked);
  const allow = [entity, entry].flatMap((one) => (one !== undefined && "allow" in one ? one.allow : []));
  return allow.length > 0 ? { allow: [...new Set(allow)] } : (entity ?? entry);
}

/** Why an entity does not take a request for one of its IDs by `/any`: on its own path it would not either. */
export function refusalOfAny(
  { paths }: CompiledTable,
  entity: Entity,
  path: string,
  asked: Asked = PLAIN_READ,
): OwnerError | undefined {
  const own = paths.match(path, asked);
  const { method } = asked;
  if (own?.allow !== undefined) return { reason: "method-not-allowed", method, allow: own.allow };
  if (own?.entity === entity) return undefined;
  const untaken = own === undefined ? paths.untaken(path, asked) : { isOtherHost: true as const };
  if (untaken === undefined) return { reason: "unrouted-path", path };
  return "allow" in untaken
    ? { reason: "method-not-allowed", method, allow: untaken.allow }
    : { reason: "unrouted-path", path, isOtherHost: true };
}

/** A host for each that the table names, with some label in the place of `*`. */
export const hostsOf = ({ hasConditions, entities, withoutId }: CompiledTable): readonly string[] => {
  if (!hasConditions) return [];
  const owners = [...entities.values(), ...withoutId.entries.map(({ entity }) => entity)];
  return [...new Set(owners.flatMap(({ conditions }) => conditions?.hosts ?? []))].map((host) =>
    host.replace("*", "any"),
  );
};
