import type { LayoutHint, PathIndex, PathMatch } from "../table.ts";
import { asServersRead, withLastSlash } from "./as-read.ts";
import type { Asked, PathConditions } from "./asked.ts";
import { Choice, PLAIN_READ, type Rival, untakenOf } from "./choice.ts";
import { BELOW, isEncodedGatewayPath, segmentsOf } from "./paths.ts";

/** Patterns as a tree of segments. */

/** A place in the patterns. Texts are compared as they stand in the request: nothing is decoded. */
interface Node<Owner> {
  readonly literals: Map<string, Node<Owner>>;
  wildcard: Node<Owner> | undefined;
  id: Node<Owner> | undefined;
  /** The entity whose pattern ends here; everything below is its own. */
  whole: Site<Owner> | undefined;
  /** Whose pattern of whole paths ends here, and whose goes on with `**`. */
  exact: Site<Owner> | undefined;
  below: Site<Owner> | undefined;
}

/** Owners of the paths that end at a node. */
interface Site<Owner> {
  readonly owner: Owner;
  readonly hint: LayoutHint | undefined;
  readonly rivals: readonly Rival<Owner>[];
  /** `undefined`: the owner is alone and takes every request. */
  readonly choice: Choice<Owner> | undefined;
}

const newNode = <Owner>(): Node<Owner> => ({
  literals: new Map(),
  wildcard: undefined,
  id: undefined,
  whole: undefined,
  exact: undefined,
  below: undefined,
});

export interface PathOwner {
  readonly paths: readonly string[];
  readonly pathHints?: ReadonlyMap<string, LayoutHint>;
  /** Patterns of an entity that take no path below. */
  readonly closedPaths?: ReadonlySet<string> | undefined;
  readonly conditions?: PathConditions | undefined;
}

/** Builds the index of all entities' patterns. They must have been checked: no two of them claim one request. */
export const indexPaths = <Owner extends PathOwner>(entities: Iterable<Owner>): PathIndex<Owner> =>
  indexOf(entities, (root, owner, pattern, spelled) => {
    const node = nodeOf(root, segmentsOf(spelled));
    const hint = owner.pathHints?.get(pattern);
    const part = owner.closedPaths?.has(pattern) ? "exact" : "whole";
    node[part] = siteWith(node[part], { owner, hint, conditions: owner.conditions }, true);
  });

/** For requests without an ID: a pattern matches whole paths, so `/login` is neither `/login/` nor `/login/x`. Checked, as above. */
export const indexExactPaths = <Owner extends PathOwner>(owners: Iterable<Owner>, closes = false): PathIndex<Owner> =>
  indexOf(owners, (root, owner, _, spelled) => {
    const segments = segmentsOf(spelled);
    const isOpen = segments.at(-1) === BELOW;
    const node = nodeOf(root, isOpen ? segments.slice(0, -1) : segments);
    const part = isOpen ? "below" : "exact";
    node[part] = siteWith(node[part], { owner, hint: undefined, conditions: owner.conditions }, closes);
  });

/** `closes`: whether one that is alone is held to its methods here; without an ID its handler does. */
const siteWith = <Owner>(site: Site<Owner> | undefined, rival: Rival<Owner>, closes: boolean): Site<Owner> => {
  const { methods, hosts, passesOthers } = rival.conditions ?? {};
  const isPlain = hosts === undefined && !passesOthers && (methods === undefined || !closes);
  const rivals = [...(site?.rivals ?? []), rival];
  const choice = isPlain && rivals.length === 1 ? undefined : new Choice(rivals);
  return { owner: rivals[0]?.owner ?? rival.owner, hint: rivals[0]?.hint, rivals, choice };
};

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
type AddPattern<Owner> = (root: Node<Owner>, owner: Owner, pattern: string, spelled: string) => void;

const indexOf = <Owner extends PathOwner>(owners: Iterable<Owner>, add: AddPattern<Owner>): PathIndex<Owner> => {
  const all = [...owners];
  const treeOf = (spelling: (pattern: string) => string): Node<Owner> => {
    const root = newNode<Owner>();
    for (const owner of all) for (const pattern of owner.paths) add(root, owner, pattern, spelling(pattern));
    return root;
  };
  const top = treeOf((pattern) => pattern);
  // No literal is the gateway's own, however it is written.
  const isOpen = (top.id ?? top.wildcard ?? top.below) !== undefined;
  const walk = walkerOf(top);
  const match: PathIndex<Owner>["match"] = isOpen
    ? (path, asked) => (isEncodedGatewayPath(path) ? undefined : walk(path, asked))
    : walk;
  let walkRead: typeof walk | undefined;
  const matchRead = (path: string, asked?: Asked) => {
    if (isOpen && isEncodedGatewayPath(path)) return undefined;
    walkRead ??= walkerOf(treeOf(asServersRead));
    return walkRead(asServersRead(path), asked);
  };
  const untaken = (path: string, asked: Asked) => {
    const { method, preflightFor, servedHost } = asked;
    const passed: Choice<unknown>[] = [];
    match(path, { method, preflightFor, servedHost, passed });
    return untakenOf(passed, asked);
  };
  return { match, matchRead, isOpen, untaken };
};

/** Matches the segment that begins at `start`: a literal first. An empty one is a literal or lies below; `/` alone lies below nothing. */
const walkerOf = <Owner>(root: Node<Owner>) => {
  const walk = (
    path: string,
    asked = PLAIN_READ,
    from = root,
    fromStart = 1,
    fromIdStart = 0,
    fromIdEnd = 0,
  ): PathMatch<Owner> | undefined => {
    let node = from;
    let start = fromStart;
    let idStart = fromIdStart;
    let idEnd = fromIdEnd;
    for (;;) {
      const { whole, literals, id, wildcard, below } = node;
      if (whole !== undefined) {
        const found = settle(whole, asked, idStart, idEnd);
        if (found !== undefined) return found;
      }
      if (start > path.length) return node.exact && settle(node.exact, asked, idStart, idEnd);
      if (path[start - 1] !== "/") return undefined;
      const slash = path.indexOf("/", start);
      const end = slash === -1 ? path.length : slash;
      const isEmpty = end === start;
      const literal = literals.size === 0 ? undefined : literals.get(path.slice(start, end));
      // Most nodes leave one way to go, and none to come back to.
      if (wildcard === undefined && below === undefined) {
        if (id === undefined || isEmpty) {
          if (literal === undefined) return undefined;
          node = literal;
          start = end + 1;
          continue;
        }
        if (literal === undefined) {
          node = id;
          idStart = start;
          idEnd = end;
          start = end + 1;
          continue;
        }
      }
      return (
        (literal && walk(path, asked, literal, end + 1, idStart, idEnd)) ??
        (!isEmpty && id ? walk(path, asked, id, end + 1, start, end) : undefined) ??
        (!isEmpty && wildcard ? walk(path, asked, wildcard, end + 1, idStart, idEnd) : undefined) ??
        (below !== undefined && path !== "/" ? settle(below, asked, idStart, idEnd) : undefined)
      );
    }
  };
  return walk;
};

const settle = <Owner>(
  { owner, hint, choice }: Site<Owner>,
  asked: Asked,
  idStart: number,
  idEnd: number,
): PathMatch<Owner> | undefined => {
  if (choice === undefined) return asked.hostRankMin ? undefined : { entity: owner, idStart, idEnd, hint };
  const found = choice.of(asked);
  if (found === undefined) return undefined;
  if ("owner" in found) return { entity: found.owner, idStart, idEnd, hint: found.hint };
  // Several may refuse it: the one on the request's host is named.
  return { entity: choice.on(asked)[0]?.owner ?? owner, idStart, idEnd, hint, allow: found };
};

/**
 * Whether servers that read another spelling of a path would find it below another owner's `**`, and not at its own
 * place. Owners whose patterns are spellings of one another are all meant, and those on other hosts are not.
 */
export const respellings = <Owner extends PathOwner>(owners: readonly Owner[]) => {
  /** Owners of each pattern, whatever methods and hosts they take: what another owner leaves is no other spelling. */
  const ownersBy = (spelling: (pattern: string) => string) => {
    const all = new Map<string, Set<Owner>>();
    for (const owner of owners) {
      for (const pattern of owner.paths.filter((each) => each.endsWith(`/${BELOW}`)).map(spelling)) {
        all.set(pattern, (all.get(pattern) ?? new Set()).add(owner));
      }
    }
    return indexExactPaths([...all].map(([pattern, those]) => ({ paths: [pattern], owners: those })));
  };
  const build = () => ({ read: ownersBy(asServersRead), raw: ownersBy((pattern) => pattern) });
  let indexes: ReturnType<typeof build> | undefined;
  return (path: string, owner: Owner, asked: Asked): boolean => {
    // One owner alone is at every spelling.
    if (owners.length < 2) return false;
    indexes ??= build();
    const { read, raw } = indexes;
    const found = read.match(withLastSlash(path))?.entity.owners;
    if (found === undefined || found.has(owner) || ![...found].some((other) => isServed(other, asked))) return false;
    const own = raw.match(path)?.entity.owners ?? [];
    return ![...own].some((each) => found.has(each));
  };
};

const isServed = ({ conditions }: PathOwner, asked: Asked): boolean =>
  new Choice([{ owner: undefined, hint: undefined, conditions }]).on(asked).length > 0;
