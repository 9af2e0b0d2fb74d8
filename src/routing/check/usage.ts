import * as limits from "../limits.ts";
import { patternsOf } from "../lookup/paths.ts";
import type { Draft } from "../schema/draft.ts";
import { OVERRIDE_PARTS } from "../schema/records.ts";
import { valuesIn } from "../schema/validate.ts";
import type { FeatureUse, TableChecks } from "./feature.ts";

export type Use = { readonly used: number; readonly max: number };

/** `overrides`: `moved`, `moves` and `gone`. `values`: all others. */
export type TableUse = ReturnType<typeof useOf>;

export const useOf = (
  draft: Draft,
  declared: object,
  bytes: number,
  cells: number,
  features: readonly TableChecks[],
) => {
  const use = (used: number, max: number): Use => ({ used, max });
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return {
    bytes: use(bytes, limits.TABLE_BYTES_MAX),
    routes: use(draft.routes.length, limits.ROUTES_MAX),
    regions: use(draft.regions.size, limits.REGIONS_MAX),
    entities: use(draft.entities.size, limits.ENTITIES_MAX),
    paths: use(sum([...draft.entities.values()].map(({ path }) => patternsOf(path).length)), limits.PATTERNS_MAX),
    layouts: use(draft.layouts.size, limits.LAYOUTS_MAX),
    withoutId: use(draft.withoutId.size, limits.WITHOUT_ID_MAX),
    ...(Object.assign({}, ...features.map((feature) => feature.use?.(draft))) as FeatureUse),
    overrides: use(sum(OVERRIDE_PARTS.map((part) => draft[part].ids.length)), limits.MOVED_MAX),
    values: use(sum(valuesIn(declared).map(([, count]) => count)), limits.VALUES_MAX),
    complexity: use(Math.ceil(cells), limits.COMPLEXITY_MAX),
  };
};
