import { type Collector, firstText, judge, type Outcome, pairsIn } from "../../../formats/otlp/protocol.ts";
import type { Clock, Fetch, ServedTable } from "../../../ports/gateway.ts";
import { snapshotOf } from "../snapshot.ts";
import type { MetricsTotals } from "../store.ts";
import { metricsRequests } from "./encode.ts";

/** A collector that is slower is taken for one that is away. */
const DEADLINE_MS = 5_000;

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

async function pushOne(
  body: string,
  { url, headers }: Collector,
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
): Promise<Outcome> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const own = { "content-type": "application/json", "user-agent": "waybill-otlp" };
  try {
    // A redirect would take the credentials along.
    const request = {
      method: "POST",
      headers: { ...Object.fromEntries(pairsIn(headers)), ...own },
      body,
      redirect: "manual",
      signal,
    } as const;
    const response = await fetch(url, request);
    const answer = { status: response.status, retryAfter: response.headers.get("retry-after") };
    return judge(
      { ...answer, body: await firstText(response.body?.pipeThrough(new TextDecoderStream())) },
      "rejectedDataPoints",
      clock.nowMs(),
    );
  } catch (error) {
    const why = signal.aborted
      ? `no answer within ${DEADLINE_MS} ms`
      : error instanceof Error
        ? error.message
        : String(error);
    return { outcome: "unavailable", why, afterMs: 0 };
  }
}
