import { LUUID_SHORT } from "../identity.ts";
import { ALTERNATIVES_MAX } from "../limits.ts";
import { listOf } from "../schema/records.ts";
import type { DeclaredEntity } from "../schema/table.ts";
import type { DeclaredWithoutId } from "../schema/without-id.ts";
import type { Entity, LayoutHint } from "../table.ts";
import { unescaped } from "./as-read.ts";

/** A declared pattern. `layout`: of the IDs on it, `undefined` for all of the entity; `below`: whether it takes paths below. */
export interface DeclaredPattern {
  readonly pattern: string;
  readonly layout: string | undefined;
  /** `undefined`: not said, so that it does. */
  readonly below: boolean | undefined;
  /** Where it stands in the list of paths; `undefined` for one that is no list. */
  readonly index: number | undefined;
}

type DeclaredPath = Extract<DeclaredEntity["path"], readonly unknown[]>[number];

/** Patterns of an entity, one for each alternative. */
export const patternsOf = (path: DeclaredEntity["path"]): readonly DeclaredPattern[] =>
  listOf<DeclaredPath>(path).flatMap((one, at) => {
    const { path: written, layout, below } = typeof one === "string" ? { path: one } : one;
    const isOpen = written.endsWith(BELOW_SUFFIX);
    const index = Array.isArray(path) ? at : undefined;
    return alternativesOf(isOpen ? written.slice(0, -BELOW_SUFFIX.length) : written).map((pattern) => ({
      pattern,
      layout,
      index,
      below: below ?? (isOpen || undefined),
    }));
  });

/** Last segment of a pattern that takes one segment and all below it. */
export const BELOW = "**";
const BELOW_SUFFIX = `/${BELOW}`;

/** Paths without an ID, one for each alternative. */
export const pathsOf = (path: DeclaredWithoutId["path"]) =>
  listOf<string>(path).flatMap((written, at) =>
    alternativesOf(written).map((pattern) => ({ pattern, index: Array.isArray(path) ? at : undefined })),
  );

/** A pattern for each alternative in braces, the first one first: `/{a,b/c}/x` is `/a/x` and `/b/c/x`. The first alone where they are too many. */
const alternativesOf = (
  written: string,
  isBounded = countAlternatives(written) <= ALTERNATIVES_MAX,
): readonly string[] => {
  const open = written.indexOf("{");
  if (open === -1) return [written];
  const close = written.indexOf("}", open);
  const rest = alternativesOf(written.slice(close + 1), isBounded);
  const all = written.slice(open + 1, close).split(",");
  return (isBounded ? all : all.slice(0, 1)).flatMap((one) => rest.map((tail) => written.slice(0, open) + one + tail));
};

/** How many those are: they multiply. */
export const countAlternatives = (written: string): number =>
  (written.match(/\{[^{}]*\}/g) ?? []).reduce((count, group) => count * group.split(",").length, 1);

/** The value of `id-layout` for a hint. */
export const hintName = ({ enabled }: LayoutHint): string => enabled?.layout.name ?? LUUID_SHORT;

/** The first pattern on which IDs of a layout are read; `luuid-short` for short keys. */
export const patternFor = ({ paths, pathHints }: Entity, layout: string): string | undefined =>
  paths.find((pattern) => {
    const hint = pathHints.get(pattern);
    return hint === undefined || hintName(hint) === layout;
  });

/** The one to which an ID of a layout leads: it has no open segment but the ID. Each layout of a checked entity has one. */
export function primaryPattern(entity: Entity, layout: string): string | undefined {
  for (const pattern of entity.paths) {
    const hint = pattern.includes("*") ? null : entity.pathHints.get(pattern);
    if (hint === undefined || (hint !== null && hintName(hint) === layout)) return pattern;
  }
  return undefined;
}

export const pathWithId = (pattern: string, id: string): string => pattern.replace(":id", () => id);

/** Whether every pattern of the entity names a layout, so that no two layouts meet on one. */
export const isReadByPattern = ({ paths, pathHints }: Entity): boolean => paths.length === pathHints.size;

/** The paths that are the gateway's own, whatever a table says. */

/** First segments that no table can give away: `/any/:id`, `/mint` and everything under `/-/`. */
export const GATEWAY_SEGMENTS: ReadonlySet<string> = new Set(["any", "mint", "-"]);

/** The prefix of paths that lead to an origin by the ID alone. */
export const ANY_PREFIX = "/any/";

/** Raw paths that the gateway answers itself, and no origin is asked. */
export const GATEWAY_PATH = /^\/(?:(?:any|mint)$|-(?:\/|$))/;

/** Whether a reader who decodes escapes or merges slashes would take the path for the gateway's own. No origin gets it. */
export const isEncodedGatewayPath = (path: string): boolean => {
  const [first = ""] = unescaped(path)
    .replace(/^[/\\]+/, "")
    .split(/[/\\]/, 1);
  return GATEWAY_SEGMENTS.has(first);
};

/** A backslash, or a segment `.` or `..`, plain or encoded (WHATWG URL): the runtime would resolve them after the decision. */
export const NOT_NORMALIZED = /\\|\/(?:\.|%2e){1,2}(?=\/|$)/i;

/** The segments of a pattern, without the empty one before its first slash. */
export const segmentsOf = (pattern: string): readonly string[] => pattern.split("/").slice(1);
