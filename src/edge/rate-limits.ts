import { err, ok } from "../ids/result.ts";
import type { Clock, RateLimit as RateLimitPort, RateLimits } from "../ports/gateway.ts";
import { periodCounts } from "./platform.ts";
import { oneOf, type Reader, readValid, type SettingFault, type SettingReader, type Settings } from "./settings.ts";

export type RateBinding = { limit(options: { readonly key: string }): Promise<{ readonly success: boolean }> };

/** How one limit is kept: by a rate limit binding of the platform, or by a counter in the isolate. */
export type RateSetting =
  /** The platform has periods of 10 s and of 60 s, and does not say which one a binding has. */
  | { readonly by: "binding"; readonly binding: RateBinding; readonly periodSeconds: number }
  | { readonly by: "counter"; readonly requests: number; readonly periodSeconds: number };

/** Absent ones are off. */
export type RateSettings = Readonly<Record<keyof RateLimits, RateSetting | undefined>>;

export const NO_RATE_LIMITS: RateSettings = { client: undefined, entity: undefined, lookup: undefined };

type Limit = RateBinding | { readonly requests: number; readonly periodSeconds: number };

const isBinding = (given: unknown): given is RateBinding =>
  typeof given === "object" && given !== null && "limit" in given && typeof given.limit === "function";

const readLimit: Reader<Limit> = (given) => {
  if (isBinding(given)) return ok(given);
  const [, requests, periodSeconds] = (typeof given === "string" ? COUNTER.exec(given) : null) ?? [];
  if (requests === undefined) return err('must be a rate limit binding, or requests and seconds such as "100/60"');
  return ok({ requests: Number(requests), periodSeconds: Number(periodSeconds) });
};

/** Requests and seconds, such as `100/60`. */
const COUNTER = /^([1-9]\d{0,6})\/([1-9]\d{0,3})$/;

const limit: SettingReader<Limit, undefined> = { read: readLimit, none: undefined };

const RATE_SETTINGS = {
  CLIENT_RATE_LIMIT: limit,
  ENTITY_RATE_LIMIT: limit,
  LOOKUP_RATE_LIMIT: limit,
  RATE_LIMIT_PERIOD_SECONDS: { read: oneOf(["10", "60"]), none: undefined },
} as const;

/** The settings of the limits, from the environment. An invalid limit is off: a limit protects, it does not decide. */
export function readRateSettings(env: Settings, faults: SettingFault[]): RateSettings {
  const { RATE_LIMIT_PERIOD_SECONDS: period, ...limits } = readValid(RATE_SETTINGS, env, faults);
  const settingOf = (one: (typeof limits)["CLIENT_RATE_LIMIT"]): RateSetting | undefined => {
    if (one === undefined || "requests" in one) return one && { by: "counter", ...one };
    return { by: "binding", binding: one, periodSeconds: Number(period ?? PERIOD_SECONDS_MAX) };
  };
  const settings = {
    client: settingOf(limits.CLIENT_RATE_LIMIT),
    entity: settingOf(limits.ENTITY_RATE_LIMIT),
    lookup: settingOf(limits.LOOKUP_RATE_LIMIT),
  };
  if (env.RATE_LIMIT_PERIOD_SECONDS === undefined && Object.values(settings).some((one) => one?.by === "binding")) {
    const setting = "RATE_LIMIT_PERIOD_SECONDS";
    faults.push({ setting, why: `${setting} must say which period the rate limit bindings have: 10 or 60` });
  }
  return settings;
}

/** The longer of the platform's two periods. */
const PERIOD_SECONDS_MAX = 60;

/** `report`: told when the platform's counter fails. */
type RateLimitsOptions = Readonly<{ clock: Clock; report: (error: unknown) => void }>;

export function rateLimits(settings: RateSettings, options: RateLimitsOptions): RateLimits {
  const limitOf = (setting: RateSetting | undefined): RateLimitPort | undefined => {
    if (setting === undefined) return undefined;
    return setting.by === "binding" ? boundRateLimit(setting, options) : countedRateLimit(setting, options.clock);
  };
  return { client: limitOf(settings.client), entity: limitOf(settings.entity), lookup: limitOf(settings.lookup) };
}

/** Counts for each of the platform's locations. While its counter fails, every request passes: a limit protects, it does not decide. */
export function boundRateLimit(
  { binding, periodSeconds }: Extract<RateSetting, { by: "binding" }>,
  { report }: Pick<RateLimitsOptions, "report">,
): RateLimitPort {
  return {
    max: undefined,
    async waitSeconds(key, count = 1) {
      try {
        for (let left = count; left > 0; left -= COUNTED_AT_ONCE) {
          // The platform does not say how much of the period is left.
          if (!(await binding.limit({ key })).success) return periodSeconds;
        }
        return 0;
      } catch (error) {
        report(error);
        return 0;
      }
    },
  };
}

/** A binding counts one a call: IDs of a mint request are counted by the hundred. */
const COUNTED_AT_ONCE = 100;

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
    max: requests,
    async waitSeconds(key, count = 1) {
      if (counts.countOf(key) + count > requests) return counts.secondsLeft();
      counts.add(key, count);
      return 0;
    },
  };
}
