import type { LayoutHint, PathIndex, PathMatch } from "./table.ts";

/** A place in the patterns. Texts are compared as they stand in the request: nothing is decoded. */
interface Node<Owner> {
  readonly literals: Map<string, Node<Owner>>;
  wildcard: Node<Owner> | undefined;
  id: Node<Owner> | undefined;
  /** The entity whose pattern ends here; everything below is its own. */
  entity: Owner | undefined;
  /** What its pattern says of the IDs. */
  hint: LayoutHint | undefined;
}

const newNode = <Owner>(): Node<Owner> => ({
  literals: new Map(),
  wildcard: undefined,
  id: undefined,
  entity: undefined,
  hint: undefined,
});

/** Who has patterns. */
interface PathOwner {
  readonly paths: readonly string[];
  readonly pathHints?: ReadonlyMap<string, LayoutHint>;
}

/** Builds the index of all entities' patterns. They must have been checked: no two of them claim one path. */
export const indexPaths = <Owner extends PathOwner>(entities: Iterable<Owner>): PathIndex<Owner> => {
  const root = newNode<Owner>();
  for (const entity of entities) {
    for (const pattern of entity.paths) {
      let node = root;
      for (const segment of segmentsOf(pattern)) node = descend(node, segment);
      node.entity = entity;
      node.hint = entity.pathHints?.get(pattern);
    }
  }
  return { match: (path) => (path.startsWith("/") ? walk(root, path, 1, 0, 0) : undefined) };
};

/** The segments of a pattern, without the empty one before its first slash. */
export const segmentsOf = (pattern: string): readonly string[] => pattern.split("/").slice(1);

const descend = <Owner>(node: Node<Owner>, segment: string): Node<Owner> => {
  if (segment !== ":id") return branchOf<Node<Owner>>(node, segment, newNode);
  node.id ??= newNode();
  return node.id;
};

/** Where a segment of literal text, or one that is open, leads in patterns of any kind. */
interface Branching<Node> {
  readonly literals: Map<string, Node>;
  wildcard: Node | undefined;
}

/** The node that a segment leads to, made where there is none. */
export const branchOf = <Node>(node: Branching<Node>, segment: string, newNode: () => Node): Node => {
  if (segment === "*") {
    node.wildcard ??= newNode();
    return node.wildcard;
  }
  const next = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, next);
  return next;
};

/** Matches the segment that begins at `start`: a literal before anything else, and nothing matches an empty one. */
const walk = <Owner>(
  node: Node<Owner>,
  path: string,
  start: number,
  idStart: number,
  idEnd: number,
): PathMatch<Owner> | undefined => {
  if (node.entity !== undefined) return { entity: node.entity, idStart, idEnd, hint: node.hint };
  const slash = path.indexOf("/", start);
  const end = slash === -1 ? path.length : slash;
  if (end <= start) return undefined;
  const literal = node.literals.size === 0 ? undefined : node.literals.get(path.slice(start, end));
  return (
    (literal && walk(literal, path, end + 1, idStart, idEnd)) ??
    (node.id && walk(node.id, path, end + 1, start, end)) ??
    (node.wildcard && walk(node.wildcard, path, end + 1, idStart, idEnd))
  );
};
