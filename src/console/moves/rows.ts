import type { EntityLocation } from "../../routing/moves/steps.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { stagesOf } from "./stages.ts";

/** Single entities that the table names: on their way, moved, or gone. Pure. */

export const KINDS = ["moving", "moved", "gone"] as const;
export type Kind = (typeof KINDS)[number];

export type Overrides = Pick<DeclaredTable, "moved" | "moves" | "gone">;

export interface MoveRow {
  readonly id: string;
  readonly at: EntityLocation;
}

/** In the order of the table's text, which has the newest last: here it is first. */
export function rowsOf({ moves = {}, moved = {}, gone = {} }: Overrides, kind: Kind): readonly MoveRow[] {
  const rows: readonly MoveRow[] =
    kind === "moving"
      ? Object.entries(moves).map(([id, at]) => ({ id, at }))
      : kind === "moved"
        ? Object.entries(moved).map(([id, entry]) => ({
            id,
            at: {
              state: "moved",
              ...(typeof entry === "string" ? { region: entry, epoch: undefined } : entry),
            },
          }))
        : Object.entries(gone).map(([id, { epoch }]) => ({ id, at: { state: "gone", epoch } }));
  return rows.toReversed();
}

export const countsOf = ({ moves = {}, moved = {}, gone = {} }: Overrides): Readonly<Record<Kind, number>> => ({
  moving: Object.keys(moves).length,
  moved: Object.keys(moved).length,
  gone: Object.keys(gone).length,
});

/** Rows whose ID has the text in it, or that are one of the texts of the ID that it reads as. */
export function foundIn(rows: readonly MoveRow[], text: string, forms: readonly string[]): readonly MoveRow[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return rows;
  const all = new Set(forms);
  return rows.filter(({ id }) => all.has(id) || id.toLowerCase().includes(wanted));
}

/** Names those who wait, and for whom. `ticked`: the places of what was done at this step. */
export function waitsFor({ id, at }: MoveRow, ticked: ReadonlySet<number>): string {
  if (at.state === "started") return `No one waits: ${at.from} is copied to ${at.to}`;
  const todo = stagesOf(id, at).find(({ state }) => state === at.state)?.todo ?? [];
  const next = todo.findIndex((_, place) => !ticked.has(place));
  if (at.state === "fenced") {
    return next === -1 ? "Writes wait for you: switch" : `Writes wait for you: ${todo[next]?.waits}`;
  }
  return at.state === "gone" ? "Requests get 410" : "";
}

const HOUR_MS = 3_600_000;

/** Writes that wait for longer than minutes are an outage of that entity; a copy that takes days is forgotten. */
export const isLate = ({ state }: Pick<EntityLocation, "state">, sinceMs: number): boolean =>
  (state === "fenced" && sinceMs > HOUR_MS / 4) || (state === "started" && sinceMs > 24 * HOUR_MS);

/** `01a21893…0265bb`. */
export const shortId = (id: string): string => (id.length <= 18 ? id : `${id.slice(0, 8)}…${id.slice(-6)}`);
