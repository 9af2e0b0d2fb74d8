import { err } from "../ids/result.ts";
import type { Gateway } from "../ports.ts";
import type { TableError } from "../problems/index.ts";
import type { DecideFailure, PageNeed } from "./decide.ts";

/** One page for each reading of a text, and for each of the IDs that are minted at once. */
const PAGES_MAX = 128;

/** Like `DecideFailure`, where a page could not be loaded. */
export type LoadFailure = Omit<DecideFailure, "error"> & { readonly error: DecideFailure["error"] | TableError };

/**
 * Decides; while the decision needs a page, loads it and decides again. A page that cannot be had within its deadline is
 * an error, never a guess.
 */
export async function withPages<Value extends { readonly kind: string }>(
  { packs }: Pick<Gateway, "packs">,
  decide: () => Value | PageNeed,
): Promise<Exclude<Value, PageNeed> | LoadFailure> {
  let decided = decide();
  for (let loads = 0; decided.kind === "page"; loads++) {
    const { table, page, error, entity, byCanary } = decided as PageNeed;
    const loaded = loads < PAGES_MAX ? await packs.load(table, page) : err(error);
    if (!loaded.ok) return { kind: "error", error: loaded.error, entity, byCanary };
    decided = decide();
  }
  return decided as Exclude<Value, PageNeed>;
}
