import type { DeclaredTable } from "../routing/schema.ts";
import type { DiffCounts } from "./diff-counts.ts";
import { formatUndone, type UndoneCount, undoneCount } from "./singles-text.ts";

/** What docs/guides/move-entities.md forbids: tables that undo steps of moves. Plain JSON. */
export type StepWarning =
  | UndoneCount
  /** 0: the table has none. */
  | { readonly kind: "epoch-floor-falls"; readonly from: number; readonly to: number };

export const stepWarnings = (
  before: DeclaredTable,
  after: DeclaredTable,
  changes: DiffCounts | undefined,
): readonly StepWarning[] => {
  const [from, to] = [before.epochFloor ?? 0, after.epochFloor ?? 0];
  return [
    ...(changes?.overrides.undone ?? []).map(undoneCount),
    ...(to < from ? [{ kind: "epoch-floor-falls", from, to } as const] : []),
  ];
};

const STEP_KINDS: readonly string[] = [
  "move-lost",
  "epoch-falls",
  "epoch-stands",
  "no-longer-gone",
  "epoch-floor-falls",
] satisfies readonly StepWarning["kind"][];

/** Whether a table has to be published over steps of moves. */
export const undoesMoves = (warnings: readonly { readonly kind: string }[]): boolean =>
  warnings.some(({ kind }) => STEP_KINDS.includes(kind));

export const formatStep = (warning: StepWarning): string => {
  if (warning.kind === "epoch-floor-falls") {
    return `epochFloor falls from ${warning.from} to ${warning.to}: new moves may begin with epochs that regions know already`;
  }
  return formatUndone(warning);
};
