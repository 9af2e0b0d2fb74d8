import { err, ok, type Result } from "../../../ids/result.ts";
import { Budget, COMPLEXITY_MAX } from "../../../routing/limits.ts";
import { firstNotBelow } from "../../../routing/lookup/ranges.ts";
import { keysOfPointer } from "../../../routing/schema/faults.ts";

// Where in a JSON document the IDs of public entities stand. A path is a JSON pointer (RFC 6901). In it `*` stands for
// any one member or element, and `**` for any number of them, or none: `/id`, `/items/*/orderId`, `/**/order/id`.
export type PublicField = { readonly path: string; readonly entity: string };

/** Why fields make no machine. `ambiguous-field`: one place in a document may be reached by paths of two entities. */
export type FieldPathError =
  | { readonly reason: "too-many-fields"; readonly max: number; readonly actual: number }
  | { readonly reason: "malformed-path"; readonly path: string }
  | { readonly reason: "ambiguous-field"; readonly paths: readonly [string, string] }
  | { readonly reason: "too-many-states"; readonly max: number }
  /** It exceeds the budget. */
  | { readonly reason: "too-complex" };

/** All paths as one deterministic automaton over names, so that a step costs the same however many fields there are. */
export interface FieldPaths {
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
export const NO_MATCH = 0;
export const OTHER_NAME = 0;
const ANY = Symbol("*");
const ANY_DEPTH = Symbol("**");
type Segment = string | typeof ANY | typeof ANY_DEPTH;

/** Where the automaton may be: before the segment `at` of a field's path, or behind its end. Numbered in the order of the fields. */
type Position = { readonly segment: Segment | undefined; readonly field: PublicField };

/** A set of positions: a UTF-16 unit for the number of each, rising, so that equal sets are equal strings. No surrogate occurs. */
type Positions = string;

/** Units of a copied and looked-up set for one cell of the budget. */
const UNITS_PER_CELL = 64;

type Outcome = Result<FieldPaths, FieldPathError>;

export const compileFieldPaths = (fields: readonly PublicField[], budget = new Budget(COMPLEXITY_MAX)): Outcome => {
  if (fields.length > FIELDS_MAX) return err({ reason: "too-many-fields", max: FIELDS_MAX, actual: fields.length });
  const positions: Position[] = [];
  const first: number[] = [];
  for (const field of fields) {
    const segments = parsePath(field.path);
    if (segments === undefined) return err({ reason: "malformed-path", path: field.path });
    first.push(positions.length);
    for (const segment of [...segments, undefined]) positions.push({ segment, field });
  }
  return buildAutomaton(positions, first, budget);
};

/** `**` after `**` says nothing more. */
const parsePath = (path: string): readonly Segment[] | undefined => {
  if (path === "") return [];
  if (!path.startsWith("/") || path.length > PATH_UNITS_MAX || /~(?![01])/.test(path)) return undefined;
  return keysOfPointer(path)
    .map((key) => (key === "*" ? ANY : key === "**" ? ANY_DEPTH : key))
    .filter((segment, at, all) => segment !== ANY_DEPTH || all[at - 1] !== ANY_DEPTH);
};

/** A state's transitions: where names lead that some position spells out, and where all others do. */
type Transitions = { readonly named: ReadonlyMap<number, number>; readonly other: number };

/** Subset construction: a state is a set of positions. */
const buildAutomaton = (positions: readonly Position[], first: readonly number[], budget: Budget): Outcome => {
  const symbols = symbolsOf(positions);
  const sets: Positions[] = [""];
  const numbers = new Map<Positions, number>([["", NO_MATCH]]);
  const numberOf = (set: Positions): number => {
    const known = numbers.get(set);
    if (known !== undefined) return known;
    numbers.set(set, sets.length);
    return sets.push(set) - 1;
  };

  const root = numberOf(setOf(first.flatMap((number) => withSkip(positions, number))));
  const entities: (string | undefined)[] = [];
  const transitions: Transitions[] = [];
  for (let state = 0; state < sets.length; state++) {
    if (state >= STATES_MAX) return err({ reason: "too-many-states", max: STATES_MAX });
    const set = sets[state] as Positions;
    const reached = numbersIn(set).flatMap((number) => {
      const { segment, field } = positions[number] as Position;
      return segment === undefined ? [field] : [];
    });
    const rival = reached.find(({ entity }) => entity !== reached[0]?.entity);
    if (reached[0] !== undefined && rival !== undefined)
      return err({ reason: "ambiguous-field", paths: [reached[0].path, rival.path] });
    entities.push(reached[0]?.entity);
    const { others, named } = step(positions, set);
    const units = set.length + named.size * others.length;
    if (!budget.spend(1 + 2 * set.length + Math.ceil(units / UNITS_PER_CELL))) return err({ reason: "too-complex" });
    transitions.push({
      other: numberOf(others),
      named: new Map(
        [...named].map(([name, more]) => [symbols.get(name) as number, numberOf(more.reduce(put, others))]),
      ),
    });
  }
  return ok({
    root,
    next: (state, symbol) => {
      const { named, other } = transitions[state] as Transitions;
      return named.get(symbol) ?? other;
    },
    entityAt: (state) => entities[state],
    symbols,
    nameUnitsMax: Math.max(0, ...[...symbols.keys()].map((name) => name.length)),
  });
};

const symbolsOf = (positions: readonly Position[]): ReadonlyMap<string, number> => {
  const names = new Set(positions.flatMap(({ segment }) => (typeof segment === "string" ? [segment] : [])));
  return new Map([...names].map((name, index) => [name, index + 1]));
};

/** Where the positions of a set lead: by any name, and by each name that one of them spells out. */
const step = (positions: readonly Position[], set: Positions) => {
  const others: number[] = [];
  const named = new Map<string, number[]>();
  for (const number of numbersIn(set)) {
    const { segment } = positions[number] as Position;
    if (segment === undefined) continue;
    if (segment === ANY_DEPTH) others.push(...withSkip(positions, number));
    else if (segment === ANY) others.push(...withSkip(positions, number + 1));
    else named.set(segment, [...(named.get(segment) ?? []), ...withSkip(positions, number + 1)]);
  }
  return { others: setOf(others), named };
};

/** The position, and the one after a `**`, which may stand for nothing. */
const withSkip = (positions: readonly Position[], number: number): readonly number[] =>
  positions[number]?.segment === ANY_DEPTH ? [number, number + 1] : [number];

const numbersIn = (set: Positions): readonly number[] => Array.from(set, (_, at) => set.charCodeAt(at));

const setOf = (numbers: readonly number[]) => String.fromCharCode(...new Uint16Array(new Set(numbers)).sort());

/** The set with one more position, if it is not there. */
const put = (set: Positions, number: number): Positions => {
  const at = firstNotBelow(set.length, (place) => set.charCodeAt(place) < number);
  return set.charCodeAt(at) === number ? set : set.slice(0, at) + String.fromCharCode(number) + set.slice(at);
};
