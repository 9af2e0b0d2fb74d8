import { isDeepStrictEqual } from "node:util";

/** Counts what holds, and prints what does not. */
export interface Checks {
  /** Whether `actual` is `expected`; the name says what of. */
  equal(name: string, actual: unknown, expected: unknown): boolean;
  readonly passed: number;
  readonly failed: number;
}

export function startChecks(print: (line: string) => void): Checks {
  const counts = { passed: 0, failed: 0 };
  return {
    equal(name, actual, expected) {
      const holds = isDeepStrictEqual(actual, expected);
      counts[holds ? "passed" : "failed"] += 1;
      if (!holds) print(`FAILED ${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
      return holds;
    },
    get passed() {
      return counts.passed;
    },
    get failed() {
      return counts.failed;
    },
  };
}
