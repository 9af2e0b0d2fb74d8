import fc from "fast-check";
import { inject } from "vitest";
import { runs } from "./property-runs.ts";

/** `npm test` tries the same cases each time, so that none is flaky; `npm run test:slow` tries others, and prints its seed. */
const SEED = 20261122;

// The number of runs is for properties that name none themselves.
fc.configureGlobal({ numRuns: runs(50), ...(inject("propertyRuns") === 1 && { seed: SEED }) });
