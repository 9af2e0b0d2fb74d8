import type { CompiledTable, Entity } from "../src/routing/index.ts";

/** Where an ID stands in a path. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Stands for all that is not shown behind it. */
const REST = "/*";

const ANY = "/any/";

/** The gateway's own pages, as far as no ID can be in them: the shortest public ID has 22 characters. */
const OWN_PAGE = /^(?:\/mint|\/-\/(?:[a-z.]{1,16}|problems\/[a-z-]{1,40}))$/;

/**
 * What logs may show of a path. Everything, where no entity has public IDs. Else only what is known to hold none of them: the pattern up
 * to the ID, an ID of an entity that is not public, the gateway's own pages. Whatever stands below an ID may be another one.
 */
export function shownPath(path: string, table: CompiledTable | undefined, hidden: Span | undefined): string {
  if (OWN_PAGE.test(path)) return path;
  if (table === undefined) return REST;
  if (!hasPublic(table)) return path;
  if (path.startsWith(ANY))
    return hidden === undefined ? upTo(path, endOfSegment(path, ANY.length)) : masked(path, hidden);
  const match = table.paths.match(path);
  if (match !== undefined) {
    const { entity, idStart, idEnd } = match;
    return isPublic(entity) ? masked(path, { start: idStart, end: idEnd }) : upTo(path, idEnd);
  }
  return table.withoutId.match(path)?.entity.paths.includes(path) === true ? path : REST;
}

function masked(path: string, { start, end }: Span): string {
  return `${path.slice(0, start)}:id${end < path.length ? REST : ""}`;
}

function upTo(path: string, end: number): string {
  return end < path.length ? path.slice(0, end) + REST : path;
}

function endOfSegment(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash === -1 ? path.length : slash;
}

const isPublic = (entity: Entity): boolean => entity.public !== undefined;

/** A table is asked for each of its requests, and never changes. */
let lastAsked: { readonly table: CompiledTable; readonly hasPublic: boolean } | undefined;

function hasPublic(table: CompiledTable): boolean {
  if (lastAsked?.table !== table) lastAsked = { table, hasPublic: [...table.entities.values()].some(isPublic) };
  return lastAsked.hasPublic;
}
