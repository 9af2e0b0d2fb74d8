import type { Gateway } from "../ports.ts";
import type { TableError } from "../problems/index.ts";
import type { DecideFailure, PageNeed } from "./decide.ts";

/** One page for each reading of a text, and for each of the IDs that are minted at once. */
const PAGES_MAX = 128;

/** Like `DecideFailure`, where a page could not be loaded. */
export interface LoadFailure extends Omit<DecideFailure, "error"> {
  readonly error: DecideFailure["error"] | TableError;
}

/**
 * Loads the page that a decision needs and decides again, until it needs none. A page that cannot be had within the
 * deadline is an error, never a guess.
 */
export async function withPages<Value extends { readonly kind: string }>(
  { packs }: Pick<Gateway, "packs">,
  first: PageNeed,
  decide: () => Value | PageNeed,
): Promise<Exclude<Value, PageNeed> | LoadFailure> {
  let need = first;
  for (let loads = 0; loads < PAGES_MAX; loads++) {
    const loaded = await packs.load(need.table, need.page);
    if (!loaded.ok) return { kind: "error", error: loaded.error, entity: need.entity, byCanary: need.byCanary };
    const decided = decide();
    if (decided.kind !== "page") return decided as Exclude<Value, PageNeed>;
    need = decided as PageNeed;
  }
  return { ...need, kind: "error" };
}
