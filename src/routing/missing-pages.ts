import { readShortKey } from "../ids/index.ts";
import { shortKeyOwners } from "./candidates.ts";
import { ID_LENGTH_MAX } from "./limits.ts";
import type { MissingPage } from "./pack/slot.ts";
import { allOwners, type LayoutHint, shortTargetOf, shortWords, targetOf } from "./readings.ts";
import type { CompiledTable } from "./table.ts";

/** The pages without which some reading of a text cannot say its region, for whoever wants to see all of them. */
export const missingPages = (
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint?: LayoutHint,
): readonly MissingPage[] => {
  if (table.packs.size === 0 || text.length > ID_LENGTH_MAX) return [];
  const targets = allOwners(table, text, nowMs, hint).map(({ id, words }) => targetOf(table, id, words));
  const primaryKey = readShortKey(text, 0, text.length);
  for (const { id, group } of primaryKey === undefined ? [] : shortKeyOwners(table)) {
    targets.push(shortTargetOf(table, id, group, primaryKey as number, shortWords(group, primaryKey as number)));
  }
  return targets.flatMap((target) => (target !== undefined && "missing" in target ? [target.missing] : []));
};
