import type { Context } from "hono";
import type { Gateway, MetricsSnapshot } from "../src/ports.ts";

/** What operators see of the traffic. It can be had without a table too: then nothing is known of origins. */
export async function snapshotFor(gateway: Gateway, c: Context): Promise<MetricsSnapshot> {
  const inMemory = gateway.tables.peek((work) => c.executionCtx.waitUntil(work));
  if (inMemory !== undefined) return gateway.metrics.snapshot(inMemory);
  const loaded = await gateway.tables.load();
  return gateway.metrics.snapshot(loaded.ok ? loaded.value : undefined);
}
