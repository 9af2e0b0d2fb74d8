import { ok, type Result } from "../ids/index.ts";
import { diffTables } from "../routing/diff.ts";
import type { DeclaredTable } from "../routing/schema.ts";
import { countDiff, type DiffCounts } from "./diff-counts.ts";
import { formatDiffCounts } from "./diff-counts-text.ts";
import { formatMissing, type MissingPack, missedBy, openPackFiles, withSlots } from "./pack-shelf.ts";
import type { TableFile } from "./table-file.ts";
import type { Runtime } from "./world.ts";

/** What lies between two tables, as numbers. */
export interface CountedChanges {
  /** `undefined` where it is nothing. */
  readonly counts: DiffCounts | undefined;
  /** Lines for stderr about packs that are not at hand: keys that come to them count as changed. */
  readonly notes: string;
}

type Named = Pick<TableFile<DeclaredTable>, "name" | "table">;

/**
 * Counts what changes between two tables without fault, key by key where their packs are at hand. `path`: beside which table they
 * lie; `undefined` for the current folder. The error is for stderr.
 */
export const countChanges = async (
  before: Named,
  after: Named,
  path: string | undefined,
  runtime: Pick<Runtime, "readFile" | "fileExists" | "nowMs">,
): Promise<Result<CountedChanges, string>> => {
  const packFiles = openPackFiles([path], runtime);
  const missing: MissingPack[] = [];
  for (const { name, table } of [before, after]) {
    const filled = await packFiles.load({ name, table: withSlots(table) });
    if (!filled.ok) return filled;
    missing.push(...filled.value);
  }
  const diff = diffTables(before.table, after.table, packFiles.contents, runtime.nowMs());
  const counts = diff.isEmpty ? undefined : countDiff(diff);
  return ok({ counts, notes: formatMissing(missedBy(diff, missing)) });
};

/** The same for people, on stderr: it belongs to a question, and stdout is for the outcome. */
export const formatChanges = ({ counts, notes }: CountedChanges): string =>
  (counts === undefined ? "no differences but in the text\n" : formatDiffCounts(counts)) + notes;
