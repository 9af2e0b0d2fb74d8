import type { Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import type { CompiledTable } from "../src/routing/index.ts";
import type { MissingPage } from "../src/routing/pack/slot.ts";

/** One page for each reading of a text, and for each of the IDs that are minted at once. */
const PAGES_MAX = 64;

/**
 * Decides again when the page is there that the decision was lacking, and so on. What cannot be had within the deadline is
 * the answer: `table-unavailable`, never a guess.
 */
export async function withPages<Value>(
  { gateway, served }: { readonly gateway: Gateway; readonly served: { readonly table: CompiledTable } },
  first: Result<Value, GatewayError>,
  decide: () => Result<Value, GatewayError>,
): Promise<Result<Value, GatewayError>> {
  let decided = first;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const missing = missingIn(decided);
    if (missing === undefined) break;
    const loaded = await gateway.packs.load(served.table, missing);
    if (!loaded.ok) return loaded;
    decided = decide();
  }
  return decided;
}

/** What the decision lacks; `undefined` where it is one. Cheap, since every request asks. */
export function missingIn(decided: Result<unknown, GatewayError>): MissingPage | undefined {
  return !decided.ok && "missing" in decided.error ? decided.error.missing : undefined;
}
