import { expect, test } from "vitest";
import { formatPercent } from "../../../src/cli/lib/output.ts";

test.each([
  [0, "0 %"],
  [1e-9, "less than 0.01 %"],
  [0.01, "0.01 %"],
  [12.345, "12.35 %"],
  [99.99, "99.99 %"],
  [99.999999, "more than 99.99 %"],
  [100, "100 %"],
])("%d is %s", (percent, text) => {
  expect(formatPercent(percent)).toBe(text);
});
