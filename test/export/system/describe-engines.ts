import { describe } from "vitest";
import { ENGINES, type Engine } from "../../../src/export/index.ts";
import { isInstalled } from "../engines.ts";

/** Tests of each engine that has a program to run; skipped by name where it is not installed. Envoy is in no package. */
export function describeEngines(titleOf: (engine: Engine) => string, tests: (engine: Engine) => void): void {
  for (const engine of ENGINES.filter((each) => each !== "envoy")) {
    describe.runIf(isInstalled(engine))(titleOf(engine), () => tests(engine));
  }
}
