import { fieldDimensionName, keyFieldOf } from "../layouts/fields.ts";
import { type LayoutPlan, sliceDimensionName } from "../layouts/plan.ts";
import type { Box } from "../lookup/build-index.ts";
import { applyChange, changesOf, countOf, intersect, pairsOf, type Ranges, rangesOf } from "../lookup/ranges.ts";

/** A run of a key's bits that no slice in use cuts. */
export type KeySegment = { readonly offset: number; readonly bits: number };

/** Cuts a key at every border of the given slices, so that keys and slices can be compared with each other. */
export const keySegmentsOf = (keyBits: number, slices: readonly KeySegment[]): readonly KeySegment[] => {
  const cuts = new Set([0, keyBits, ...slices.flatMap(({ offset, bits }) => [offset, offset + bits])]);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(1).map((end, at) => ({ offset: sorted[at] as number, bits: end - (sorted[at] as number) }));
};

/** The slices of a plan that some of the boxes constrain. */
export const slicesIn = (plan: LayoutPlan, boxes: readonly Box[]): readonly KeySegment[] =>
  [...plan.slices.values()].filter(({ name }) => {
    const slot = plan.dimensions.findIndex((dimension) => dimension.name === sliceDimensionName(name));
    return boxes.some((box) => box[slot] !== undefined);
  });

/** For each atom the values that are in; `undefined` for all. */
export type SegmentBox = readonly (Ranges | undefined)[];

/** The key and the slices of a box as boxes of atoms, which do not overlap. */
export const spreadKey = (plan: LayoutPlan, box: Box, atoms: readonly KeySegment[]): readonly SegmentBox[] => {
  const key = keyFieldOf(plan.layout);
  let boxes: readonly SegmentBox[] = [atoms.map(() => undefined)];
  for (const [slot, { name }] of plan.dimensions.entries()) {
    const set = box[slot];
    const slice = plan.slices.get(name.replace(/^slices\./, ""));
    const run =
      key !== undefined && name === fieldDimensionName(key.name)
        ? { offset: 0, bits: key.bits }
        : slice && sliceDimensionName(slice.name) === name && slice;
    if (set === undefined || !run) continue;
    const own = spreadRun(run, set, atoms);
    boxes = boxes.flatMap((one) => own.flatMap((other) => meet(one, other)));
  }
  return boxes;
};

const spreadRun = (run: KeySegment, set: Ranges, atoms: readonly KeySegment[]): readonly SegmentBox[] => {
  const within = (atom: KeySegment): boolean => atom.offset >= run.offset && atom.offset < run.offset + run.bits;
  const widths = atoms.filter(within).map(({ bits }) => bits);
  const first = atoms.findIndex(within);
  return pairsOf(set)
    .flatMap(([low, high]) => spreadRange(low, high, widths))
    .map((values) => atoms.map((_, at) => values[at - first]));
};

/** A range of numbers as boxes of its digits, where the digits have the given widths in bits. */
const spreadRange = (low: number, high: number, widths: readonly number[]): readonly SegmentBox[] => {
  const [, ...inner] = widths;
  if (inner.length === 0) return [[[low, high]]];
  const below = 2 ** inner.reduce((sum, bits) => sum + bits, 0);
  const first = Math.floor(low / below);
  const last = Math.floor(high / below);
  const from = low % below;
  const to = high % below;
  const under = (digit: Ranges, a: number, b: number) => spreadRange(a, b, inner).map((rest) => [digit, ...rest]);
  if (first === last) return under([first, first], from, to);
  const cutsFirst = from > 0;
  const cutsLast = to < below - 1;
  const whole: Ranges = [cutsFirst ? first + 1 : first, cutsLast ? last - 1 : last];
  return [
    ...(cutsFirst ? under([first, first], from, below - 1) : []),
    ...((whole[0] as number) <= (whole[1] as number) ? [[whole, ...inner.map(() => undefined)]] : []),
    ...(cutsLast ? under([last, last], 0, to) : []),
  ];
};

const meet = (a: SegmentBox, b: SegmentBox): readonly SegmentBox[] => {
  const both: (Ranges | undefined)[] = [];
  for (const [at, set] of a.entries()) {
    const other = b[at];
    const common = set === undefined || other === undefined ? (set ?? other) : intersect(set, other);
    if (common?.length === 0) return [];
    both.push(common);
  }
  return [both];
};

/** The numbers with those digits, of the given widths in bits, highest first; `undefined` for more than `pairsMax` ranges. */
export const joinDigits = (sets: readonly Ranges[], widths: readonly number[], pairsMax: number) => {
  let joined: Ranges = [0, 0];
  let size = 1;
  for (let at = sets.length - 1; at >= 0; at--) {
    const pairs = pairsOf(sets[at] as Ranges);
    const isWhole = joined.length === 2 && joined[0] === 0 && joined[1] === size - 1;
    const lower = joined;
    const own = size;
    if (isWhole) joined = pairs.flatMap(([low, high]) => [low * own, high * own + own - 1]);
    else {
      if ((countOf(sets[at] as Ranges) * lower.length) / 2 > pairsMax) return undefined;
      joined = pairs.flatMap(([low, high]) =>
        Array.from({ length: high - low + 1 }, (_, step) => lower.map((bound) => bound + (low + step) * own)).flat(),
      );
    }
    size *= 2 ** (widths[at] as number);
  }
  return joined;
};

/** Name of an atom for people: the key, a slice that has exactly its bits, or the key's bits. */
export const segmentKey = ({ offset, bits }: KeySegment, plan: LayoutPlan): string => {
  const key = keyFieldOf(plan.layout);
  const slice = [...plan.slices.values()].find((each) => each.offset === offset && each.bits === bits);
  if (slice !== undefined) return sliceDimensionName(slice.name);
  const name = key && fieldDimensionName(key.name);
  return bits === key?.bits ? `${name}` : `${name} bits ${offset}-${offset + bits - 1}`;
};

/** JSON of a value with the keys of its objects in order: equal for equal values. The order of arrays counts. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([x], [y]) => (x < y ? -1 : 1)))
      : part,
  ) ?? "";

/** Comparing two ordered lists of routes over one space of numbers, exactly, without trying each point. */

/** A route's values for each dimension of the space; `undefined` for all. The order of the list is that of precedence. */
export type SpaceRoute<Outcome> = { readonly outcome: Outcome; readonly sets: readonly (Ranges | undefined)[] };

/** Outcomes are compared by identity. */
export interface SpaceSide<Outcome> {
  readonly routes: readonly SpaceRoute<Outcome>[];
  readonly fallback: Outcome | undefined;
}

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
  depth = 0,
): readonly OutcomeChange<Outcome>[] => {
  const left = trim(before, depth);
  const right = trim(after, depth);
  if (left.routes.length === 0 && right.routes.length === 0) {
    if (left.fallback === right.fallback) return [];
    return [{ sets: spans.slice(depth), before: left.fallback, after: right.fallback }];
  }
  const span = spans[depth] as Ranges;
  const known = new Map<string, readonly OutcomeChange<Outcome>[]>();
  const found = new Map<string, { pairs: [number, number][]; inner: OutcomeChange<Outcome> }>();
  for (const { low, high, active } of segmentsOf(span, [left, right], depth)) {
    const key = active.map((side) => side.join()).join(";");
    const sides = [pick(left, active[0]), pick(right, active[1])] as const;
    const changes = known.get(key) ?? compareOutcomes(spans, ...sides, depth + 1);
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

const pick = <Outcome>({ routes, fallback }: SpaceSide<Outcome>, active: readonly number[] = []) => ({
  routes: active.map((at) => routes[at] as SpaceRoute<Outcome>),
  fallback,
});

/** Cuts a span where a route of either side begins or ends. */
function* segmentsOf(span: Ranges, sides: readonly SpaceSide<unknown>[], depth: number) {
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
