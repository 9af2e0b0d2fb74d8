import fc from "fast-check";
import { runs } from "./property-runs.ts";

// For properties that name no number of runs themselves.
fc.configureGlobal({ numRuns: runs(50) });
