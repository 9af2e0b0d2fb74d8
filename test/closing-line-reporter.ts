import type { Reporter, TestModule } from "vitest/node";

/** Prints one plain, uncoloured line when all is done: what a script needs to know of the run. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        const { state } = test.result();
        // A test that never came to an end has not passed.
        counts[state === "pending" ? "failed" : state] += 1;
      }
      // A file that could not be loaded, or whose hooks failed, has a fault that is no test's.
      if (module.errors().length > 0) counts.failed += 1;
    }
    const line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
    // After the other reporters' summaries, which are printed in this same turn.
    process.once("exit", () => process.stdout.write(`${line}\n`));
  }
}
