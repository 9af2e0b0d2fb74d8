import type { RouteContext } from "../compile/conditions.ts";
import type { Budget } from "../limits.ts";
import type { FeatureSchema } from "../schema/compose.ts";
import type { Draft, DraftRoute } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";
import type { DeclaredTable } from "../schema/table.ts";

/** A feature in a declared table. */
export interface TableChecks {
  readonly name: string;
  readonly schema: FeatureSchema;
  /** First segments of paths that are its own in this table: nothing else may begin with them. */
  readonly reserves?: (table: DeclaredTable) => readonly string[];
  /** The rules in the order in which they are asked. `names`: of the whole table, with what does not decide yet. */
  readonly names?: (whole: Draft, report: Report) => void;
  readonly entities?: (draft: Draft, report: Report, budget: Budget) => void;
  readonly requests?: (draft: Draft, report: Report) => void;
  readonly routes?: (draft: Draft, report: Report) => void;
  /** Whether a route of a search can be placed. */
  readonly isSoundRoute?: (context: RouteContext, route: DraftRoute) => boolean;
  readonly use?: (draft: Draft) => Partial<FeatureUse>;
}

/** How much of its limits a table uses. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface FeatureUse {}
