import type { Entity, PathIndex, PathMatch } from "./table.ts";

/** A place in the patterns. Texts are compared as they stand in the request: nothing is decoded. */
interface Node {
  readonly literals: Map<string, Node>;
  wildcard: Node | undefined;
  id: Node | undefined;
  /** The entity whose pattern ends here; everything below is its own. */
  entity: Entity | undefined;
}

const newNode = (): Node => ({ literals: new Map(), wildcard: undefined, id: undefined, entity: undefined });

/** Builds the index of all entities' patterns. They must have been checked: no two of them claim one path. */
export const indexPaths = (entities: Iterable<Entity>): PathIndex => {
  const root = newNode();
  for (const entity of entities) {
    for (const pattern of entity.paths) {
      let node = root;
      for (const segment of segmentsOf(pattern)) node = descend(node, segment);
      node.entity = entity;
    }
  }
  return { match: (path) => (path.startsWith("/") ? walk(root, path, 1, 0, 0) : undefined) };
};

/** The segments of a pattern, without the empty one before its first slash. */
export const segmentsOf = (pattern: string): readonly string[] => pattern.split("/").slice(1);

const descend = (node: Node, segment: string): Node => {
  if (segment === ":id") {
    node.id ??= newNode();
    return node.id;
  }
  if (segment === "*") {
    node.wildcard ??= newNode();
    return node.wildcard;
  }
  const next = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, next);
  return next;
};

/** Matches the segment that begins at `start`: a literal before anything else, and nothing matches an empty one. */
const walk = (node: Node, path: string, start: number, idStart: number, idEnd: number): PathMatch | undefined => {
  if (node.entity !== undefined) return { entity: node.entity, idStart, idEnd };
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
