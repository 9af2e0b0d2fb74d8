import { listOf } from "../compile/conditions.ts";
import { LUUID_SHORT } from "../identity.ts";
import type { DeclaredEntity } from "../schema/table.ts";
import type { Entity, LayoutHint, PathIndex, PathMatch } from "../table.ts";

/** `layout`: the one of the IDs on it; `undefined` for all that the entity has. */
export type DeclaredPattern = { readonly pattern: string; readonly layout: string | undefined };

export const patternsOf = (path: DeclaredEntity["path"]): readonly DeclaredPattern[] =>
  listOf<Extract<DeclaredEntity["path"], readonly unknown[]>[number]>(path).map((one) =>
    typeof one === "string" ? { pattern: one, layout: undefined } : { pattern: one.path, layout: one.layout },
  );

/** What a request would write in `id-layout` for a hint. */
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

/** What leads to an origin by the ID alone. */
export const ANY_PREFIX = "/any/";

/** Raw paths that the gateway answers itself, and no origin is asked. */
export const GATEWAY_PATH = /^\/(?:(?:any|mint)$|-(?:\/|$))/;

/** With the escapes of ASCII decoded, as no table reads a path. */
export const unescaped = (text: string): string =>
  text.replace(/%([0-7][0-9A-Fa-f])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Whether a reader who decodes escapes or merges slashes would take the path for the gateway's own. No origin gets it. */
export const isEncodedGatewayPath = (path: string): boolean => {
  const [first = ""] = unescaped(path)
    .replace(/^[/\\]+/, "")
    .split(/[/\\]/, 1);
  return GATEWAY_SEGMENTS.has(first);
};

/** A path, or a pattern, as servers read it that decode escapes, cut parameters, merge slashes, resolve dots and know no case. */
const asServersRead = (path: string): string => {
  const segments: string[] = [];
  for (const segment of readSegments(path)) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
};

const readSegments = (path: string): readonly string[] =>
  unescaped(path)
    .replace(/;[^/\\]*/g, "")
    .toLowerCase()
    .split(/[/\\]/);

/** The same with the slash at its end: `/login/` need not be `/login`. */
const withLastSlash = (path: string): string => {
  const read = asServersRead(path);
  return read !== "/" && /^\.{0,2}$/.test(readSegments(path).at(-1) ?? "") ? `${read}/` : read;
};

/** A backslash, or a segment `.` or `..`, plain or encoded (WHATWG URL): the runtime would resolve them after the decision. */
export const NOT_NORMALIZED = /\\|\/(?:\.|%2e){1,2}(?=\/|$)/i;

/** A place in the patterns. Texts are compared as they stand in the request: nothing is decoded. */
interface Node<Owner> {
  readonly literals: Map<string, Node<Owner>>;
  wildcard: Node<Owner> | undefined;
  id: Node<Owner> | undefined;
  /** The entity whose pattern ends here; everything below is its own. */
  entity: Owner | undefined;
  hint: LayoutHint | undefined;
  /** Whose pattern of whole paths ends here, and whose goes on with `**`. */
  exact: Owner | undefined;
  below: Owner | undefined;
}

const newNode = <Owner>(): Node<Owner> => ({
  literals: new Map(),
  wildcard: undefined,
  id: undefined,
  entity: undefined,
  hint: undefined,
  exact: undefined,
  below: undefined,
});

type PathOwner = { readonly paths: readonly string[]; readonly pathHints?: ReadonlyMap<string, LayoutHint> };

/** Builds the index of all entities' patterns. They must have been checked: no two of them claim one path. */
export const indexPaths = <Owner extends PathOwner>(entities: Iterable<Owner>): PathIndex<Owner> =>
  indexOf(entities, (root, entity, pattern) => {
    const node = nodeOf(root, segmentsOf(pattern));
    node.entity = entity;
    node.hint = entity.pathHints?.get(pattern);
  });

/** Last segment of a pattern that takes one segment and all below it. */
const BELOW = "**";

/** For requests without an ID: a pattern matches whole paths, so `/login` is neither `/login/` nor `/login/x`. Checked, as above. */
export const indexExactPaths = <Owner extends PathOwner>(owners: Iterable<Owner>): PathIndex<Owner> =>
  indexOf(owners, (root, owner, pattern) => {
    const segments = segmentsOf(pattern);
    if (segments.at(-1) === BELOW) nodeOf(root, segments.slice(0, -1)).below = owner;
    else nodeOf(root, segments).exact = owner;
  });

/** The segments of a pattern, without the empty one before its first slash. */
export const segmentsOf = (pattern: string): readonly string[] => pattern.split("/").slice(1);

const nodeOf = <Owner>(root: Node<Owner>, segments: readonly string[]): Node<Owner> => {
  let node = root;
  for (const segment of segments) {
    if (segment === ":id") node = node.id ??= newNode();
    else if (segment === "*") node = node.wildcard ??= newNode();
    else {
      const next = node.literals.get(segment) ?? newNode<Owner>();
      node.literals.set(segment, next);
      node = next;
    }
  }
  return node;
};

type AddPattern<Owner> = (root: Node<Owner>, owner: Owner, pattern: string) => void;

const indexOf = <Owner extends PathOwner>(owners: Iterable<Owner>, add: AddPattern<Owner>): PathIndex<Owner> => {
  const all = [...owners];
  const treeOf = (spelling: (pattern: string) => string): Node<Owner> => {
    const root = newNode<Owner>();
    for (const owner of all) for (const pattern of owner.paths) add(root, owner, spelling(pattern));
    return root;
  };
  const top = treeOf((pattern) => pattern);
  let read: Node<Owner> | undefined;
  /**
   * Matches the segment that begins at `start`: a literal before anything else. An empty one is a literal or lies below; `/`
   * alone lies below nothing.
   */
  const match = (path: string, node = top, start = 1, idStart = 0, idEnd = 0): PathMatch<Owner> | undefined => {
    if (node.entity !== undefined) return { entity: node.entity, idStart, idEnd, hint: node.hint };
    if (start > path.length) return node.exact && { entity: node.exact, idStart, idEnd };
    if (path[start - 1] !== "/") return undefined;
    const slash = path.indexOf("/", start);
    const end = slash === -1 ? path.length : slash;
    const literal = node.literals.size === 0 ? undefined : node.literals.get(path.slice(start, end));
    const found = literal && match(path, literal, end + 1, idStart, idEnd);
    if (found !== undefined) return found;
    if (end === start)
      return path === "/" || node.below === undefined ? undefined : { entity: node.below, idStart, idEnd };
    return (
      (node.id && match(path, node.id, end + 1, start, end)) ??
      (node.wildcard && match(path, node.wildcard, end + 1, idStart, idEnd)) ??
      (node.below && { entity: node.below, idStart, idEnd })
    );
  };
  const matchRead = (path: string) => {
    read ??= treeOf(asServersRead);
    return match(asServersRead(path), read);
  };
  return { match, matchRead };
};

/**
 * Whether servers that read a path in another spelling would find it below a pattern with `**` of other owners, and not where
 * it lies as it stands. Owners whose patterns are spellings of one another are all meant.
 */
export const respellings = <Owner extends PathOwner>(owners: readonly Owner[]) => {
  const below = owners.map((owner) => ({
    owner,
    paths: owner.paths.filter((pattern) => pattern.endsWith(`/${BELOW}`)),
  }));
  const build = () => {
    const all = new Map<string, Set<Owner>>();
    for (const { owner, paths } of below) {
      for (const pattern of paths.map(asServersRead)) all.set(pattern, (all.get(pattern) ?? new Set()).add(owner));
    }
    return {
      read: indexExactPaths([...all].map(([pattern, those]) => ({ paths: [pattern], owners: those }))),
      raw: indexExactPaths(below),
    };
  };
  let indexes: ReturnType<typeof build> | undefined;
  return (path: string, owner: Owner): boolean => {
    // One owner alone is at every spelling.
    if (owners.length < 2) return false;
    indexes ??= build();
    const { read, raw } = indexes;
    const found = read.match(withLastSlash(path))?.entity.owners;
    if (found === undefined || found.has(owner)) return false;
    const own = raw.match(path)?.entity.owner;
    return own === undefined || !found.has(own);
  };
};
