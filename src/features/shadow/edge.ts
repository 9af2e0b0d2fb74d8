import type { PlatformFeature } from "../../edge/feature.ts";
import { writeEvent } from "../../edge/log.ts";
import type { Clock } from "../../ports/gateway.ts";
import type { ResponseDifference, ShadowOutcome, Shadows } from "./port.ts";

export const shadow = {
  name: "shadow",
  ports: ({ clock, counters }) => ({
    shadows: isolateShadows({
      clock,
      count: (region, outcome) => counters.count("mirrored_reads", region, outcome),
      log: (difference) => writeEvent("shadow-differs", difference),
    }),
  }),
} satisfies PlatformFeature;

/** A difference that stands for itself and for those before it that were left out of the log. */
export interface LoggedDifference extends ResponseDifference {
  readonly shadow: string;
  readonly suppressed: number;
}

export interface ShadowDeps {
  readonly clock: Clock;
  readonly count: (region: string, outcome: ShadowOutcome) => void;
  readonly log: (difference: LoggedDifference) => void;
}

/** Limit of requests in flight: shadows cannot starve client requests. */
const IN_FLIGHT_MAX = 8;

/** Where one answer differs, thousands may. */
const LOG_EVERY_MS = 1_000;

/** The shadows of one isolate: how many requests to them are under way, and what became of them. */
export function isolateShadows({ clock, count, log }: ShadowDeps): Shadows {
  let inFlight = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return {
    admit: (region) => {
      const isAdmitted = inFlight < IN_FLIGHT_MAX;
      if (isAdmitted) inFlight += 1;
      else count(region, "dropped");
      return isAdmitted;
    },
    report: (region, outcome, difference) => {
      inFlight -= 1;
      count(region, outcome);
      if (difference === undefined) return;
      const nowMs = clock.nowMs();
      if (nowMs < nextMs) suppressed += 1;
      else {
        log({ ...difference, shadow: region, suppressed });
        nextMs = nowMs + LOG_EVERY_MS;
        suppressed = 0;
      }
    },
  };
}
