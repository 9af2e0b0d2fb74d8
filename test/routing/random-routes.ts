import fc from "fast-check";

/** Shares at both ends, and such as part a handful of IDs. */
const PERCENTS = [0, 0.01, 10, 50, 90, 99.99, 100];

/** A route to one of a few regions; half of them have a canary in another one, and some are split over all. */
export const routeOf = <When>(when: fc.Arbitrary<When>, regions: readonly string[]) =>
  fc
    .record({
      when,
      way: fc.shuffledSubarray([...regions], { minLength: 2, maxLength: 2 }),
      percent: fc.option(fc.constantFrom(...PERCENTS), { nil: undefined, freq: 1 }),
      split: fc.option(fc.constantFrom(...splitsOver(regions)), { nil: undefined, freq: 4 }),
    })
    .map(({ when: conditions, way: [region = "", other = ""], percent, split }) =>
      split === undefined ? wayTo(conditions, region, other, percent) : { when: conditions, split },
    );

const splitsOver = (regions: readonly string[]) => {
  const [first = "", second = first, third = second] = regions;
  return [
    { by: "hash" as const, parts: 2, regions: [first, second] },
    { by: "hash" as const, parts: 3, regions: [third, first, second] },
    { by: "hash" as const, parts: 7, regions: { "0-2": second, 3: first, "4-6": third } },
  ];
};

const wayTo = <When>(conditions: When, region: string, other: string, percent: number | undefined) => ({
  when: conditions,
  region,
  ...(percent === undefined ? {} : { canary: { region: other, percent } }),
});
