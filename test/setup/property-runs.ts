import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** `npm test` has 1; `npm run test:slow` has 20. */
    readonly propertyRuns: number;
    /** `npm test` tries the same cases each time, so that none is flaky; `npm run test:slow` prints its seed. */
    readonly propertySeed: number | null;
  }
}

/** How many cases a property tries, where `npm test` tries `each`. */
export const runs = (each: number): number => Math.ceil(each * inject("propertyRuns"));
