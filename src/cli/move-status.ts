import type { DeclaredTable } from "../routing/schema.ts";
import { alignColumns } from "./columns.ts";
import { collectIds, openForEdit } from "./move-file.ts";
import type { Whereabouts } from "./move-steps.ts";
import { locator } from "./move-table.ts";
import { whereaboutsCells } from "./move-text.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { countOf } from "./table-file.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options {
  readonly table?: string;
  readonly json?: boolean;
}

/** `waybill move status`: where entities are, or all that are under way. */
export const showStatus = async (
  world: World,
  args: readonly string[],
  { table, json }: Options,
): Promise<ExitCode> => {
  const opened = await openForEdit(table, world);
  if (!opened.ok) {
    return refuse(opened.error, world);
  }
  const { declared, name } = opened.value;
  const { found, refusals } = args.length === 0 ? underWay(declared) : await locateAll(declared, args, world);
  const lines = json
    ? found.map(([id, at]) => JSON.stringify({ id, ...at }))
    : alignColumns(found.map(([id, at]) => whereaboutsCells(id, at)));
  await world.print(lines.map((line) => `${line}\n`).join(""));
  world.report(refusals === "" ? `${printable(name)}: ${countsOf(declared)}\n` : refusals);
  return refusals === "" ? EXIT.ok : EXIT.failed;
};

interface Found {
  readonly found: readonly (readonly [id: string, at: Whereabouts])[];
  readonly refusals: string;
}

const underWay = ({ moves = {} }: DeclaredTable): Found => ({ found: Object.entries(moves), refusals: "" });

const locateAll = async (declared: DeclaredTable, args: readonly string[], world: World): Promise<Found> => {
  const ids = await collectIds(args, world);
  if (!ids.ok) return { found: [], refusals: ids.error };
  const locate = locator(declared, world.nowMs());
  const found: (readonly [string, Whereabouts])[] = [];
  let refusals = "";
  for (const text of ids.value) {
    const located = locate(text);
    if (located.ok) found.push([located.value.id, located.value.at]);
    else refusals += `error: ${printable(text)}: ${printable(located.error)}\n`;
  }
  return { found, refusals };
};

const countsOf = ({ moves = {}, moved = {}, gone = {} }: DeclaredTable): string => {
  const count = (part: object): number => Object.keys(part).length;
  return `${countOf(count(moves), "move")} under way, ${count(moved)} moved, ${count(gone)} gone`;
};
