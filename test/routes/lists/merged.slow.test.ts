import fc from "fast-check";
import { it } from "vitest";
import { mergedProperty } from "./merged.ts";

it("10,000 lists read page by page are the sorted whole", async () => {
  for (let part = 0; part < 20; part++) {
    await fc.assert(mergedProperty, { numRuns: 500 });
    // The runtime has a limit of running timers; one of each request ends later.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
});
