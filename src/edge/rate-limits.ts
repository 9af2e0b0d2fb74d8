import type { Clock, RateLimit as RateLimitPort, RateLimits } from "../ports.ts";
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
    periodSeconds,
    async admits(key) {
      try {
        return (await binding.limit({ key })).success;
      } catch (error) {
        report(error);
        return true;
      }
    },
  };
}

/** At about 150 octets a key the counters of one limit take 10 MB at most. */
const KEYS_MAX = 65_536;

/**
 * Counts in the isolate, for a workerd of one's own: it serves all its requests from one. One number a key, begun anew with
 * each period, as the platform's own does: up to twice the limit may pass across the seam of two periods. When there are
 * more keys than are kept, the oldest is forgotten: whoever has so many addresses passes limits by address anyway, and
 * nobody is refused for what others did.
 */
export function countedRateLimit(
  { requests, periodSeconds }: Extract<RateSetting, { by: "counter" }>,
  clock: Clock,
  keysMax = KEYS_MAX,
): RateLimitPort {
  let period = Number.NaN;
  const counts = new Map<string, number>();
  return {
    periodSeconds,
    async admits(key) {
      const now = Math.floor(clock.nowMs() / (periodSeconds * 1000));
      if (now !== period) {
        period = now;
        counts.clear();
      }
      const count = counts.get(key) ?? 0;
      if (count >= requests) return false;
      if (count === 0 && counts.size >= keysMax) for (const oldest of counts.keys()) if (counts.delete(oldest)) break;
      counts.set(key, count + 1);
      return true;
    },
  };
}
