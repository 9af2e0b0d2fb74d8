import type { RouteContext } from "../compile/conditions.ts";
import type { CountedChange, KeyOutcome, LayoutSide, Space } from "../diff/key-changes.ts";
import type { KeySegment, OutcomeChange } from "../diff/key-space.ts";
import type { LayoutPlan } from "../layouts/plan.ts";
import type { Budget } from "../limits.ts";
import type { Searched } from "../lookup/searched.ts";
import type { FeatureSchema } from "../schema/compose.ts";
import type { Draft, DraftRoute } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";

/** A feature in a declared table. */
export interface TableChecks {
  readonly name: string;
  readonly schema: FeatureSchema;
  /** The rules in the order in which they are asked. `names`: of the whole table, with what does not decide yet. */
  readonly names?: (whole: Draft, report: Report) => void;
  readonly entities?: (draft: Draft, report: Report, budget: Budget) => void;
  readonly requests?: (draft: Draft, report: Report) => void;
  readonly routes?: (draft: Draft, report: Report) => void;
  /** Whether a route of a search can be placed. */
  readonly isSoundRoute?: (context: RouteContext, route: DraftRoute) => boolean;
  readonly use?: (draft: Draft) => Partial<FeatureUse>;
  readonly diff?: (before: Draft, after: Draft) => Partial<FeatureDiff>;
  /** Compares keys that routes of its search may take. */
  readonly diffSearched?: (contents: DiffContents) => SearchedDiff;
}

export interface SearchedDiff {
  /** Two of one name take the same keys to the same regions. */
  readonly nameOf: (searched: Searched) => string;
  readonly compare: (sides: readonly LayoutSide[]) => SearchedComparison;
}

export interface SearchedComparison {
  /** Where the key must be cut so that what is searched stands apart. */
  readonly cuts: readonly KeySegment[];
  /** A change behind searched routes becomes one for each way that its keys go. */
  readonly expand: (change: OutcomeChange<KeyOutcome>, plan: LayoutPlan, space: Space) => readonly CountedChange[];
}

/** Contents of files that tables name, as far as they are at hand. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface DiffContents {}

/** How much of its limits a table uses. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface FeatureUse {}

/** The differences of two tables in what features declare. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface FeatureDiff {}
