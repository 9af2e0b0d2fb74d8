import type { Collector, Outcome } from "../../../formats/otlp/protocol.ts";
import { DEADLINE_MS, sendSignal } from "../../../formats/otlp/send.ts";
import type { Clock, Fetch, ServedTable } from "../../../ports/gateway.ts";
import { snapshotOf } from "../snapshot.ts";
import type { MetricsTotals } from "../store.ts";
import { metricsRequests } from "./encode.ts";

interface Push {
  readonly figures: {
    readonly totals: MetricsTotals;
    readonly served: ServedTable | undefined;
    readonly nowMs: number;
  };
  readonly collector: Collector;
  /** The deployment's name. */
  readonly instance: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** Sends what `/-/metrics` shows. */
export function pushFigures({ figures, collector, instance, ...deps }: Push): Promise<Outcome> {
  const { totals, nowMs } = figures;
  const own = { stateOf: (url: string) => totals.origins.get(url) };
  const { metrics, sinceMs } = snapshotOf({ source: "all", own, ...figures });
  return pushMetrics(
    metricsRequests(metrics, { sinceMs, nowMs }, { instance, attributes: collector.resource }),
    collector,
    deps,
  );
}

/** Sends requests one after the other, until one is not taken: the figures of the next push hold those of this one. */
export async function pushMetrics(
  requests: readonly object[],
  collector: Collector,
  deps: { readonly fetch: Fetch; readonly clock: Clock },
): Promise<Outcome> {
  let outcome: Outcome = { outcome: "taken" };
  for (const request of requests) {
    const next = await pushOne(JSON.stringify(request), collector, deps);
    // A partial success of an earlier request is not forgotten.
    if (next.outcome !== "taken" || outcome.why === undefined) outcome = next;
    if (next.outcome === "unavailable" || next.outcome === "refused") break;
  }
  return outcome;
}

function pushOne(
  body: string,
  collector: Collector,
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
): Promise<Outcome> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  return sendSignal(collector, body, "rejectedDataPoints", {
    signal,
    nowMs: clock.nowMs,
    async post(url, request) {
      const { status, headers, body: answer } = await fetch(url, { ...request, signal });
      return { status, headers, text: answer?.pipeThrough(new TextDecoderStream()) };
    },
  });
}
