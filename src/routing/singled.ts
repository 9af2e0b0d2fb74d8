import type { DeclaredGone, DeclaredMove, DeclaredMoved } from "./schema.ts";

/** What the table says of single entities, in its parts. There may be 100,000 of them, so the parts are never copied. */

/** Entries by ID, side by side: an object with so many keys is slow to go through. */
export interface Overrides<Entry> {
  readonly ids: readonly string[];
  readonly entries: readonly Entry[];
}

export const overrides = <Entry>(record: Readonly<Record<string, Entry>> = {}): Overrides<Entry> => ({
  ids: Object.keys(record),
  entries: Object.values(record),
});

export interface OverrideParts {
  readonly moved: Overrides<DeclaredMoved>;
  readonly moves: Overrides<DeclaredMove>;
  readonly gone: Overrides<DeclaredGone>;
}

/** An entry with the part that it stands in. */
export type Override =
  | { readonly part: "moved"; readonly text: string; readonly entry: DeclaredMoved }
  | { readonly part: "moves"; readonly text: string; readonly entry: DeclaredMove }
  | { readonly part: "gone"; readonly text: string; readonly entry: DeclaredGone };

/** All entries: those of `moved`, then of `moves`, then of `gone`. */
export function* overridesIn({ moved, moves, gone }: OverrideParts): Generator<Override> {
  for (const [at, text] of moved.ids.entries()) {
    yield { part: "moved", text, entry: moved.entries[at] as DeclaredMoved };
  }
  for (const [at, text] of moves.ids.entries()) {
    yield { part: "moves", text, entry: moves.entries[at] as DeclaredMove };
  }
  for (const [at, text] of gone.ids.entries()) {
    yield { part: "gone", text, entry: gone.entries[at] as DeclaredGone };
  }
}

/** Equal for entries that say the same, in whatever order they say it. */
export const overrideKey = (override: Override): string => {
  if (override.part === "gone") return `gone ${override.entry.epoch}`;
  if (override.part === "moves") {
    const { from, to, state, epoch } = override.entry;
    return `moves ${from} ${to} ${state} ${epoch}`;
  }
  const { entry } = override;
  return typeof entry === "string" ? `moved ${entry}` : `moved ${entry.region} ${entry.epoch}`;
};
