import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleWorker } from "../../../src/host/workerd/bundle.ts";
import { brokenImports, copyProduct, FEATURES, goneWith, leaveOut, withoutLines } from "./left-out.ts";
import { ROOT } from "./zones.ts";

/** Each feature left out: nothing else imports it. Whole gateways without one run in `../../system/left-out.slow.test.ts`. */

describe("without a feature", () => {
  let copy = "";
  beforeAll(() => {
    copy = copyProduct();
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  it.each(FEATURES)("%s: every import leads to a file, and the Worker builds", async (feature) => {
    const putBack = leaveOut(copy, goneWith(feature));
    try {
      expect(brokenImports(copy)).toEqual([]);
      const tableText = readFileSync(join(ROOT, "routing-table.json"), "utf8");
      const modules = await bundleWorker({ tableText, entries: { worker: join(copy, "src/worker.ts") } });
      expect(modules.map(({ name }) => name)).toContain("worker.js");
    } finally {
      putBack();
    }
  });
});

it("what stands on a feature goes with it", () => {
  expect(goneWith("idempotency").toSorted()).toEqual(["create", "graphql", "idempotency", "mint"]);
  expect(goneWith("cors")).toEqual(["cors"]);
});

it.each([
  ["an array", "const A = [a, b];", "const A = [ b];"],
  ["the last of an array", "const A = [b, a];", "const A = [b,];"],
  ["an object", "const A = { x: a, ...b };", "const A = { ...b };"],
  ["an entry of several words", 'const A = [{ name: "a", part: a }, b];', "const A = [ b];"],
  [
    "a part that is loaded by need",
    'const A = [["a", async () => (await import("./one/c.ts")).c], b];',
    "const A = [ b];",
  ],
  ["a union", "type A =\n  | a\n  | b;", "type A =\n  | b;"],
  ["exports", 'export { C } from "./one/c.ts";', ""],
])("a list loses the lines of a feature: %s", (_, before, after) => {
  const imports = 'import { a } from "./one/x.ts";\nimport { b } from "./two/x.ts";\n';
  const lines = withoutLines(imports + before, ["one"]);
  expect(lines.trim().split("\n").slice(1).join("\n").replaceAll(/\s+/g, " ").trim()).toBe(
    after.replaceAll(/\s+/g, " ").trim(),
  );
});
