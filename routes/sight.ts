import type { Context } from "hono";
import type { Gateway, TrafficSight } from "../src/ports.ts";

/** What operators see of the traffic. It can be had without a table too: then nothing is known of origins. */
export async function sightFor(gateway: Gateway, c: Context): Promise<TrafficSight> {
  const inMemory = gateway.tables.peek((work) => c.executionCtx.waitUntil(work));
  if (inMemory !== undefined) return gateway.traffic.sight(inMemory);
  const loaded = await gateway.tables.load();
  return gateway.traffic.sight(loaded.ok ? loaded.value : undefined);
}
