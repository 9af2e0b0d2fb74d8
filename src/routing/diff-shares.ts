import { canonical } from "./canonical.ts";
import type { Draft, DraftRoute } from "./draft.ts";
import { pointerTo } from "./faults.ts";

/** A canary or a shadow that differs between two tables. Plain JSON. */
export interface ShareChange {
  readonly part: "canary" | "shadow";
  /** `undefined` where the route, or the table, has none. */
  readonly before: RouteShare | undefined;
  readonly after: RouteShare | undefined;
}

export interface RouteShare {
  /** JSON pointer. */
  readonly route: string;
  readonly region: string;
  readonly percent: number;
}

/** Routes are held against those with the same conditions: their places change whenever one is added. */
export const diffShares = (before: Draft, after: Draft): readonly ShareChange[] => {
  if (!hasShares(before) && !hasShares(after)) return [];
  const left = byConditions(before);
  const right = byConditions(after);
  const all = new Set([...right.keys(), ...left.keys()]);
  return [...all].flatMap((conditions) =>
    (["canary", "shadow"] as const).flatMap((part) => {
      const change = { part, before: shareOf(left.get(conditions), part), after: shareOf(right.get(conditions), part) };
      return isSame(change.before, change.after) ? [] : [change];
    }),
  );
};

/** Most tables have none, and their conditions need not be read. */
const hasShares = ({ routes }: Draft): boolean =>
  routes.some(({ route: { canary, shadow } }) => canary !== undefined || shadow !== undefined);

/** Of two routes with the same conditions the first one counts: it takes every ID. */
const byConditions = ({ routes }: Draft): ReadonlyMap<string, DraftRoute> => {
  const found = new Map<string, DraftRoute>();
  for (const each of routes) {
    const conditions = canonical(each.route.when);
    if (!found.has(conditions)) found.set(conditions, each);
  }
  return found;
};

const shareOf = (found: DraftRoute | undefined, part: ShareChange["part"]): RouteShare | undefined => {
  const share = found?.route[part];
  return found && share && { route: pointerTo(["routes", found.index]), ...share };
};

const isSame = (a: RouteShare | undefined, b: RouteShare | undefined): boolean =>
  a?.region === b?.region && a?.percent === b?.percent;
