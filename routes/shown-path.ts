import { type CompiledTable, hasPublic } from "../src/routing/index.ts";

/** Stands for all that is not shown behind it. */
const REST = "/*";

const ANY = "/any/";

/** The gateway's own pages, as far as no ID can be in them: the shortest public ID has 22 characters. */
const GATEWAY_PAGE =
  /^(?:\/mint|\/-\/(?:(?:table\/)?[a-z.]{1,16}|table\/revisions\/[0-9]{1,15}|problems\/[a-z-]{1,40}))$/;

/** Who decides about a request, and what they found out. */
export interface Redaction {
  /** The table that decided, or is in force; `undefined` while there is none. */
  readonly table: CompiledTable | undefined;
  /** The canary beside it. */
  readonly canary: CompiledTable | undefined;
  /** Whether the text in the ID's place was read as an ID of an entity that is not public. */
  readonly isPlainId: boolean;
}

/**
 * What logs may show of a path. Everything, where no entity has public IDs. Else only what is known to hold none of them: the pattern up
 * to the ID, an ID that was found to be of an entity that is not public, the gateway's own pages. A text that was refused before
 * anybody read it, or that nobody could read, may be a public ID wherever it stands; so may whatever stands below an ID.
 */
export function redactPath(path: string, { table, canary, isPlainId }: Redaction): string {
  if (GATEWAY_PAGE.test(path)) return path;
  if (table === undefined) return REST;
  if (!hasPublic(table) && (canary === undefined || !hasPublic(canary))) return path;
  if (path.startsWith(ANY)) {
    const end = endOfSegment(path, ANY.length);
    return isPlainId ? upTo(path, end) : masked(path, ANY.length, end);
  }
  const match = table.paths.match(path);
  if (match !== undefined) {
    const { entity, idStart, idEnd } = match;
    return isPlainId && entity.public === undefined ? upTo(path, idEnd) : masked(path, idStart, idEnd);
  }
  return table.withoutId.match(path)?.entity.paths.includes(path) === true ? path : REST;
}

function masked(path: string, start: number, end: number): string {
  return `${path.slice(0, start)}:id${end < path.length ? REST : ""}`;
}

function upTo(path: string, end: number): string {
  return end < path.length ? path.slice(0, end) + REST : path;
}

function endOfSegment(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash === -1 ? path.length : slash;
}
