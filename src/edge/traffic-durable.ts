import { inTime, noAnswer } from "./in-time.ts";
import type { TrafficObject, TrafficStore } from "./traffic-store.ts";

/** All isolates of a deployment meet in one object. */
const NAME = "all";

/** A call takes a few milliseconds from nearby and some hundred from afar; a scraper gives up after 10 s. */
const DEADLINE_MS = 4_000;

/** The Durable Object as a store. A stub is broken after a failure, so each call makes its own. */
export function durableTraffic(namespace: DurableObjectNamespace<TrafficObject>): TrafficStore {
  const stub = () => namespace.get(namespace.idFromName(NAME));
  return {
    report: (report) => inTime(stub().report(report), DEADLINE_MS, noAnswer),
    totals: () => inTime(stub().totals(), DEADLINE_MS, noAnswer),
  };
}

/** For the platform's timer. */
export const keepChecking = (namespace: DurableObjectNamespace<TrafficObject>): Promise<void> =>
  inTime(namespace.get(namespace.idFromName(NAME)).keepChecking(), DEADLINE_MS, noAnswer);
