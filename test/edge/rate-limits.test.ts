import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { boundRateLimit, countedRateLimit, rateLimits, readRateSettings } from "../../src/edge/rate-limits.ts";
import type { SettingFault } from "../../src/edge/settings.ts";
import type { RateLimit as RateLimitPort } from "../../src/ports/gateway.ts";

/** Bound for the tests: three requests a minute. */
const { TEST_RATE_LIMIT: binding } = env as { readonly TEST_RATE_LIMIT: RateLimit };
const LIMIT = 3;

const adapters: readonly (readonly [string, () => RateLimitPort])[] = [
  ["the platform's binding", () => boundRateLimit({ by: "binding", binding, periodSeconds: 60 }, { report: fail })],
  [
    "the counter in the isolate",
    () => countedRateLimit({ by: "counter", requests: LIMIT, periodSeconds: 60 }, { nowMs: Date.now }),
  ],
];

function fail(error: unknown): void {
  throw error;
}

let keys = 0;
const freshKey = () => `key ${keys++}`;
const admissions = async (limit: RateLimitPort, key: string, times: number): Promise<readonly boolean[]> => {
  const admitted: boolean[] = [];
  for (let time = 0; time < times; time++) admitted.push((await limit.waitSeconds(key)) === 0);
  return admitted;
};

describe.each(adapters)("%s", (_, make) => {
  // Both count from the full minute on: a test that begins at its end could see two.
  const awayFromSeam = async () => {
    const left = 60_000 - (Date.now() % 60_000);
    if (left < 2_000) await new Promise((resolve) => setTimeout(resolve, left));
  };

  it("admits as many as the limit says", async () => {
    await awayFromSeam();
    expect(await admissions(make(), freshKey(), LIMIT + 2)).toEqual([true, true, true, false, false]);
  });

  it("counts each key by itself", async () => {
    await awayFromSeam();
    const limit = make();
    const first = freshKey();
    const second = freshKey();
    await admissions(limit, first, LIMIT);
    expect([await limit.waitSeconds(first), await limit.waitSeconds(second)]).toEqual([expect.any(Number), 0]);
    expect(await limit.waitSeconds(first)).toBeGreaterThan(0);
  });

  it("counts requests at once", async () => {
    await awayFromSeam();
    const limit = make();
    const key = freshKey();
    const admitted = await Promise.all(Array.from({ length: 10 }, () => limit.waitSeconds(key)));
    expect(admitted.filter((wait) => wait === 0)).toHaveLength(LIMIT);
  });

  it("says to wait no longer than the period", async () => {
    await awayFromSeam();
    const limit = make();
    const key = freshKey();
    await admissions(limit, key, LIMIT);
    const waitSeconds = await limit.waitSeconds(key);
    expect([waitSeconds > 0, waitSeconds <= 60, Number.isInteger(waitSeconds)]).toEqual([true, true, true]);
  });
});

describe("the counter in the isolate", () => {
  it("begins anew with each period, and when the clock steps back", async () => {
    let nowMs = 0;
    const limit = countedRateLimit({ by: "counter", requests: 1, periodSeconds: 10 }, { nowMs: () => nowMs });
    const at = (ms: number) => {
      nowMs = ms;
      return limit.waitSeconds("a");
    };
    expect(await at(0)).toBe(0);
    expect(await at(9_999)).toBe(1);
    expect(await at(10_000)).toBe(0);
    expect(await at(10_001)).toBe(10);
    expect(await at(9_000)).toBe(0);
  });

  it("says how much of the period is left", async () => {
    let nowMs = 0;
    const limit = countedRateLimit({ by: "counter", requests: 1, periodSeconds: 60 }, { nowMs: () => nowMs });
    await limit.waitSeconds("a");
    const left: number[] = [];
    for (nowMs of [0, 1, 1_000, 30_500, 58_999, 59_000, 59_999]) left.push(await limit.waitSeconds("a"));
    expect(left).toEqual([60, 60, 59, 30, 2, 1, 1]);
    nowMs = 60_000;
    expect(await limit.waitSeconds("a")).toBe(0);
  });

  it("keeps so many keys and forgets the oldest", async () => {
    const limit = countedRateLimit({ by: "counter", requests: 1, periodSeconds: 10 }, { nowMs: () => 0 }, 2);
    const a = await limit.waitSeconds("a");
    const b = await limit.waitSeconds("b");
    const c = await limit.waitSeconds("c");
    expect([a, b, c]).toEqual([0, 0, 0]);
    const again = [await limit.waitSeconds("b"), await limit.waitSeconds("c"), await limit.waitSeconds("a")];
    expect(again).toEqual([10, 10, 0]);
  });
});

describe("the platform's binding", () => {
  it("tells the whole period, since the platform does not say what is left", async () => {
    const full = { limit: async () => ({ success: false }) };
    const limit = boundRateLimit({ by: "binding", binding: full, periodSeconds: 10 }, { report: fail });
    expect(await limit.waitSeconds("a")).toBe(10);
  });

  it("refuses nobody while it fails, and that is told", async () => {
    const errors: unknown[] = [];
    const broken = { limit: () => Promise.reject(new Error("no counter")) };
    const limit = boundRateLimit(
      { by: "binding", binding: broken, periodSeconds: 10 },
      { report: (error) => errors.push(error) },
    );
    expect(await limit.waitSeconds("a")).toBe(0);
    expect(errors).toEqual([new Error("no counter")]);
  });
});

describe("the settings", () => {
  const read = (given: object) => {
    const faults: SettingFault[] = [];
    return { settings: readRateSettings(given, faults), faults: faults.map(({ setting }) => setting) };
  };
  const OFF = { client: undefined, entity: undefined, lookup: undefined };

  it("leave all limits off unless they are given", () => {
    const { settings } = read({});
    expect(settings).toEqual(OFF);
    expect(rateLimits(settings, { clock: { nowMs: () => 0 }, report: fail })).toEqual(OFF);
  });

  it("take a text or a binding", async () => {
    const given = { CLIENT_RATE_LIMIT: "100/60", LOOKUP_RATE_LIMIT: binding, RATE_LIMIT_PERIOD_SECONDS: "10" };
    const limits = rateLimits(read(given).settings, { clock: { nowMs: () => 0 }, report: fail });
    expect([
      await limits.client?.waitSeconds("a"),
      limits.entity,
      await limits.lookup?.waitSeconds(freshKey()),
    ]).toEqual([0, undefined, 0]);
  });

  it.each([
    { CLIENT_RATE_LIMIT: "100" },
    { CLIENT_RATE_LIMIT: "0/60" },
    { CLIENT_RATE_LIMIT: "100/0" },
    { CLIENT_RATE_LIMIT: " 100/60" },
    { ENTITY_RATE_LIMIT: "1e3/60" },
    { LOOKUP_RATE_LIMIT: {} },
    { RATE_LIMIT_PERIOD_SECONDS: "30" },
  ])("are a fault when they are %j, and off", (given) =>
    expect(read(given)).toEqual({ settings: OFF, faults: Object.keys(given) }),
  );

  it("must say which period a binding has; else it is taken for the longer one", () => {
    const { settings, faults } = read({ CLIENT_RATE_LIMIT: binding });
    expect([settings.client?.periodSeconds, faults]).toEqual([60, ["RATE_LIMIT_PERIOD_SECONDS"]]);
  });
});
