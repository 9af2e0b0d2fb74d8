import type { LayoutPlan } from "../layouts/plan.ts";
import type { Searched } from "../lookup/searched.ts";
import type { Draft } from "../schema/draft.ts";
import type { CountedChange, KeyOutcome, LayoutSide, Space } from "./key-changes.ts";
import type { KeySegment, OutcomeChange } from "./key-space.ts";

/** A feature in the difference of two declared tables. */
export interface TableDiffs {
  readonly name: string;
  readonly diff: (before: Draft, after: Draft) => Partial<FeatureDiff>;
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

/**
 * The differences of two tables in what features declare: each a `PartDiff`, or a `Changed` of a part as a whole. People read its key
 * as its name.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface FeatureDiff {}
