import { compileTable, resolveAny } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import type { ChangesInWords, Way } from "./diff-words.ts";
import type { Effect } from "./requests/effect.ts";

/** Data that IDs leave behind in a region when a route sends them elsewhere. Pure. */

export interface LeftBehind {
  /** Regions that have the data. */
  readonly from: readonly string[];
  /** Where their requests go then. Empty where no route takes them any more. */
  readonly to: readonly string[];
  readonly entities: readonly string[];
  readonly ways: readonly Way[];
}

/** `undefined` where no ID leaves a region. IDs that are not minted yet leave nothing. */
export function leftBehindBy({ ways }: ChangesInWords, nowMs: number): LeftBehind | undefined {
  const own = ways.filter(({ from, keys }) => {
    const isOld = keys.some(({ mintedFrom }) => mintedFrom === undefined || Date.parse(mintedFrom) <= nowMs);
    return isOld && from.words !== "no region";
  });
  if (own.length === 0) return undefined;
  const named = (targets: readonly string[]) => [...new Set(targets)];
  return {
    from: named(own.map(({ from }) => from.region ?? from.words)),
    to: named(own.flatMap(({ to }) => (to.words === "no region" ? [] : [to.region ?? to.words]))),
    entities: named(own.flatMap(({ keys }) => keys.flatMap(({ before }) => before?.entity ?? []))),
    ways: own,
  };
}

/** Single entities whose own entry decides, whatever the routes say. */
export interface GoesOn {
  readonly moves: number;
  readonly moved: number;
}

/** With more of them, looking each up would take seconds. */
const OVERRIDES_MAX = 10_000;

/** Those among the IDs that a change sends elsewhere; `undefined` where they are too many to look at. */
export function goesOn(before: DeclaredTable, after: DeclaredTable, nowMs: number): GoesOn | undefined {
  const [moves, moved] = [Object.keys(after.moves ?? {}), Object.keys(after.moved ?? {})];
  if (moves.length + moved.length === 0) return { moves: 0, moved: 0 };
  if (moves.length + moved.length > OVERRIDES_MAX) return undefined;
  const [left, right] = [before, after].map(({ moves: _, moved: __, gone: ___, ...table }) =>
    compileTable(table, 0),
  ) as [ReturnType<typeof compileTable>, ReturnType<typeof compileTable>];
  const regionOf = (table: typeof left, id: string) => {
    const decision = resolveAny(table, id, nowMs);
    return decision.ok ? decision.value.target.region.name : undefined;
  };
  const isAmong = (id: string) => regionOf(left, id) !== regionOf(right, id);
  return { moves: moves.filter(isAmong).length, moved: moved.filter(isAmong).length };
}

const NAME_SHARE = 0.1;

export type NameReason = "share" | "unknown";

/**
 * The reason to type the name of the environment: more than a tenth of the requests, or that their number is not known. `isRead`: the
 * figures could be read; without a request in the last hour none goes elsewhere.
 */
export function needsName(
  { ways }: ChangesInWords,
  effect: Effect | undefined,
  isRead: boolean,
): NameReason | undefined {
  if (effect !== undefined) return effect.share > NAME_SHARE ? "share" : undefined;
  return !isRead && ways.some(({ before }) => before !== undefined) ? "unknown" : undefined;
}
