import type { Env } from "../env.ts";
import { METRICS_OBJECT, type MetricsRpc } from "../metrics/store.ts";
import { throwTimeout, withTimeout } from "../platform.ts";

const DEADLINE_MS = 4_000;

/** The control plane has news for the log of events. Nothing waits for it: a change that is not told is found with the table. */
export async function tellOfNews({ TRAFFIC }: Pick<Env, "TRAFFIC">): Promise<void> {
  // Plain data crosses without the types of RPC.
  const log = TRAFFIC.get(TRAFFIC.idFromName(METRICS_OBJECT)) as unknown as Pick<MetricsRpc, "noteNews">;
  await withTimeout(log.noteNews(), DEADLINE_MS, throwTimeout).catch(() => undefined);
}
