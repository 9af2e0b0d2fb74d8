import { luuid } from "../ids/index.ts";
import { segmentsOf } from "../routing/lookup/paths.ts";
import type { Draft } from "../routing/schema/draft.ts";
import type { CompiledTable, Entity, LeftPath, Region } from "../routing/table.ts";

/** Parts of a table that no engine decides, and why. */

/** A part of the table whose requests go to Waybill. */
export interface Forwarded {
  readonly what: string;
  readonly why: string;
}

export const unreachableWhy = (
  { name, origins, gateway }: Region,
  selfRegions: readonly string[] | undefined,
): string | undefined => {
  // An engine cannot sign what a gateway believes.
  if (gateway !== undefined && selfRegions?.includes(name) === false) return "a gateway of the mesh";
  return origins.some(({ binding, weight }) => binding !== undefined && weight > 0)
    ? "an origin behind a binding"
    : undefined;
};

export const entityWhy = ({
  public: kind,
  publicFields,
  copies,
  idIn,
  directory,
  removePrefix,
}: Entity): string | undefined => {
  if (copies !== undefined) return "read copies";
  if (removePrefix !== undefined) return "a prefix that origins do not get";
  if (directory !== undefined) return "keys of a directory";
  if (kind !== undefined) return "public IDs";
  if (idIn !== undefined) return "IDs beside the path";
  return publicFields === undefined ? undefined : "public IDs in responses";
};

/** Paths that features answer. `posted`: engines leave only POST there, so that they decide the rest. */
export type OwnPatterns = Readonly<Record<"whole" | "posted", readonly LeftPath[]>>;

export const ownPatternsOf = ({ ownPaths }: CompiledTable): OwnPatterns => {
  // Those of all methods first.
  const sorted = ownPaths.toSorted((a, b) => Number(a.methods !== undefined) - Number(b.methods !== undefined));
  const own = sorted.flatMap(({ methods, left }) =>
    left().map((path) => ({ ...path, isPosted: takesPostAlone(methods, path) })),
  );
  return { whole: own.filter(({ isPosted }) => !isPosted), posted: own.filter(({ isPosted }) => isPosted) };
};

/** Engines look for literal paths, and for those with one ID before literal text. */
const takesPostAlone = (methods: readonly string[] | undefined, { pattern }: LeftPath): boolean => {
  const segments = segmentsOf(pattern);
  const open = segments.filter(isOpen);
  return methods?.join() === "POST" && open.length <= 1 && open[0] !== "*" && segments.at(-1) !== ":id";
};

export const forwardedOf = ({ what, why }: LeftPath): Forwarded => ({ what, why });

/** `conditional`: patterns of which some owner takes only some requests. */
export const patternWhy = (
  { closedPaths }: Entity,
  pattern: string,
  conditional: ReadonlySet<string>,
  { whole }: OwnPatterns,
) => {
  if (conditional.has(pattern)) return "a choice by method or host";
  if (closedPaths?.has(pattern)) return "a pattern without the paths below";
  if (/^\/[:*]/.test(pattern)) return "a pattern at the root";
  const own = whole.find((path) => isAtOrBelow(path.pattern, pattern));
  return own && `${own.why} at ${own.pattern}`;
};

/** Whether some path of one pattern is also one of the other, or below. */
const isAtOrBelow = (own: string, pattern: string): boolean => {
  const segments = segmentsOf(own);
  return segmentsOf(pattern).every((other, at) => {
    const segment = segments[at];
    return segment !== undefined && (segment === other || isOpen(segment) || isOpen(other));
  });
};

const isOpen = (segment: string): boolean => segment === ":id" || segment === "*";

/** Parts of a table, other than whole patterns, that Waybill decides. */
export const partsLeft = (
  { withoutId, moved }: CompiledTable,
  { entities }: Draft,
  own: OwnPatterns,
): readonly Forwarded[] => {
  const count = moved.targets.length;
  const short = [...entities].filter(([, { ids }]) =>
    ids.some(({ layout, group, class: name }) => layout === luuid.name && (group ?? name) !== undefined),
  );
  return [
    ...withoutId.entries.map(({ entity }) => ({
      what: `${entity.name} at ${shownPaths(entity.paths)}`,
      why: "requests without an ID",
    })),
    ...own.whole.map(forwardedOf),
    ...(count === 0 ? [] : [{ what: `${count} IDs of moved, moves and gone`, why: "overrides of single IDs" }]),
    ...short.map(([name]) => ({ what: `short keys of ${name}`, why: "short keys" })),
  ];
};

/** Alternatives make many paths of one pattern. */
const PATHS_SHOWN = 4;

const shownPaths = (paths: readonly string[]): string => {
  const more = paths.length - PATHS_SHOWN;
  return `${paths.slice(0, PATHS_SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
};
