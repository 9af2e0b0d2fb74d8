import { LOAD_FEATURES } from "../features/loading.ts";
import type { LoadPorts } from "../ports/gateway.ts";
import { PLAIN_READ } from "../routing/lookup/choice.ts";
import type { DecideInput, LoadNeed, Tables } from "./decide.ts";
import type { LoadFailure, LoadFeature } from "./feature.ts";
import type { RequestContext } from "./request.ts";

/** One for each reading of a text, and for each of the IDs that are minted at once. */
const LOADS_MAX = 128;

const FEATURES: ReadonlyMap<string, LoadFeature> = new Map(LOAD_FEATURES.map((feature) => [feature.name, feature]));

/**
 * Decides; while the decision needs something that is not in memory, its feature loads it, and it is decided again. A load
 * that misses its deadline is an error, never a guess. `decide` hands `found` on in its input. `caller`: by whom look-ups of
 * unknown keys are counted.
 */
export async function decideLoading<Value extends { readonly kind: string }>(
  ports: LoadPorts,
  decide: (found?: DecideInput["found"]) => Value | LoadNeed,
  caller?: string,
): Promise<Exclude<Value, LoadNeed> | LoadFailure> {
  let found: Map<string, unknown> | undefined;
  let decided = decide();
  for (let loads = 0; decided.kind === "load"; loads++) {
    const { table, missing, error, entity, byCanary } = decided as LoadNeed;
    const failure = (why: LoadFailure["error"]): LoadFailure => ({ kind: "error", error: why, entity, byCanary });
    if (loads >= LOADS_MAX) return failure(error);
    const { feature, answerName } = missing;
    if (answerName !== undefined && found?.has(answerName))
      throw new Error(`a decision passes over what ${feature} said of ${answerName}`);
    const loader = FEATURES.get(feature);
    if (loader === undefined) throw new Error(`no feature ${feature} loads what a decision needs`);
    const loaded = await loader.load(ports, table, missing, caller);
    if (!loaded.ok) return failure(loaded.error);
    if (answerName !== undefined) found = (found ?? new Map<string, unknown>()).set(answerName, loaded.value);
    decided = decide(found);
  }
  return decided as Exclude<Value, LoadNeed>;
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
  decide: (input: DecideInput) => Value | LoadNeed,
  layoutName?: string,
): Promise<Exclude<Value, LoadNeed> | LoadFailure> {
  const asked = { ...PLAIN_READ, servedHost };
  const input = { tables, ports: gateway, layoutName, nowMs: arrivedAtMs, asked };
  return decideLoading(gateway, (found) => decide({ ...input, found }), client.address);
}
