import type { Clock, ResponseDifference, ShadowOutcome, Shadows } from "../ports.ts";

/** A difference that stands for itself and for those before it that were left out of the log. */
export interface LoggedDifference extends ResponseDifference {
  readonly shadow: string;
  readonly unlogged: number;
}

export interface ShadowDeps {
  readonly clock: Clock;
  readonly count: (region: string, outcome: ShadowOutcome) => void;
  readonly log: (difference: LoggedDifference) => void;
}

/** So few at once cannot crowd out the clients' own requests. */
const IN_FLIGHT_MAX = 8;

/** Where one answer differs, thousands may. */
const LOG_EVERY_MS = 1_000;

/** The shadows of one isolate: how many requests to them are under way, and what became of them. */
export function isolateShadows({ clock, count, log }: ShadowDeps): Shadows {
  let inFlight = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return {
    admit: (region) => {
      if (inFlight < IN_FLIGHT_MAX) {
        inFlight += 1;
        return true;
      }
      count(region, "dropped");
      return false;
    },
    report: (region, outcome, difference) => {
      inFlight -= 1;
      count(region, outcome);
      if (difference === undefined) return;
      const nowMs = clock.nowMs();
      if (nowMs < nextMs) unlogged += 1;
      else {
        log({ ...difference, shadow: region, unlogged });
        nextMs = nowMs + LOG_EVERY_MS;
        unlogged = 0;
      }
    },
  };
}
