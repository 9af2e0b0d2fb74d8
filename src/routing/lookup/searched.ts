import type { Words } from "../../ids/index.ts";
import type { IdPlan } from "../layouts/plan.ts";
import type { Found } from "../table.ts";
import type { Box } from "./build-index.ts";
import { type IdIndex, NO_ROUTE, type RouteTargets } from "./id-index.ts";

/** Routes that no index holds, such as those to ranges in a file: each is searched when the routes before it take no ID. */

/** Such a route in a layout's ID space. */
export interface Searched {
  /** Its name: the feature searches it. */
  readonly feature: string;
  readonly ordinal: number;
  /** The regions that it may lead to. */
  readonly regions: readonly string[];
  /** The entities that it applies to. Their boxes have no bounds. */
  readonly ids: ReadonlyMap<IdPlan, Box>;
}

export interface Search {
  readonly ordinal: number;
  /** `undefined`: the ID goes on to the routes behind it. */
  readonly find: (words: Words) => Found | undefined;
}

/** Those before the matching route are searched first. Something that is not loaded ends the search: any later route would be a guess. */
export const searchFinder = (index: IdIndex, searches: readonly Search[], targets: RouteTargets<Found | undefined>) => {
  const { byOrdinal, fallback } = targets;
  const sorted = searches.toSorted((a, b) => a.ordinal - b.ordinal);
  const ordinalOf = index.targetFinder({ byOrdinal: byOrdinal.map((_, ordinal) => ordinal), fallback: NO_ROUTE });
  return (words: Words): Found | undefined => {
    const ordinal = ordinalOf(words) ?? NO_ROUTE;
    for (let at = 0; at < sorted.length; at++) {
      const search = sorted[at] as Search;
      if (search.ordinal > ordinal) break;
      const found = search.find(words);
      if (found !== undefined) return found;
    }
    return ordinal === NO_ROUTE ? fallback : byOrdinal[ordinal];
  };
};
