import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tableCodeVersion } from "../../../src/host/workerd/bundle.ts";
import { workerWith } from "../../../src/host/workerd/table-modules.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "waybill-table-code-"));

/** A process of its own for each version: one computes it once. */
function versionOfCopy(): string {
  const module = pathToFileURL(join(folder, "src/host/workerd/bundle.ts"));
  const code = `import { tableCodeVersion } from ${JSON.stringify(module)}; console.log(await tableCodeVersion());`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }).trim();
}

beforeAll(() => {
  for (const name of ["src", "routes", "package.json", "routing-table.json"]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Makes one edit in the copy, asks for its version, and takes the edit back. */
function versionWith(path: string, edit: (file: string) => void): string {
  const file = join(folder, path);
  const text = readFileSync(file, "utf8");
  try {
    edit(file);
    expect(readFileSync(file, "utf8")).not.toBe(text);
    return versionOfCopy();
  } finally {
    writeFileSync(file, text);
  }
}

const replacing =
  (from: RegExp, to: string) =>
  (file: string): void =>
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));

describe("the version of the code that checks and compiles tables", () => {
  it("is part of a build, and the same wherever the project lies", async () => {
    const version = await tableCodeVersion();
    expect(version).toMatch(/^[0-9a-f]{16}$/);
    expect(versionOfCopy()).toBe(version);
    const tableText = readFileSync(join(ROOT, "routing-table.json"), "utf8");
    const modules = (await workerWith(tableText)).filter(({ code }) => code.includes(version));
    expect(modules.map(({ name }) => name)).toEqual(["voucher.js", "core.js"]);
  });

  const RETURNS = replacing(/return /, "return globalThis.changed ?? ");

  it.each([
    ["a check of the core", "src/routing/check/regions.ts", replacing(/weight === 0\)/, "weight === 1)")],
    [
      "a feature's check",
      "src/features/lists/table/check.ts",
      replacing(/if \(path === undefined\)/, "if (path === null)"),
    ],
    ["the compiler", "src/routing/compile/compile.ts", RETURNS],
    ["a feature's compiler", "src/features/lists/table/compile.ts", RETURNS],
    ["the schema", "src/routing/schema/table.ts", replacing(/integer\(0, 255\)/, "integer(0, 254)")],
    ["the stored form", "src/routing/compile/store.ts", RETURNS],
    ["its reader", "src/routing/compile/restore.ts", RETURNS],
  ])("changes with %s", async (_, path, edit) => {
    const version = await tableCodeVersion();
    expect(versionWith(path, edit)).not.toBe(version);
  });

  it("stays with comments, and with code that no table passes", async () => {
    const version = await tableCodeVersion();
    expect(versionWith("src/routing/check/regions.ts", (file) => appendFileSync(file, "\n// A comment.\n"))).toBe(
      version,
    );
    expect(versionWith("src/proxy/deliver.ts", RETURNS)).toBe(version);
  });
});
