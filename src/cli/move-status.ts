import type { DeclaredTable } from "../routing/schema.ts";
import { alignColumns } from "./columns.ts";
import { collectIds, openForEdit } from "./move-file.ts";
import type { EntityLocation } from "./move-steps.ts";
import { locator } from "./move-table.ts";
import { formatLocation } from "./move-text.ts";
import { escapeControls } from "./printable.ts";
import { fail } from "./refuse.ts";
import { countOf } from "./table-file.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

interface Options {
  readonly table?: string;
  readonly json?: boolean;
}

/** `waybill move status`: where entities are, or all that are under way. */
export const showStatus = async (
  runtime: Runtime,
  args: readonly string[],
  { table, json }: Options,
): Promise<ExitCode> => {
  const opened = await openForEdit(table, runtime);
  if (!opened.ok) {
    return fail(opened.error, runtime);
  }
  const { declared, name } = opened.value;
  const { found, refusals } = args.length === 0 ? inProgress(declared) : await locateAll(declared, args, runtime);
  const lines = json
    ? found.map(([id, at]) => JSON.stringify({ id, ...at }))
    : alignColumns(found.map(([id, at]) => formatLocation(id, at)));
  await runtime.print(lines.map((line) => `${line}\n`).join(""));
  runtime.report(refusals === "" ? `${escapeControls(name)}: ${countsOf(declared)}\n` : refusals);
  return refusals === "" ? EXIT.ok : EXIT.failed;
};

interface Found {
  readonly found: readonly (readonly [id: string, at: EntityLocation])[];
  readonly refusals: string;
}

const inProgress = ({ moves = {} }: DeclaredTable): Found => ({ found: Object.entries(moves), refusals: "" });

const locateAll = async (declared: DeclaredTable, args: readonly string[], runtime: Runtime): Promise<Found> => {
  const ids = await collectIds(args, runtime);
  if (!ids.ok) return { found: [], refusals: ids.error };
  const locate = locator(declared, runtime.nowMs());
  const found: (readonly [string, EntityLocation])[] = [];
  let refusals = "";
  for (const text of ids.value) {
    const located = locate(text);
    if (located.ok) found.push([located.value.id, located.value.at]);
    else refusals += `error: ${escapeControls(text)}: ${escapeControls(located.error)}\n`;
  }
  return { found, refusals };
};

const countsOf = ({ moves = {}, moved = {}, gone = {} }: DeclaredTable): string => {
  const count = (part: object): number => Object.keys(part).length;
  return `${countOf(count(moves), "move")} under way, ${count(moved)} moved, ${count(gone)} gone`;
};
