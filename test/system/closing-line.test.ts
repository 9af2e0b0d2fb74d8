import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-reporter-"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
});
afterEach(() => rmSync(folder, { recursive: true }));

function lastLineOf(files: Readonly<Record<string, string>>): string | undefined {
  for (const [name, body] of Object.entries(files)) {
    writeFileSync(join(folder, name), `import { expect, it } from "vitest";\n${body}\n`);
  }
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const reporter = join(ROOT, "test", "closing-line-reporter.ts");
  const args = [vitest, "run", "--root", folder, "--reporter=default", `--reporter=${reporter}`];
  const env = { ...process.env, FORCE_COLOR: "1" };
  return spawnSync(process.execPath, args, { encoding: "utf8", env, cwd: folder }).stdout.trimEnd().split("\n").at(-1);
}

it("the last line counts tests, without colours", () => {
  const body = 'it("a", () => expect(1).toBe(1)); it("b", () => expect(1).toBe(2)); it.skipIf(true)("c", () => {});';
  expect(lastLineOf({ "mixed.test.ts": body })).toBe("1 passed, 1 failed, 1 skipped");
});

it("a file that cannot be loaded is a failure", () => {
  const files = { "good.test.ts": 'it("a", () => expect(1).toBe(1));', "bad.test.ts": 'throw new Error("bad");' };
  expect(lastLineOf(files)).toBe("1 passed, 1 failed, 0 skipped");
});
