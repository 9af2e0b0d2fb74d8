import type { Draft } from "../draft.ts";
import type { Report } from "../faults.ts";
import type { IdPlan } from "../layout-plans.ts";
import { type Overlap, overlapOf } from "../overlap.ts";
import { boxFor, type ReadRoute, type RoutePlan } from "../route-plans.ts";

/**
 * Reports two layouts of one entity that one text can be, unless both lead to the same region whatever the keys.
 * Fixed bits tell layouts apart, and so do times where no text is inside the windows of both, and text forms.
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
        if (earlier.id.layout === later.id.layout) continue;
        const regions = new Set([
          ...regionsOf(draft, earlier.routePlan, earlier.id, routes),
          ...regionsOf(draft, later.routePlan, later.id, routes),
        ]);
        const overlap = regions.size < 2 ? undefined : overlapOf(earlier.routePlan.plan, later.routePlan.plan);
        if (overlap === undefined) continue;
        const names = `${ids[earlier.id.place]?.layout} and ${ids[later.id.place]?.layout}`;
        report(
          "indistinguishable-layouts",
          ["entities", entity, "ids", later.id.place],
          `One text can be of ${names}, ${exampleOf(overlap)}and no bit and no time tells which, but their routes may differ; give the layouts separate entities and paths.`,
        );
      }
    }
  }
};

const exampleOf = ({ example }: Overlap): string => (example === undefined ? "" : `such as ${example}, `);

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
