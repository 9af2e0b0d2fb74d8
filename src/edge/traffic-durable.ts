import { throwTimeout, withTimeout } from "./in-time.ts";
import type { MetricsRpc, MetricsStore } from "./traffic-store.ts";

/** All isolates of a deployment meet in one object. */
const NAME = "all";

/** A call takes a few milliseconds from nearby and some hundred from afar; a scraper gives up after 10 s. */
const DEADLINE_MS = 4_000;

/** The Durable Object as a store. A stub is broken after a failure, so each call makes its own. */
export function durableMetrics(namespace: DurableObjectNamespace<MetricsRpc>): MetricsStore {
  const stub = () => namespace.get(namespace.idFromName(NAME));
  return {
    report: (report) => withTimeout(stub().report(report), DEADLINE_MS, throwTimeout),
    totals: () => withTimeout(stub().totals(), DEADLINE_MS, throwTimeout),
  };
}

/** For the platform's timer. */
export const scheduleChecks = (namespace: DurableObjectNamespace<MetricsRpc>): Promise<void> =>
  withTimeout(namespace.get(namespace.idFromName(NAME)).scheduleChecks(), DEADLINE_MS, throwTimeout);
