import type { Draft } from "./draft.ts";
import type { DeclaredGone, DeclaredMove, DeclaredMoved } from "./schema.ts";

/** What the table says of single entities, in its parts. There may be 100,000 of them, so the parts are never copied. */

/** An entry, or a part of the table that holds such. */
export type Singled =
  | { readonly part: "moved"; readonly text: string; readonly entry: DeclaredMoved }
  | { readonly part: "moves"; readonly text: string; readonly entry: DeclaredMove }
  | { readonly part: "gone"; readonly text: string; readonly entry: DeclaredGone };

/** All entries: those of `moved`, then of `moves`, then of `gone`. */
export function* singledIn({ moved, moves, gone }: Draft): Generator<Singled> {
  for (const text of Object.keys(moved)) yield { part: "moved", text, entry: moved[text] as DeclaredMoved };
  for (const text of Object.keys(moves)) yield { part: "moves", text, entry: moves[text] as DeclaredMove };
  for (const text of Object.keys(gone)) yield { part: "gone", text, entry: gone[text] as DeclaredGone };
}

/** Equal for entries that say the same, in whatever order they say it. */
export const sayingOf = (singled: Singled): string => {
  if (singled.part === "gone") return `gone ${singled.entry.epoch}`;
  if (singled.part === "moves") {
    const { from, to, state, epoch } = singled.entry;
    return `moves ${from} ${to} ${state} ${epoch}`;
  }
  const { entry } = singled;
  return typeof entry === "string" ? `moved ${entry}` : `moved ${entry.region} ${entry.epoch}`;
};
