import { intersect, type Ranges, rangesOf } from "./ranges.ts";
import { applyChange, changesOf } from "./sweep.ts";

/** Comparing two ordered lists of routes over one space of numbers, exactly, without trying each point. */

/** A route's values for each dimension of the space; `undefined` for all. The order of the list is that of precedence. */
export interface SpaceRoute<Outcome> {
  readonly outcome: Outcome;
  readonly sets: readonly (Ranges | undefined)[];
}

/** Goals are compared by identity. */
export interface SpaceSide<Outcome> {
  readonly routes: readonly SpaceRoute<Outcome>[];
  /** Where everything goes that no route takes. */
  readonly fallback: Outcome | undefined;
}

/** A box of the space in which the goal changes. */
export interface OutcomeChange<Outcome> {
  readonly sets: readonly Ranges[];
  readonly before: Outcome | undefined;
  readonly after: Outcome | undefined;
}

/** The boxes in which two sides differ. They do not overlap, and neighbours that differ alike are one box. */
export const compareOutcomes = <Outcome>(
  spans: readonly Ranges[],
  before: SpaceSide<Outcome>,
  after: SpaceSide<Outcome>,
): readonly OutcomeChange<Outcome>[] => compareFrom(0, spans, before, after);

const compareFrom = <Outcome>(
  depth: number,
  spans: readonly Ranges[],
  before: SpaceSide<Outcome>,
  after: SpaceSide<Outcome>,
): readonly OutcomeChange<Outcome>[] => {
  const [left, right] = [trim(before, depth), trim(after, depth)];
  if (left.routes.length === 0 && right.routes.length === 0) {
    if (left.fallback === right.fallback) return [];
    return [{ sets: spans.slice(depth), before: left.fallback, after: right.fallback }];
  }
  const span = spans[depth] as Ranges;
  const known = new Map<string, readonly OutcomeChange<Outcome>[]>();
  const found = new Map<
    string,
    { readonly pairs: (readonly [number, number])[]; readonly inner: OutcomeChange<Outcome> }
  >();
  for (const { low, high, active } of segmentsOf(span, [left, right], depth)) {
    const key = active.map((side) => side.join()).join(";");
    const changes = known.get(key) ?? compareFrom(depth + 1, spans, pick(left, active[0]), pick(right, active[1]));
    known.set(key, changes);
    // One by one: a stretch that agrees with its neighbour in one change may differ in another.
    for (const inner of changes) {
      const text = JSON.stringify(inner);
      const same = found.get(text) ?? { pairs: [], inner };
      found.set(text, same);
      same.pairs.push([low, high]);
    }
  }
  return [...found.values()].map(({ pairs, inner }) => ({ ...inner, sets: [rangesOf(pairs), ...inner.sets] }));
};

/** Drops what a route without further conditions leaves no room for; such a route becomes the fallback. */
const trim = <Outcome>({ routes, fallback }: SpaceSide<Outcome>, depth: number): SpaceSide<Outcome> => {
  const at = routes.findIndex(({ sets }) => sets.slice(depth).every((set) => set === undefined));
  return at === -1 ? { routes, fallback } : { routes: routes.slice(0, at), fallback: routes[at]?.outcome };
};

const pick = <Outcome>(
  { routes, fallback }: SpaceSide<Outcome>,
  active: readonly number[] = [],
): SpaceSide<Outcome> => ({
  routes: active.map((at) => routes[at] as SpaceRoute<Outcome>),
  fallback,
});

interface Segment {
  readonly low: number;
  readonly high: number;
  /** For each side the places of the routes that take the segment. */
  readonly active: readonly (readonly number[])[];
}

/** Cuts a span where a route of either side begins or ends. */
function* segmentsOf(span: Ranges, sides: readonly SpaceSide<unknown>[], depth: number): Generator<Segment> {
  const changes = sides.map(({ routes }) =>
    changesOf(routes.map(({ sets }) => (sets[depth] === undefined ? span : intersect(sets[depth], span)))),
  );
  const [from, to] = span as readonly [number, number];
  const bounds = new Set([from, ...changes.flatMap((change) => [...change.keys()])]);
  const starts = [...bounds].filter((bound) => bound <= to).sort((a, b) => a - b);
  let active: readonly (readonly number[])[] = sides.map(() => []);
  for (const [at, low] of starts.entries()) {
    active = active.map((list, side) => applyChange(list, changes[side]?.get(low)));
    yield { low, high: (starts[at + 1] ?? to + 1) - 1, active };
  }
}
