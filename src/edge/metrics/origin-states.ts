import type { OriginStatus, ServedTable } from "../../ports/gateway.ts";
import { healthCheckOf } from "../../proxy/origin-response.ts";
import type { OriginState } from "./store.ts";

export const originsOf = (
  { table }: ServedTable,
  stateOf: (url: string) => Partial<OriginState> | undefined,
  nowMs: number,
) =>
  [...table.regions.values()].flatMap((region) =>
    region.servers.map((origin, index) => {
      const { name, breaker: policy } = region;
      const { url, weight } = origin;
      const health = healthCheckOf(region, origin);
      const state = stateOf(url) ?? {};
      const breaker = policy === undefined ? "closed" : breakerState(state, nowMs);
      return {
        region: name,
        index,
        host: new URL(url).host,
        weight,
        breaker,
        openUntilMs: breaker === "open" ? state.breaker?.untilMs : undefined,
        lastFault: state.fault,
        lastAnswerAtMs: state.answeredAtMs,
        lastCheck: health && state.checks?.[health.path],
      };
    }),
  );

/** As its last change left it. After its time, a response in any isolate closes it. */
function breakerState({ breaker, answeredAtMs = 0 }: Partial<OriginState>, nowMs: number): OriginStatus["breaker"] {
  if (breaker === undefined || breaker.untilMs === 0) return "closed";
  if (nowMs < breaker.untilMs) return "open";
  return answeredAtMs > breaker.atMs ? "closed" : "half-open";
}
