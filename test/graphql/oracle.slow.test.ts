import fc from "fast-check";
import { expect, test } from "vitest";
import { checkAgainstOracle, emptySums } from "./compare.ts";

const CASES = 10_000;

test("10,000 results are those of a single server that has all data", async () => {
  const sums = emptySums();
  const choices = fc.array(fc.nat(99_999), { minLength: 60, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(choices, (numbers) => checkAgainstOracle(numbers, sums)),
    { numRuns: CASES },
  );
  expect(sums.split).toBeGreaterThan(CASES / 2);
  expect(Math.min(sums.withErrors, sums.nulled, sums.invalid, sums.down)).toBeGreaterThan(CASES / 50);
});
