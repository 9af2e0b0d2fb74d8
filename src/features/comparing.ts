import type { TableDiffs } from "../routing/diff/feature.ts";
import { corsDiffs } from "./cors/table/diff.ts";
import { directoryDiffs } from "./directory/table/diff.ts";
import { graphqlDiffs } from "./graphql/table/diff.ts";
import { packsDiffs } from "./packs/table/diff.ts";

/** The features in the difference of two tables, in the order of its parts. They are loaded where tables are compared. */
export const TABLE_DIFFS: readonly TableDiffs[] = [packsDiffs, directoryDiffs, corsDiffs, graphqlDiffs];
