import type { DeliveryWorld } from "../src/proxy/deliver.ts";
import type { MirrorWorld } from "../src/proxy/mirror.ts";
import type { Received } from "./receive.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What delivering and mirroring need of the gateway. */
export function deliveryWorld({ gateway, served, context }: Received): DeliveryWorld & MirrorWorld {
  return {
    clock: gateway.clock,
    fetch: gateway.fetch,
    sign: gateway.sign,
    isOnEdge: gateway.isOnEdge,
    waitUntil: (work) => context.executionCtx.waitUntil(work),
    regions: served.table.regions,
    deadlines: gateway.deadlines,
    health: gateway.originHealth,
    budget: gateway.retryBudget,
    memory: gateway.movedMemory,
    shadows: gateway.shadows,
    chance: () => gateway.entropy.word() / 2 ** 32,
    pause,
  };
}
