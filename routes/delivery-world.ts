import type { DeliveryDeps } from "../src/proxy/deliver.ts";
import type { MirrorDeps } from "../src/proxy/mirror.ts";
import type { TableRequestContext } from "./receive.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What delivering and mirroring need of the gateway. */
export function deliveryDeps({ gateway, served, hono }: TableRequestContext): DeliveryDeps & MirrorDeps {
  return {
    clock: gateway.clock,
    fetch: gateway.fetch,
    sign: gateway.sign,
    isOnEdge: gateway.isOnEdge,
    waitUntil: (work) => hono.executionCtx.waitUntil(work),
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
