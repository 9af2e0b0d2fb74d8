import { pointerTo } from "../routing/faults.ts";
import type { CompiledTable, Entity } from "../routing/index.ts";
import { branchOf, segmentsOf } from "../routing/paths.ts";
import type { Finding } from "./contract-findings.ts";
import type { ContractPath } from "./contract-paths.ts";

/** A path of the table, and what of it the document has been seen to have. */
interface Pattern {
  readonly text: string;
  readonly owner: Entity;
  /** The place in the owner's paths. */
  readonly index: number;
  /** What a path without an ID takes, `undefined` for all. */
  readonly methods: readonly string[] | undefined;
  hasPath: boolean;
  /** Whether one of the operations on it has a method that is taken. */
  hasMethod: boolean;
}

/** A place in the patterns of either kind: a path of the document goes down all branches that it may take. */
interface Node {
  readonly literals: Map<string, Node>;
  wildcard: Node | undefined;
  id: Node | undefined;
  /** An entity has its path and all below it; the others only what is as long as they are, or longer for `/**`. */
  readonly entities: Pattern[];
  readonly exact: Pattern[];
  readonly below: Pattern[];
}

const newNode = (): Node => ({
  literals: new Map(),
  wildcard: undefined,
  id: undefined,
  entities: [],
  exact: [],
  below: [],
});

/** What the table routes and no operation has. `isMeant` tells which of the table's paths the document is about. */
export const missingOperations = (
  paths: readonly ContractPath[],
  table: CompiledTable,
  isMeant: (pattern: string) => boolean,
): readonly Finding[] => {
  const root = newNode();
  const owners = [...table.entities.values()];
  const entities = owners.flatMap((owner) => patternsOf(owner, undefined, isMeant));
  const others = table.withoutId.entries.flatMap(({ entity, methods }) => patternsOf(entity, methods, isMeant));
  for (const pattern of entities) insert(root, pattern, "entities");
  for (const pattern of others) insert(root, pattern, pattern.text.endsWith("/**") ? "below" : "exact");
  for (const { path, methods } of paths) visit(root, segmentsOf(path), 0, methods);
  return [
    ...entities.filter(({ hasPath }) => !hasPath).map(entityFinding),
    ...others.filter(({ hasMethod }) => !hasMethod).map(otherFinding),
  ];
};

const patternsOf = (owner: Entity, methods: Pattern["methods"], isMeant: (pattern: string) => boolean): Pattern[] =>
  owner.paths.flatMap((text, index) =>
    isMeant(text) ? [{ text, owner, index, methods, hasPath: false, hasMethod: false }] : [],
  );

const insert = (root: Node, pattern: Pattern, kind: "entities" | "exact" | "below"): void => {
  let node = root;
  const segments = segmentsOf(pattern.text);
  for (const segment of kind === "below" ? segments.slice(0, -1) : segments) {
    if (segment === ":id" && kind === "entities") node = node.id ??= newNode();
    else node = branchOf(node, segment, newNode);
  }
  node[kind].push(pattern);
};

/** Goes down from the segment at `depth`. A parameter of the document is an ID or anything, literal text itself alone. */
const visit = (node: Node, path: readonly string[], depth: number, methods: readonly string[]): void => {
  meet(node.entities, methods);
  const segment = path[depth];
  if (segment === undefined) {
    meet(node.exact, methods);
    return;
  }
  meet(node.below, methods);
  const literal = node.literals.get(segment);
  if (literal !== undefined) visit(literal, path, depth + 1, methods);
  if (node.id !== undefined && isParameter(segment)) visit(node.id, path, depth + 1, methods);
  if (node.wildcard !== undefined) visit(node.wildcard, path, depth + 1, methods);
};

const meet = (patterns: readonly Pattern[], operations: readonly string[]): void => {
  for (const pattern of patterns) {
    const { methods } = pattern;
    pattern.hasPath = true;
    pattern.hasMethod ||= methods === undefined || operations.some((method) => methods.includes(method));
  }
};

const isParameter = (segment: string): boolean => /^\{[^{}]+\}$/.test(segment);

const entityFinding = ({ text, owner, index }: Pattern): Finding => ({
  kind: "entity-without-operation",
  table: placeOf("entities", owner, index),
  path: text,
  message: `no operation has this path of ${owner.name}`,
});

const otherFinding = ({ text, owner, index, hasPath }: Pattern): Finding => ({
  kind: "without-id-without-operation",
  table: placeOf("withoutId", owner, index),
  path: text,
  message: `no operation has ${hasPath ? `a method that ${owner.name} takes on this path` : "this path"}`,
});

const placeOf = (part: string, { name, paths }: Entity, index: number): string =>
  pointerTo(paths.length === 1 ? [part, name, "path"] : [part, name, "path", index]);
