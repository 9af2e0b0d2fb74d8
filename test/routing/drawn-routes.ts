import fc from "fast-check";

/** Shares at both ends, and such as part a handful of IDs. */
const PERCENTS = [0, 0.01, 10, 50, 90, 99.99, 100];

/** A route to one of a few regions; half of them have a canary in another one. */
export const routeOf = <When>(when: fc.Arbitrary<When>, regions: readonly string[]) =>
  fc
    .record({
      when,
      way: fc.shuffledSubarray([...regions], { minLength: 2, maxLength: 2 }),
      percent: fc.option(fc.constantFrom(...PERCENTS), { nil: undefined, freq: 1 }),
    })
    .map(({ when: conditions, way: [region = "", other = ""], percent }) => ({
      when: conditions,
      region,
      ...(percent === undefined ? {} : { canary: { region: other, percent } }),
    }));
