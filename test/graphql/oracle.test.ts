import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../setup/property-runs.ts";
import { checkAgainstOracle, emptySums } from "./compare.ts";

const choices = fc.array(fc.nat(99_999), { minLength: 60, maxLength: 300 });

test("a result is the one of a single server that has all data", async () => {
  const sums = emptySums();
  await fc.assert(
    fc.asyncProperty(choices, (numbers) => checkAgainstOracle(numbers, sums)),
    { numRuns: runs(200) },
  );
  expect(sums.split).toBeGreaterThan(20);
});
