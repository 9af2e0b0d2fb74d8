import type { Placed, PlacedRoutes, Placement, RoutePlan, RoutePlans } from "../compile/route-plans.ts";
import { boxFor, idsIn } from "../compile/route-plans.ts";
import type { Dimension } from "../layouts/plan.ts";
import { COVER_STEPS_MAX } from "../limits.ts";
import type { Box } from "../lookup/build-index.ts";
import { NO_ROUTE } from "../lookup/id-index.ts";
import { intersect, type Ranges, subtract } from "../lookup/ranges.ts";
import type { DraftRoutes } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";

/** Reports routes that earlier ones cover, by proof only: once the steps are used up, every route counts as reachable. */
export const checkCover = (planned: RoutePlans, placed: Placed, routes: DraftRoutes, report: Report): void => {
  let stepsLeft = COVER_STEPS_MAX;
  for (const { index } of routes) {
    const winners = new Set<number>();
    const wins = ({ plan, placements, searched }: PlacedRoutes, indexes: RoutePlan["indexes"] | undefined): boolean => {
      // The finds of a search are not known here: its route may win any ID that no earlier route takes.
      const placement = placements.get(index) ?? searched.find(({ ordinal }) => ordinal === index)?.ids;
      for (const id of placement === undefined ? [] : idsIn(placement, plan)) {
        const box = boxFor(placement as Placement, id);
        const ids = indexes?.get(id);
        if (box === undefined || ids === undefined) throw new Error(`route ${index} has no index`);
        const whole = plan.dimensions.map(({ min, max }, slot) => box[slot] ?? [min, max]);
        if (ids.findValues(cornerOf(whole, (set) => set.at(-1) as number)) >= index) return true;
        const rest: (readonly Ranges[])[] = [whole];
        for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
          stepsLeft -= 1 + sizeOf(part) / 4;
          if (stepsLeft < 0) return true;
          const winner = ids.findValues(cornerOf(part, (set) => set[0] as number));
          // A route that is searched is in no index, so a later route or none wins there.
          if (winner >= index) return true;
          const winning = placements.get(winner);
          const taken = winning && boxFor(winning, id);
          if (winner === NO_ROUTE || taken === undefined) throw new Error(`route ${index} is not in its own index`);
          winners.add(winner);
          stepsLeft -= sizeOf(taken) / 4;
          rest.push(...boxWithout(part, taken, plan.dimensions));
        }
      }
      return false;
    };
    if ([...placed].some(([name, own]) => wins(own, planned.get(name)?.indexes))) continue;
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

/** How many numbers a step reads. */
const sizeOf = (box: Box): number => box.reduce((sum, set) => sum + (set?.length ?? 0), 0);

const cornerOf = (sets: readonly Ranges[], choose: (set: Ranges) => number) => new Float64Array(sets.map(choose));

/** One box without another, as boxes that do not overlap. */
export const boxWithout = (part: readonly Ranges[], taken: Box, dimensions: readonly Dimension[]) => {
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
