import type { Draft, DraftRoute } from "../schema/draft.ts";
import { pointerTo } from "../schema/faults.ts";
import { canonical } from "./key-space.ts";

export type Changed<Value> = { readonly before: Value; readonly after: Value };

export interface PartDiff<Value> {
  readonly added: Readonly<Record<string, Value>>;
  readonly removed: Readonly<Record<string, Value>>;
  readonly changed: Readonly<Record<string, Changed<Value>>>;
}

export const diffValue = <Value>(before: Value, after: Value): Changed<Value> | undefined =>
  isSame(before, after) ? undefined : { before, after };

export const diffPart = <Value>(before: ReadonlyMap<string, Value>, after: ReadonlyMap<string, Value>) => {
  const changed = [...after].flatMap(([name, value]) => {
    const old = before.get(name);
    const change = old === undefined ? undefined : diffValue(old, value);
    return change === undefined ? [] : [[name, change] as const];
  });
  return {
    added: Object.fromEntries([...after].filter(([name]) => !before.has(name))),
    removed: Object.fromEntries([...before].filter(([name]) => !after.has(name))),
    changed: Object.fromEntries(changed),
  };
};

/** Whether two JSON values are equal; the order of keys does not matter, that of arrays does. Most are equal as they stand. */
export const isSame = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b) || canonical(a) === canonical(b);

/** A canary or a shadow that differs between two tables. Plain JSON. */
export interface ShareChange {
  readonly part: "canary" | "shadow";
  /** `undefined` where the route, or the table, has none. */
  readonly before: RouteShare | undefined;
  readonly after: RouteShare | undefined;
}

/** `route`: JSON pointer. */
export type RouteShare = { readonly route: string; readonly region: string; readonly percent: number };

/** Routes are held against those with the same conditions: their places change whenever one is added. */
export const diffShares = (before: Draft, after: Draft): readonly ShareChange[] => {
  if (!hasShares(before) && !hasShares(after)) return [];
  const left = byConditions(before);
  const right = byConditions(after);
  const all = new Set([...right.keys(), ...left.keys()]);
  return [...all].flatMap((conditions) =>
    (["canary", "shadow"] as const).flatMap((part) => {
      const before = shareOf(left.get(conditions), part);
      const after = shareOf(right.get(conditions), part);
      const isSame = before?.region === after?.region && before?.percent === after?.percent;
      return isSame ? [] : [{ part, before, after }];
    }),
  );
};

/** Most tables have none, and their conditions need not be read. */
const hasShares = ({ routes }: Draft): boolean =>
  routes.some(({ route: { canary, shadow } }) => canary !== undefined || shadow !== undefined);

/** The first of two routes with the same conditions counts: it takes every ID. */
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
