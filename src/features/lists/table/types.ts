import type { Entity, Target } from "../../../routing/table.ts";

/** How a collection is listed over all regions, compiled. */

export type NextPage =
  | { readonly kind: "none" }
  | { readonly kind: "link" }
  | { readonly kind: "member"; readonly path: readonly string[] }
  | { readonly kind: "cursor"; readonly path: readonly string[]; readonly query: string };

export type KeyType = "string" | "number" | "time";

/** The sort key of items; ties are sorted by ID. `path`: of a member; `undefined` for the time of the ID. */
export interface ListOrder {
  readonly path: readonly string[] | undefined;
  readonly type: KeyType;
  readonly isDescending: boolean;
  /** Whether all IDs are decimal numbers, and are compared as such. */
  readonly hasDecimalIds: boolean;
}

/** IDs by what a filter says of them. `countries`: their numbers; `undefined` for all. Unix ms, both ends included. */
export interface WantedIds {
  readonly countries: readonly number[] | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

export type RegionFilter = (wanted: WantedIds) => ReadonlySet<string>;

export interface List {
  readonly entity: Entity;
  readonly path: string;
  readonly items: readonly string[];
  readonly id: readonly string[];
  readonly next: NextPage;
  /** `undefined`: items come as regions answer. */
  readonly order: ListOrder | undefined;
  readonly pageSize: number;
  readonly pageSizeQuery: string | undefined;
  readonly pageBytesMax: number;
  readonly limit: { readonly query: string; readonly default: number; readonly max: number };
  readonly pagesMax: number;
  readonly cursorQuery: string;
  readonly cursorMs: number;
  /** Characters that a region's own cursor may have. */
  readonly pageCursorMax: number;
  readonly scopeClaim: readonly string[] | undefined;
  readonly scopeCookie: string | undefined;
  readonly regionDeadlineMs: number;
  readonly mayBePartial: boolean;
  readonly filters: {
    readonly region: string | undefined;
    readonly country: string | undefined;
    readonly mintedAfter: string | undefined;
    readonly mintedBefore: string | undefined;
  };
  readonly answer: { readonly items: string; readonly next: string; readonly summary: string };
  /** By region, in the order of the table. No other region answers for one: it has items of its own. */
  readonly targets: ReadonlyMap<string, Target>;
  /** Names of the regions that may own wanted IDs of the entity, and some more; `undefined`: any may. */
  readonly regionsOf: RegionFilter | undefined;
}

declare module "../../../routing/table.ts" {
  interface CompiledTable {
    /** Collections that are listed over all regions, by path; `undefined` where there are none. */
    readonly lists?: ReadonlyMap<string, List> | undefined;
  }
}
