import fc from "fast-check";
import { it } from "vitest";
import { runs } from "../../setup/property-runs.ts";
import { mergedProperty } from "./merged.ts";

it("a list read page by page is the sorted whole, whatever fails in between", () =>
  fc.assert(mergedProperty, { numRuns: runs(40) }));
