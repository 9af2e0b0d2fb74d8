import { err, ok, type Result } from "../ids/result.ts";

// Where in a JSON document the IDs of public entities stand. A path is a JSON pointer (RFC 6901) in which `*` stands for any
// one member or element, and `**` for any number of them, none included: `/id`, `/items/*/orderId`, `/**/order/id`.
export interface PublicField {
  readonly path: string;
  readonly entity: string;
}

/** Why fields make no machine. `ambiguous-field`: one place in a document may be reached by paths of two entities. */
export type FieldPathError =
  | { readonly reason: "no-fields" }
  | { readonly reason: "too-many-fields"; readonly max: number; readonly actual: number }
  | { readonly reason: "malformed-path"; readonly path: string }
  | { readonly reason: "ambiguous-field"; readonly paths: readonly [string, string] }
  | { readonly reason: "too-many-states"; readonly max: number };

/** All paths as one deterministic automaton over names, so that a step costs the same however many fields there are. */
export interface FieldPaths {
  /** The state of the whole document. */
  readonly root: number;
  /** The state below `state` at a name, which is given as its symbol. */
  readonly next: (state: number, symbol: number) => number;
  /** The entity whose ID stands where a state is reached. */
  readonly entityAt: (state: number) => string | undefined;
  /** The symbol of each name that a path spells out; all other names are `OTHER_NAME`. */
  readonly symbols: ReadonlyMap<string, number>;
  /** UTF-16 units of the longest name that a path spells out. */
  readonly nameUnitsMax: number;
}

export const FIELDS_MAX = 64;
const PATH_UNITS_MAX = 512;
/** `**` can double the states with each further segment: the limit bounds what a table can cost. */
export const STATES_MAX = 1024;

/** The state from which no path leads on: nothing inside is looked at. */
export const DEAD = 0;
export const OTHER_NAME = 0;
const ANY = Symbol("*");
const ANY_DEPTH = Symbol("**");
type Segment = string | typeof ANY | typeof ANY_DEPTH;

interface Pattern extends PublicField {
  readonly order: number;
  readonly segments: readonly Segment[];
}

/** Where the automaton may be in one pattern: before the segment `at`. */
interface Position {
  readonly pattern: Pattern;
  readonly at: number;
}

export const compileFieldPaths = (fields: readonly PublicField[]): Result<FieldPaths, FieldPathError> => {
  if (fields.length === 0) return err({ reason: "no-fields" });
  if (fields.length > FIELDS_MAX) return err({ reason: "too-many-fields", max: FIELDS_MAX, actual: fields.length });
  const patterns: Pattern[] = [];
  for (const [order, field] of fields.entries()) {
    const segments = parsePath(field.path);
    if (segments === undefined) return err({ reason: "malformed-path", path: field.path });
    patterns.push({ ...field, order, segments });
  }
  const names = new Set(patterns.flatMap(({ segments }) => segments.filter((segment) => typeof segment === "string")));
  return buildAutomaton(patterns, new Map([...names].map((name, index) => [name, index + 1])));
};

const parsePath = (path: string): readonly Segment[] | undefined => {
  if (path === "") return [];
  if (!path.startsWith("/") || path.length > PATH_UNITS_MAX || /~(?![01])/.test(path)) return undefined;
  return path
    .slice(1)
    .split("/")
    .map((segment) => {
      if (segment === "*") return ANY;
      if (segment === "**") return ANY_DEPTH;
      return segment.replaceAll("~1", "/").replaceAll("~0", "~");
    });
};

/** Subset construction: a state is a set of positions. */
const buildAutomaton = (
  patterns: readonly Pattern[],
  symbols: ReadonlyMap<string, number>,
): Result<FieldPaths, FieldPathError> => {
  const names: readonly (string | undefined)[] = [undefined, ...symbols.keys()];
  const sets: (readonly Position[])[] = [[]];
  const numbers = new Map<string, number>([["", DEAD]]);
  const numberOf = (positions: readonly Position[]): number => {
    const key = positions.map(({ pattern, at }) => `${pattern.order}:${at}`).join(" ");
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, sets.length);
    return sets.push(positions) - 1;
  };

  const root = numberOf(distinct(patterns.flatMap((pattern) => withSkips(pattern, 0))));
  const entities: (string | undefined)[] = [];
  const transitions: number[] = [];
  for (let state = 0; state < sets.length; state++) {
    if (state >= STATES_MAX) return err({ reason: "too-many-states", max: STATES_MAX });
    const positions = sets[state] as readonly Position[];
    const reached = positions.filter(({ pattern, at }) => at === pattern.segments.length).map(({ pattern }) => pattern);
    const rival = reached.find(({ entity }) => entity !== reached[0]?.entity);
    if (reached[0] !== undefined && rival !== undefined)
      return err({ reason: "ambiguous-field", paths: [reached[0].path, rival.path] });
    entities.push(reached[0]?.entity);
    for (const name of names) transitions.push(numberOf(distinct(positions.flatMap((one) => step(one, name)))));
  }
  return ok({
    root,
    next: (state, symbol) => transitions[state * names.length + symbol] as number,
    entityAt: (state) => entities[state],
    symbols,
    nameUnitsMax: Math.max(0, ...[...symbols.keys()].map((name) => name.length)),
  });
};

/** Where a name leads from a position; `undefined` is a name that no path spells out. */
const step = ({ pattern, at }: Position, name: string | undefined): readonly Position[] => {
  const segment = pattern.segments[at];
  if (segment === ANY_DEPTH) return withSkips(pattern, at);
  return segment === ANY || (segment !== undefined && segment === name) ? withSkips(pattern, at + 1) : [];
};

/** The position, and those after the `**` that follow it, which may stand for nothing. */
const withSkips = (pattern: Pattern, at: number): readonly Position[] =>
  pattern.segments[at] === ANY_DEPTH ? [{ pattern, at }, ...withSkips(pattern, at + 1)] : [{ pattern, at }];

/** The positions once each, in the order of the fields, so that equal sets look equal. */
const distinct = (positions: readonly Position[]): readonly Position[] => {
  const byPlace = new Map(positions.map((one) => [one.pattern.order * PATH_UNITS_MAX + one.at, one]));
  return [...byPlace].toSorted(([one], [other]) => one - other).map(([, position]) => position);
};
