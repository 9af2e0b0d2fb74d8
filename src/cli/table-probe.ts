import type { GatewayClient, Sight } from "./gateway-client.ts";
import type { GatewayFailure } from "./gateway-request.ts";
import type { World } from "./world.ts";

/** Which revisions a number of requests met. */
export interface Tally {
  readonly asked: number;
  /** Most frequent first. */
  readonly seen: readonly (Sight & { readonly count: number })[];
  /** The first request that failed; those after it were not sent. */
  readonly failure: GatewayFailure | undefined;
}

/** So many at once: a probe must not be a load of its own. */
const BATCH = 8;

/** Sends `count` requests in small batches, and tells on a terminal how far it is. */
export const probe = async (gateway: GatewayClient, count: number, world: World): Promise<Tally> => {
  const counts = new Map<string, Sight & { readonly count: number }>();
  let asked = 0;
  let failure: GatewayFailure | undefined;
  while (asked < count && failure === undefined) {
    const batch = Array.from({ length: Math.min(BATCH, count - asked) }, () => gateway.ready());
    for (const sight of await Promise.all(batch)) {
      if (!sight.ok) {
        failure ??= sight.error;
        continue;
      }
      asked += 1;
      const key = `${sight.value.revision} ${sight.value.source}`;
      counts.set(key, { ...sight.value, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    if (world.isReportWatched) world.report(`\rprobed ${asked} of ${count}`);
  }
  if (world.isReportWatched) world.report("\n");
  return { asked, seen: [...counts.values()].sort((a, b) => b.count - a.count), failure };
};
