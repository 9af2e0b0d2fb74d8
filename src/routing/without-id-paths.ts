import { branchOf, segmentsOf } from "./paths.ts";

/**
 * Paths of requests without an ID. A pattern matches whole paths, unlike an entity's, to which all below its ID belongs:
 * `/login` is neither `/login/` nor `/login/x`.
 */
export interface ExactPathIndex<Entry> {
  /** `path` is the raw path of the request, query excluded. */
  readonly match: (path: string) => Entry | undefined;
}

interface Node<Entry> {
  readonly literals: Map<string, Node<Entry>>;
  wildcard: Node<Entry> | undefined;
  /** Whose pattern ends here, and whose goes on with `**`. */
  entry: Entry | undefined;
  below: Entry | undefined;
}

const newNode = <Entry>(): Node<Entry> => ({
  literals: new Map(),
  wildcard: undefined,
  entry: undefined,
  below: undefined,
});

/** Last segment of a pattern that takes one segment and all below it. */
const BELOW = "**";

/** Builds the index. The patterns must have been checked: no two of them are the same. */
export const indexExactPaths = <Entry extends { readonly paths: readonly string[] }>(
  entries: Iterable<Entry>,
): ExactPathIndex<Entry> => {
  const root = newNode<Entry>();
  for (const entry of entries) {
    for (const pattern of entry.paths) {
      let node = root;
      const segments = segmentsOf(pattern);
      const isOpenEnded = segments.at(-1) === BELOW;
      for (const segment of isOpenEnded ? segments.slice(0, -1) : segments) {
        node = branchOf<Node<Entry>>(node, segment, newNode);
      }
      if (isOpenEnded) node.below = entry;
      else node.entry = entry;
    }
  }
  return { match: (path) => (path.startsWith("/") ? walk(root, path, 1) : undefined) };
};

/** Matches the segment that begins at `start`: a literal first, then `*`, then `**`. An empty one is matched as such only. */
const walk = <Entry>(node: Node<Entry>, path: string, start: number): Entry | undefined => {
  const slash = path.indexOf("/", start);
  const end = slash === -1 ? path.length : slash;
  const isLast = slash === -1;
  const literal = node.literals.get(path.slice(start, end));
  const found = literal && (isLast ? literal.entry : walk(literal, path, end + 1));
  if (found !== undefined || end === start) return found;
  const wildcard = node.wildcard && (isLast ? node.wildcard.entry : walk(node.wildcard, path, end + 1));
  return wildcard ?? node.below;
};
