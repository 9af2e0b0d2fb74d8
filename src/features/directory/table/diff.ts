import type { TableDiffs } from "../../../routing/diff/feature.ts";
import { diffPart, type PartDiff } from "../../../routing/diff/parts.ts";
import { declaredIn } from "./compile.ts";
import type { DeclaredDirectory } from "./schema.ts";

export const directoryDiffs: TableDiffs = {
  name: "directory",
  diff: (before, after) => ({ directory: diffPart(declaredIn(before), declaredIn(after)) }),
};

declare module "../../../routing/diff/feature.ts" {
  interface FeatureDiff {
    readonly directory: PartDiff<DeclaredDirectory>;
  }
}
