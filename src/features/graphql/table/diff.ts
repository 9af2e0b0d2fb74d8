import type { TableDiffs } from "../../../routing/diff/feature.ts";
import { type Changed, diffValue } from "../../../routing/diff/parts.ts";
import type { DeclaredGraphql } from "./schema.ts";

export const graphqlDiffs: TableDiffs = {
  name: "graphql",
  diff: (before, after) => ({ graphql: diffValue(before.table.graphql, after.table.graphql) }),
};

declare module "../../../routing/diff/feature.ts" {
  interface FeatureDiff {
    readonly graphql: Changed<DeclaredGraphql | undefined> | undefined;
  }
}
