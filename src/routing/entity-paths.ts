import { LUUID_SHORT } from "./identity.ts";
import type { DeclaredEntity } from "./schema.ts";
import { listOf } from "./scopes.ts";
import type { Entity, LayoutHint } from "./table.ts";

/** A path pattern as the table declares it. */
export interface DeclaredPattern {
  readonly pattern: string;
  /** The one layout of IDs on it; `undefined` for all that the entity has. */
  readonly layout: string | undefined;
}

export const patternsOf = (path: DeclaredEntity["path"]): readonly DeclaredPattern[] =>
  listOf<Extract<DeclaredEntity["path"], readonly unknown[]>[number]>(path).map((one) =>
    typeof one === "string" ? { pattern: one, layout: undefined } : { pattern: one.path, layout: one.layout },
  );

/** What a request would write in `id-layout` for a hint. */
export const hintName = ({ enabled }: LayoutHint): string => enabled?.layout.name ?? LUUID_SHORT;

/** Whether the pattern is one on which IDs of a layout are read; `luuid-short` for short keys. */
const takes = ({ pathHints }: Entity, pattern: string, layout: string): boolean => {
  const hint = pathHints.get(pattern);
  return hint === undefined || hintName(hint) === layout;
};

/** The first pattern on which IDs of a layout are read. */
export const patternFor = (entity: Entity, layout: string): string | undefined =>
  entity.paths.find((pattern) => takes(entity, pattern, layout));

/** The one to which an ID of a layout leads: it has no open segment but the ID. Each layout of a checked entity has one. */
export const primaryPattern = (entity: Entity, layout: string): string | undefined =>
  entity.paths.find((pattern) => !pattern.includes("*") && takes(entity, pattern, layout));

/** A path of the pattern, with the ID in its place. */
export const pathWithId = (pattern: string, id: string): string => {
  const at = pattern.indexOf(":id");
  return pattern.slice(0, at) + id + pattern.slice(at + ":id".length);
};

/** Whether every pattern of the entity names a layout, so that no two layouts meet on one. */
export const isReadByPattern = ({ paths, pathHints }: Entity): boolean => paths.length === pathHints.size;
