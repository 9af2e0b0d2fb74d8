import { listOf } from "../compile/conditions.ts";
import {
  COMPLEXITY_MAX,
  ENTITIES_MAX,
  LAYOUTS_MAX,
  MOVED_MAX,
  PACKS_BYTES_MAX,
  PACKS_MAX,
  PATTERNS_MAX,
  REGIONS_MAX,
  ROUTES_MAX,
  TABLE_BYTES_MAX,
  VALUES_MAX,
  WITHOUT_ID_MAX,
} from "../limits.ts";
import { PACK_RANGES_MAX } from "../packs/format.ts";
import type { Draft } from "../schema/draft.ts";
import { valuesIn } from "../schema/validate.ts";

/** How much of a cap a table takes up. */
export interface Use {
  readonly used: number;
  readonly max: number;
}

/** What a table takes up of each cap. `overrides`: entries of `moved`, `moves` and `gone` together. */
export interface TableUse {
  /** Bytes of the text. */
  readonly bytes: Use;
  readonly routes: Use;
  readonly regions: Use;
  readonly entities: Use;
  readonly paths: Use;
  readonly layouts: Use;
  readonly withoutId: Use;
  readonly overrides: Use;
  /** All values besides routes and single entities. */
  readonly values: Use;
  readonly packs: Use;
  /** Of all packs together. */
  readonly packBytes: Use;
  /** Of the pack that has most. */
  readonly packRanges: Use;
  /** Cells, see `Budget`: what checking and compiling cost. */
  readonly complexity: Use;
}

export const useOf = (draft: Draft, declared: object, bytes: number, cells: number): TableUse => ({
  bytes: { used: bytes, max: TABLE_BYTES_MAX },
  routes: { used: draft.routes.length, max: ROUTES_MAX },
  regions: { used: draft.regions.size, max: REGIONS_MAX },
  entities: { used: draft.entities.size, max: ENTITIES_MAX },
  paths: {
    used: [...draft.entities.values()].reduce((count, { path }) => count + listOf(path).length, 0),
    max: PATTERNS_MAX,
  },
  layouts: { used: draft.layouts.size, max: LAYOUTS_MAX },
  withoutId: { used: draft.withoutId.size, max: WITHOUT_ID_MAX },
  packs: { used: draft.packs.size, max: PACKS_MAX },
  packBytes: { used: [...draft.packs.values()].reduce((sum, { bytes }) => sum + bytes, 0), max: PACKS_BYTES_MAX },
  packRanges: { used: Math.max(0, ...[...draft.packs.values()].map(({ ranges }) => ranges)), max: PACK_RANGES_MAX },
  overrides: { used: draft.moved.ids.length + draft.moves.ids.length + draft.gone.ids.length, max: MOVED_MAX },
  values: { used: valuesIn(declared).reduce((sum, [, count]) => sum + count, 0), max: VALUES_MAX },
  complexity: { used: Math.ceil(cells), max: COMPLEXITY_MAX },
});
