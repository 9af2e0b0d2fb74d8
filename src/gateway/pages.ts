import { answerName, type FoundKeys, type KeyAnswer } from "../features/directory/table/compile.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { TableError } from "../problems/index.ts";
import { PLAIN_READ } from "../routing/lookup/choice.ts";
import type { DecideFailure, DecideInput, PageNeed, Tables } from "./decide.ts";
import type { RequestContext } from "./request.ts";

/** One page for each reading of a text, and for each of the IDs that are minted at once. */
const PAGES_MAX = 128;

/** Like `DecideFailure`, where a page could not be loaded. */
export type LoadFailure = Omit<DecideFailure, "error"> & { readonly error: DecideFailure["error"] | TableError };

/**
 * Decides; while the decision needs a page or a key, loads it and decides again. A load that misses its deadline is
 * an error, never a guess. `decide` hands `found` on in its input: a directory's answers are in no table. `caller`: by whom
 * look-ups of unknown keys are counted.
 */
export async function decideLoading<Value extends { readonly kind: string }>(
  { packs, directory }: Pick<Gateway, "packs" | "directory">,
  decide: (found?: FoundKeys) => Value | PageNeed,
  caller?: string,
): Promise<Exclude<Value, PageNeed> | LoadFailure> {
  let found: Map<string, KeyAnswer> | undefined;
  let decided = decide();
  for (let loads = 0; decided.kind === "page"; loads++) {
    const { table, needs, error, entity, byCanary } = decided as PageNeed;
    const failure = (why: LoadFailure["error"]): LoadFailure => ({ kind: "error", error: why, entity, byCanary });
    if (loads >= PAGES_MAX) return failure(error);
    if ("page" in needs) {
      const loaded = await packs.load(table, needs.page);
      if (!loaded.ok) return failure(loaded.error);
    } else {
      const { lookup } = needs;
      const name = answerName(lookup);
      if (found?.has(name)) throw new Error(`a decision passes over what directory ${lookup.plan.name} said`);
      const answer = await directory.lookup(lookup.plan, lookup.key, caller);
      if (!answer.ok) return failure({ ...answer.error, lookup });
      found = (found ?? new Map<string, KeyAnswer>()).set(name, answer.value);
    }
    decided = decide(found);
  }
  return decided as Exclude<Value, PageNeed>;
}

/**
 * The same for an ID outside of a request's path, as a GET on the request's host. Its client is the caller.
 * `layoutName`: what it says of an ID that the client wrote.
 */
export function decideFor<Value extends { readonly kind: string }>(
  {
    gateway,
    arrivedAtMs,
    client,
    servedHost,
  }: Pick<RequestContext, "gateway" | "arrivedAtMs" | "client" | "servedHost">,
  tables: Tables,
  decide: (input: DecideInput) => Value | PageNeed,
  layoutName?: string,
): Promise<Exclude<Value, PageNeed> | LoadFailure> {
  const asked = { ...PLAIN_READ, servedHost };
  const input = { tables, publicIds: gateway.publicIds, layoutName, nowMs: arrivedAtMs, asked };
  return decideLoading(gateway, (found) => decide({ ...input, found }), client.address);
}
