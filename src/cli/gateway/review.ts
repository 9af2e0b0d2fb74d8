import { ok, type Result } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { countChanges, formatChanges } from "../lib/diff-summary.ts";
import type { TableFile } from "../lib/table-file.ts";
import { formatWarning, type PlanWarning, undoesMoves, warningsOf } from "../lib/warnings.ts";
import type { Runtime } from "../runtime.ts";
import type { GatewayClient } from "./client.ts";

/** What a change of the table in force would do, for whoever is asked about it. */
export interface Review {
  /** The same as `waybill table plan` has. */
  readonly warnings: readonly PlanWarning[];
  /** What changes, then the warnings, for stderr. */
  readonly text: string;
}

type Named = Pick<TableFile<DeclaredTable>, "name" | "table">;

/** `path` as for `countChanges`, `canary`: the revision of one that the change would end. The error is for stderr. */
export const reviewChange = async (
  before: Named,
  after: Named,
  path: string | undefined,
  canary: number | undefined,
  runtime: Pick<Runtime, "readFile" | "fileExists" | "nowMs">,
): Promise<Result<Review, string>> => {
  const changes = await countChanges(before, after, path, runtime);
  if (!changes.ok) return changes;
  const warnings = warningsOf(before.table, after.table, changes.value.counts, canary);
  const lines = warnings.map((warning) => `warning: ${formatWarning(warning)}\n`);
  return ok({ warnings, text: formatChanges(changes.value) + lines.join("") });
};

/** A gateway that cannot say it refuses the change by itself. */
export const runningCanary = async (gateway: GatewayClient): Promise<number | undefined> => {
  const status = await gateway.status();
  return status.ok ? status.value.canary?.revision : undefined;
};

export const OVER_MOVES = "--over-moves";
export const OVER_MOVES_HELP = "allow undoing steps of moves whose epochs the regions already have";

/** Why a change is not made, for stderr: it undoes steps of moves, and nobody said that it shall. */
export const undoneMovesError = ({ warnings }: Review, overMoves = false): string | undefined =>
  overMoves || !undoesMoves(warnings)
    ? undefined
    : "error: the change undoes steps of moves; regions would reject valid requests or accept invalid ones\n" +
      "  keep the entries of the current table and undo a move by a new move; to override, pass --over-moves\n" +
      "nothing was changed\n";
