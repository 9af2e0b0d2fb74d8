import type { Budget } from "../budget.ts";
import type { Draft } from "../draft.ts";
import { patternsOf } from "../entity-paths.ts";
import type { Report } from "../faults.ts";
import { isOneIdentity } from "../identity.ts";
import type { IdPlan, LayoutPlan } from "../layout-plans.ts";
import { type Overlap, overlapOf } from "../overlap.ts";
import { boxFor } from "../placements.ts";
import type { RoutePlan, TakingRoute } from "../route-plans.ts";
import type { DeclaredRoute } from "../schema.ts";
import { readSplit } from "../split.ts";

/**
 * Reports two layouts of one entity that one text can be, unless both lead to the same region whatever the keys.
 * Fixed bits tell layouts apart, and so do times where no text is inside the windows of both, and text forms. Where every
 * pattern of the entity names a layout, two never meet but on `/any`, which refuses what it cannot tell.
 */
export const checkAmbiguity = (
  draft: Draft,
  planned: ReadonlyMap<string, RoutePlan>,
  routes: readonly TakingRoute[],
  report: Report,
  budget: Budget,
): void => {
  const overlapIn = rememberOverlaps(budget);
  for (const [entity, { ids, path }] of draft.entities) {
    if (patternsOf(path).every(({ layout }) => layout !== undefined)) continue;
    const own = [...planned.values()].flatMap((routePlan) =>
      routePlan.plan.ids.filter((id) => id.entity === entity).map((id) => ({ id, routePlan })),
    );
    own.sort((a, b) => a.id.place - b.id.place);
    for (const [at, later] of own.entries()) {
      for (const earlier of own.slice(0, at)) {
        const overlap =
          earlier.id.layout === later.id.layout ? undefined : overlapIn(earlier.routePlan.plan, later.routePlan.plan);
        if (overlap === undefined) continue;
        const targets = new Map([
          ...targetsOf(draft, earlier.routePlan, earlier.id, routes, budget),
          ...targetsOf(draft, later.routePlan, later.id, routes, budget),
        ]);
        if (budget.isSpent) return;
        const [target] = targets.values();
        const isParted =
          (target?.canary ?? target?.split) !== undefined &&
          !isOneIdentity(earlier.routePlan.plan.layout, later.routePlan.plan.layout);
        if (targets.size < 2 && !isParted) continue;
        const names = `${ids[earlier.id.place]?.layout} and ${ids[later.id.place]?.layout}`;
        const why =
          targets.size < 2
            ? "but each of them has a place of its own among the route's shares; remove the canary or the split, or"
            : "but their routes may differ;";
        report(
          "indistinguishable-layouts",
          ["entities", entity, "ids", later.id.place],
          `One text can be of ${names}, ${exampleOf(overlap)}and no bit and no time tells which, ${why} give the layouts separate entities and paths, or name a layout in every pattern.`,
        );
      }
    }
  }
};

/** The search for a text that two layouts read tries hundreds. */
const OVERLAP_CELLS = 5_000;

/** Two layouts overlap in every entity alike; `undefined` as well where the budget does not reach. */
const rememberOverlaps = (budget: Budget): ((a: LayoutPlan, b: LayoutPlan) => Overlap | undefined) => {
  const known = new Map<string, Overlap | undefined>();
  return (a, b) => {
    const pair = `${a.layout.name} ${b.layout.name}`;
    if (!known.has(pair)) known.set(pair, budget.spend(OVERLAP_CELLS) ? overlapOf(a, b) : undefined);
    return known.get(pair);
  };
};

const exampleOf = ({ example }: Overlap): string => (example === undefined ? "" : `such as ${example}, `);

/** Where IDs may go, or the first two such goals, by what tells them apart. Without a region no route takes them. */
const targetsOf = (
  { fallback }: Draft,
  { placements, packs }: RoutePlan,
  id: IdPlan,
  routes: readonly TakingRoute[],
  budget: Budget,
): ReadonlyMap<string, Target> => {
  const targets = new Map<string, Target>();
  const add = ({ region, canary, split }: Target) =>
    targets.set(JSON.stringify([region, canary, split]), { region, canary, split });
  for (const { index, route } of routes) {
    if (targets.size > 1 || !budget.spend(1)) return targets;
    const pack = packs.find(({ ordinal, ids }) => ordinal === index && ids.has(id));
    for (const region of pack?.declared.regions ?? []) add({ region });
    const placement = placements.get(index);
    const box = placement && boxFor(placement, id);
    if (box === undefined) continue;
    add({ region: route.region, canary: route.canary, split: route.split && readSplit(route.split).regions });
    if (box.every((set) => set === undefined)) return targets;
  }
  return add({ region: fallback });
};

interface Target {
  readonly region: string | undefined;
  readonly canary?: DeclaredRoute["canary"];
  readonly split?: readonly string[] | undefined;
}
