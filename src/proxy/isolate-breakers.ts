import type { OriginHealth } from "../ports.ts";
import { afterAnswer, afterFailure, type Breaker, CLOSED, permit } from "./breaker.ts";

/** One breaker for each origin, as one isolate sees them. Origins are few and named by the table. */
export function isolateBreakers(): OriginHealth {
  const breakers = new Map<string, Breaker>();
  return {
    admit({ url }, policy, nowMs) {
      const breaker = breakers.get(url);
      if (policy === undefined || breaker === undefined) return ADMITTED;
      const given = permit(breaker, policy, nowMs);
      if (given.state === "probe") breakers.set(url, given.breaker);
      return given;
    },
    report({ breaker: policy }, { url }, fault, nowMs) {
      const before = breakers.get(url) ?? CLOSED;
      const after =
        fault === undefined || policy === undefined ? afterAnswer(before) : afterFailure(before, policy, nowMs);
      // Most origins never fail: they have no entry.
      if (after === CLOSED) breakers.delete(url);
      else breakers.set(url, after);
    },
  };
}

const ADMITTED = Object.freeze({ state: "closed" });
