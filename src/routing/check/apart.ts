import type { Layout } from "../../ids/index.ts";
import type { Draft } from "../draft.ts";
import type { Report } from "../faults.ts";
import type { IdPlan, LayoutPlan } from "../layout-plans.ts";
import { boxFor, type ReadRoute, type RoutePlan } from "../route-plans.ts";

/**
 * Reports two layouts of one entity that one text can be, unless both lead to the same region whatever the keys.
 * Fixed bits tell layouts apart. So do times, where no text is inside the windows of both until `HORIZON_MS`.
 */
export const checkApart = (
  draft: Draft,
  planned: ReadonlyMap<string, RoutePlan>,
  routes: readonly ReadRoute[],
  report: Report,
): void => {
  for (const [entity, { ids }] of draft.entities) {
    const own = [...planned.values()].flatMap((routePlan) =>
      routePlan.plan.ids.filter((id) => id.entity === entity).map((id) => ({ id, routePlan })),
    );
    own.sort((a, b) => a.id.place - b.id.place);
    for (const [at, later] of own.entries()) {
      for (const earlier of own.slice(0, at)) {
        if (earlier.id.layout === later.id.layout || areApart(earlier.routePlan.plan, later.routePlan.plan)) continue;
        const regions = new Set([
          ...regionsOf(draft, earlier.routePlan, earlier.id, routes),
          ...regionsOf(draft, later.routePlan, later.id, routes),
        ]);
        if (regions.size < 2) continue;
        const names = `${ids[earlier.id.place]?.layout} and ${ids[later.id.place]?.layout}`;
        report(
          "indistinguishable-layouts",
          ["entities", entity, "ids", later.id.place],
          `One text can be of ${names}, and no bit and no time tells which, but their routes may differ; give the layouts separate entities and paths.`,
        );
      }
    }
  }
};

/** The windows of times move with the clock; layouts must stay apart until 2100-01-01T00:00:00Z. */
const HORIZON_MS = 4_102_444_800_000;

const areApart = (a: LayoutPlan, b: LayoutPlan): boolean => fixedBitsDiffer(a.layout, b.layout) || timesDiffer(a, b);

const fixedBitsDiffer = (a: Layout, b: Layout): boolean =>
  a.fixed.mask.some((mask, word) => {
    const both = mask & (b.fixed.mask[word] as number);
    return (((a.fixed.value[word] as number) ^ (b.fixed.value[word] as number)) & both) !== 0;
  });

/** Whether the leading bits of two layouts that begin with their time can never agree. */
const timesDiffer = (a: LayoutPlan, b: LayoutPlan): boolean => {
  const [first, second] = [leadingTimes(a), leadingTimes(b)];
  if (first === undefined || second === undefined) return false;
  const bits = Math.min(first.bits, second.bits);
  const cut = ({ from, to, bits: own }: LeadingTimes) =>
    [Math.floor(from / 2 ** (own - bits)), Math.floor(to / 2 ** (own - bits))] as const;
  const [low, high] = cut(first);
  const [otherLow, otherHigh] = cut(second);
  return high < otherLow || otherHigh < low;
};

/** Which values the first `bits` bits of a text have inside of the layout's window. */
interface LeadingTimes {
  readonly bits: number;
  readonly from: number;
  readonly to: number;
}

const leadingTimes = ({ layout, window }: LayoutPlan): LeadingTimes | undefined => {
  const row = layout.table.rows.find(({ role }) => role === "time");
  const field = row && layout.field(row.field);
  if (row?.role !== "time" || field === undefined || window === undefined || !isLeading(field.mask, field.bits))
    return undefined;
  const perUnit = row.unit === "s" ? 1000 : row.unit === "ms" ? 1 : undefined;
  if (perUnit === undefined) return undefined;
  const valueAt = (unixMs: number): number => Math.floor((unixMs - row.epochMs) / perUnit);
  return {
    bits: field.bits,
    from: Math.max(0, valueAt(window.fromMs)),
    to: Math.min(2 ** field.bits - 1, valueAt(HORIZON_MS)),
  };
};

/** Whether a field of 32 bits or more fills the text from its first bit on. */
const isLeading = (mask: readonly number[], bits: number): boolean => {
  const [first = 0, second = 0] = mask;
  if (first !== 0xffffffff || bits > 64) return false;
  return bits === 64 ? second === 0xffffffff : second >>> 0 === (bits === 32 ? 0 : (0xffffffff << (64 - bits)) >>> 0);
};

/** A region that IDs may go to; `undefined` stands for those that no route takes. */
const regionsOf = (
  draft: Draft,
  { placements }: RoutePlan,
  id: IdPlan,
  routes: readonly ReadRoute[],
): ReadonlySet<string | undefined> => {
  const regions = new Set<string | undefined>();
  for (const { index, region } of routes) {
    const placement = placements.get(index);
    const box = placement && boxFor(placement, id);
    if (box === undefined) continue;
    regions.add(region);
    if (box.every((set) => set === undefined)) return regions;
  }
  return regions.add(draft.fallback);
};
