import type { GatewayClient, TableVersion } from "./gateway-client.ts";
import type { GatewayFailure } from "./gateway-request.ts";
import type { Runtime } from "./world.ts";

/** Which revisions a number of requests met. */
export interface Tally {
  readonly asked: number;
  /** Most frequent first. */
  readonly seen: readonly (TableVersion & { readonly count: number })[];
  /** The first request that failed; those after it were not sent. */
  readonly failure: GatewayFailure | undefined;
}

interface Probing {
  readonly count: number;
  /** Told of each sight when it comes. No more are sent after one that it does not want. */
  readonly isWanted?: (version: TableVersion) => boolean;
  readonly onBatch?: (asked: number) => void;
}

/** So many at once: a probe must not be a load of its own. */
const BATCH = 8;

/** Sends requests in small batches, and counts what they saw. */
export const probe = async (
  gateway: GatewayClient,
  { count, isWanted = () => true, onBatch }: Probing,
): Promise<Tally> => {
  const counts = new Map<string, TableVersion & { readonly count: number }>();
  let asked = 0;
  let failure: GatewayFailure | undefined;
  let isGoing = true;
  const ask = async (): Promise<void> => {
    const version = await gateway.ready();
    if (!version.ok) {
      failure ??= version.error;
      isGoing = false;
      return;
    }
    asked += 1;
    const { revision, source, canary } = version.value;
    const key = `${revision} ${source} ${canary}`;
    counts.set(key, { ...version.value, count: (counts.get(key)?.count ?? 0) + 1 });
    if (!isWanted(version.value)) isGoing = false;
  };
  while (asked < count && isGoing) {
    await Promise.all(Array.from({ length: Math.min(BATCH, count - asked) }, ask));
    onBatch?.(asked);
  }
  return { asked, seen: [...counts.values()].sort((a, b) => b.count - a.count), failure };
};

/** The same, told on a terminal how far it is. */
export const probeWatched = async (gateway: GatewayClient, count: number, runtime: Runtime): Promise<Tally> => {
  if (!runtime.isReportWatched) return probe(gateway, { count });
  const tally = await probe(gateway, { count, onBatch: (asked) => runtime.report(`\rprobed ${asked} of ${count}`) });
  runtime.report("\n");
  return tally;
};
