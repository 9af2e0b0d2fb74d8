import type { TableDiffs } from "../../../routing/diff/feature.ts";
import { type Changed, diffValue } from "../../../routing/diff/parts.ts";
import type { DeclaredCors } from "./schema.ts";

export const corsDiffs: TableDiffs = {
  name: "cors",
  diff: (before, after) => ({ cors: diffValue(before.table.cors, after.table.cors) }),
};

declare module "../../../routing/diff/feature.ts" {
  interface FeatureDiff {
    readonly cors: Changed<DeclaredCors | undefined> | undefined;
  }
}
