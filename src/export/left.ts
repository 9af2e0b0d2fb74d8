import { luuid } from "../ids/index.ts";
import type { Draft } from "../routing/schema/draft.ts";
import type { CompiledTable, Entity, Region } from "../routing/table.ts";

/** Parts of a table that no engine decides, and why. */

/** A part of the table whose requests go to Waybill. */
export interface Forwarded {
  readonly what: string;
  readonly why: string;
}

export const unreachableWhy = ({ origins }: Region): string | undefined =>
  origins.some(({ binding, weight }) => binding !== undefined && weight > 0) ? "an origin behind a binding" : undefined;

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

/** `conditional`: patterns of which some owner takes only some requests. */
export const patternWhy = ({ closedPaths }: Entity, pattern: string, conditional: ReadonlySet<string>) => {
  if (conditional.has(pattern)) return "a choice by method or host";
  if (closedPaths?.has(pattern)) return "a pattern without the paths below";
  return /^\/[:*]/.test(pattern) ? "a pattern at the root" : undefined;
};

/** Parts of a table, other than whole patterns, that Waybill decides. */
export const featuresOf = (
  { withoutId, moved, graphql, lists }: CompiledTable,
  { entities }: Draft,
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
    ...(graphql === undefined ? [] : [{ what: `GraphQL at ${graphql.path}`, why: "IDs in documents" }]),
    ...[...(lists?.keys() ?? [])].map((path) => ({ what: `GET ${path}`, why: "lists over all regions" })),
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
