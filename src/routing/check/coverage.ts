import {
  boxFor,
  idsIn,
  type Placed,
  type PlacedRoutes,
  type RoutePlan,
  type RoutePlans,
} from "../compile/route-plans.ts";
import type { Dimension, LayoutPlan } from "../layouts/plan.ts";
import { COVER_STEPS_MAX } from "../limits.ts";
import type { Box } from "../lookup/build-index.ts";
import { type IdIndex, NO_ROUTE } from "../lookup/id-index.ts";
import { intersect, type Ranges, subtract } from "../lookup/ranges.ts";
import type { DraftRoutes } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";

/** Reports routes that earlier ones cover, by proof only: once the steps are used up, every route counts as reachable. */
export const checkCover = (planned: RoutePlans, placed: Placed, routes: DraftRoutes, report: Report): void => {
  const budget = { steps: COVER_STEPS_MAX };
  for (const { index } of routes) {
    const winners = new Set<number>();
    if ([...placed].some(([name, own]) => winsSomewhere(own, planned.get(name)?.indexes, index, winners, budget)))
      continue;
    const message = `${nameRoutes(winners)} every ID that this route could match; move it up, narrow them or remove it.`;
    report("unreachable-route", ["routes", index], message);
  }
};

const nameRoutes = (winners: ReadonlySet<number>): string => {
  const all = [...winners].sort((a, b) => a - b);
  const shown = all.slice(0, 8).map((index) => `/routes/${index}`);
  if (all.length === 1) return `${shown[0]} comes earlier and takes`;
  return `${shown.join(", ")}${all.length > shown.length ? ` and ${all.length - shown.length} more` : ""} come earlier and take`;
};

const winsSomewhere = (
  { plan, placements, packs }: PlacedRoutes,
  indexes: RoutePlan["indexes"] | undefined,
  route: number,
  winners: Set<number>,
  budget: { steps: number },
): boolean => {
  // The ranges of a pack are not known here: its route may win any ID that no earlier route takes.
  const placement = placements.get(route) ?? packs.find(({ ordinal }) => ordinal === route)?.ids;
  if (placement === undefined) return false;
  for (const id of idsIn(placement, plan)) {
    const boxOf = (ordinal: number): Box | undefined => {
      const found = placements.get(ordinal);
      return found && boxFor(found, id);
    };
    const box = boxFor(placement, id);
    const index = indexes?.get(id);
    if (box === undefined || index === undefined) throw new Error(`route ${route} has no index`);
    if (winsIn(plan, index, route, box, boxOf, winners, budget)) return true;
  }
  return false;
};

const winsIn = (
  { dimensions }: LayoutPlan,
  index: IdIndex,
  route: number,
  box: Box,
  boxOf: (ordinal: number) => Box | undefined,
  winners: Set<number>,
  budget: { steps: number },
): boolean => {
  const whole = dimensions.map(({ min, max }, slot) => box[slot] ?? [min, max]);
  if (index.findValues(cornerOf(whole, (set) => set.at(-1) as number)) >= route) return true;
  const rest: (readonly Ranges[])[] = [whole];
  for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
    budget.steps -= 1 + sizeOf(part) / 4;
    if (budget.steps < 0) return true;
    const winner = index.findValues(cornerOf(part, (set) => set[0] as number));
    // The route of a pack is in no index, so a later route or none wins there.
    if (winner >= route) return true;
    const taken = boxOf(winner);
    if (winner === NO_ROUTE || taken === undefined) throw new Error(`route ${route} is not in its own index`);
    winners.add(winner);
    budget.steps -= sizeOf(taken) / 4;
    rest.push(...without(part, taken, dimensions));
  }
  return false;
};

/** How many numbers a step reads. */
const sizeOf = (box: Box): number => box.reduce((sum, set) => sum + (set?.length ?? 0), 0);

const cornerOf = (sets: readonly Ranges[], choose: (set: Ranges) => number) => new Float64Array(sets.map(choose));

/** One box without another, as boxes that do not overlap. */
const without = (part: readonly Ranges[], taken: Box, dimensions: readonly Dimension[]) => {
  const pieces: (readonly Ranges[])[] = [];
  let inside = part;
  for (const slot of dimensions.keys()) {
    const cut = taken[slot];
    if (cut === undefined) continue;
    const own = inside[slot] as Ranges;
    const outside = subtract(own, cut);
    if (outside.length > 0) pieces.push(inside.with(slot, outside));
    inside = inside.with(slot, intersect(own, cut));
  }
  return pieces;
};
