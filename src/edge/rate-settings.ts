import * as v from "valibot";

/** A rate limit binding of the platform. */
export interface RateBinding {
  limit(options: { readonly key: string }): Promise<{ readonly success: boolean }>;
}

/** How one limit is kept: by a rate limit binding of the platform, or by a counter in the isolate. */
export type RateSetting =
  /** The platform has periods of 10 s and of 60 s, and does not say which one a binding has. */
  | { readonly by: "binding"; readonly binding: RateBinding; readonly periodSeconds: number }
  | { readonly by: "counter"; readonly requests: number; readonly periodSeconds: number };

/** Absent ones are off. */
export interface RateSettings {
  readonly client: RateSetting | undefined;
  readonly entity: RateSetting | undefined;
  readonly lookup: RateSetting | undefined;
}

const binding = v.custom<RateBinding>(
  (value) => typeof value === "object" && value !== null && "limit" in value && typeof value.limit === "function",
);

/** Requests and seconds, such as `100/60`. */
const counter = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,6}\/[1-9]\d{0,3}$/),
  v.transform((text) => {
    const [requests, periodSeconds] = text.split("/").map(Number);
    return { requests: requests ?? 0, periodSeconds: periodSeconds ?? 0 };
  }),
);

const limit = v.optional(
  v.union([binding, counter], 'must be a rate limit binding, or requests and seconds such as "100/60"'),
);

/** The settings of the limits, from the environment. */
export const rateSettings = v.pipe(
  v.object({
    CLIENT_RATE_LIMIT: limit,
    ENTITY_RATE_LIMIT: limit,
    LOOKUP_RATE_LIMIT: limit,
    RATE_LIMIT_PERIOD_SECONDS: v.optional(v.picklist(["10", "60"])),
  }),
  v.check(
    ({ RATE_LIMIT_PERIOD_SECONDS: period, ...limits }) =>
      period !== undefined || Object.values(limits).every((one) => one === undefined || "requests" in one),
    "RATE_LIMIT_PERIOD_SECONDS must say which period the rate limit bindings have: 10 or 60",
  ),
  v.transform(({ RATE_LIMIT_PERIOD_SECONDS: period, ...limits }): RateSettings => {
    const settingOf = (one: typeof limits.CLIENT_RATE_LIMIT): RateSetting | undefined => {
      if (one === undefined) return undefined;
      return "requests" in one
        ? { by: "counter", ...one }
        : { by: "binding", binding: one, periodSeconds: Number(period) };
    };
    return {
      client: settingOf(limits.CLIENT_RATE_LIMIT),
      entity: settingOf(limits.ENTITY_RATE_LIMIT),
      lookup: settingOf(limits.LOOKUP_RATE_LIMIT),
    };
  }),
);
