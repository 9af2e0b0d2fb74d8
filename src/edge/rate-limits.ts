import type { Clock, RateLimit as RateLimitPort, RateLimits } from "../ports.ts";
import { periodCounts } from "./period-counts.ts";
import type { RateSetting, RateSettings } from "./rate-settings.ts";

export interface RateLimitsOptions {
  readonly clock: Clock;
  /** Told when the platform's counter fails. */
  readonly report: (error: unknown) => void;
}

/** The limits that the deployment has set. */
export function rateLimits(settings: RateSettings, options: RateLimitsOptions): RateLimits {
  const limitOf = (setting: RateSetting | undefined): RateLimitPort | undefined => {
    if (setting === undefined) return undefined;
    return setting.by === "binding" ? boundRateLimit(setting, options) : countedRateLimit(setting, options.clock);
  };
  return { client: limitOf(settings.client), entity: limitOf(settings.entity), lookup: limitOf(settings.lookup) };
}

/** Counts for each of the platform's locations. While its counter fails nobody is refused: a limit protects, it does not decide. */
export function boundRateLimit(
  { binding, periodSeconds }: Extract<RateSetting, { by: "binding" }>,
  { report }: Pick<RateLimitsOptions, "report">,
): RateLimitPort {
  return {
    async waitSeconds(key) {
      try {
        // The platform does not say how much of the period is left.
        return (await binding.limit({ key })).success ? 0 : periodSeconds;
      } catch (error) {
        report(error);
        return 0;
      }
    },
  };
}

/** At about 150 bytes a key the counters of one limit take 10 MB at most. */
const KEYS_MAX = 65_536;

/** Counts in the isolate, for a workerd of one's own: it serves all its requests from one. */
export function countedRateLimit(
  { requests, periodSeconds }: Extract<RateSetting, { by: "counter" }>,
  clock: Clock,
  keysMax = KEYS_MAX,
): RateLimitPort {
  const counts = periodCounts(periodSeconds, clock, keysMax);
  return {
    async waitSeconds(key) {
      if (counts.countOf(key) >= requests) return counts.secondsLeft();
      counts.add(key);
      return 0;
    },
  };
}
