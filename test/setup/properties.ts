import fc from "fast-check";
import { inject } from "vitest";
import { runs } from "./property-runs.ts";

const seed = inject("propertySeed");

// The number of runs is for properties that name none themselves.
fc.configureGlobal({ numRuns: runs(50), ...(seed !== null && { seed }) });
