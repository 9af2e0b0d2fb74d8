import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { changesetsIn, readReleased, snapshotsIn, versionFaults } from "../../src/package/release/contract.ts";
import { ROOT } from "./packed.ts";

/** `npm run release` in a small project of the same form. */

let project: string;
const write = (path: string, text: string): void => writeFileSync(join(project, path), text);
const read = (path: string): string => readFileSync(join(project, path), "utf8");
const release = () =>
  spawnSync(process.execPath, ["src/host/run.mjs", "src/package/release/release.ts", project], {
    cwd: ROOT,
    encoding: "utf8",
  });

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "waybill-release-"));
  for (const folder of [".changeset", "test/contract/snapshots"]) mkdirSync(join(project, folder), { recursive: true });
  for (const name of ["config.json", "changelog.mjs"])
    write(`.changeset/${name}`, readFileSync(join(ROOT, ".changeset", name), "utf8"));
  // The number of the next version, set by hand.
  write("package.json", '{ "name": "waybill", "version": "1.0.0", "private": true, "type": "module" }\n');
  write(
    "package-lock.json",
    '{ "version": "1.0.0", "packages": { "": { "version": "1.0.0" }, "a": { "version": "7.0.0" } } }\n',
  );
  write("CHANGELOG.md", "# Changelog\n\n## 0.1.0\n\nThe first.\n");
  write("test/contract/snapshots/log.txt", "new\n");
  write("test/contract/released.json", '{ "version": "0.1.0", "snapshots": { "log.txt": "of the old" } }\n');
  spawnSync("git", ["init", "--quiet"], { cwd: project });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

it("takes the changesets into the changelog, what users must do first", () => {
  write(
    ".changeset/a.md",
    '---\n"waybill": major\n---\n\nPackages: one\nand two.\n\nWhen upgrading: import the new name\nin each file.\n',
  );
  write(".changeset/b.md", '---\n"waybill": minor\n---\n\nA flag.\n\n- `--one`\n\nWhen upgrading: drop `--two`.\n');
  write(".changeset/c.md", '---\n"waybill": patch\n---\n\nA fix.\n');
  const { stdout, stderr, status } = release();
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("0.1.0 → 1.0.0");
  expect(read("CHANGELOG.md")).toBe(`# Changelog

## 1.0.0

### When upgrading

- Import the new name
  in each file.
- Drop \`--two\`.

### Major Changes

- Packages: one
  and two.

### Minor Changes

- A flag.

  - \`--one\`

### Patch Changes

- A fix.

## 0.1.0

The first.
`);
});

it("leaves a state in which the version says what has changed", () => {
  write(".changeset/a.md", '---\n"waybill": minor\n---\n\nA flag.\n');
  expect(release().status).toBe(0);
  const { version } = JSON.parse(read("package.json"));
  expect(version).toBe("0.2.0");
  expect(JSON.parse(read("package-lock.json"))).toEqual({
    version,
    packages: { "": { version }, a: { version: "7.0.0" } },
  });
  expect(readdirSync(join(project, ".changeset"))).toEqual(["changelog.mjs", "config.json"]);
  const state = { snapshots: snapshotsIn(project), changesets: changesetsIn(project), changelog: read("CHANGELOG.md") };
  expect(versionFaults({ ...state, version, released: readReleased(project) })).toEqual([]);
});

it("releases nothing where nothing has changed", () => {
  expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining("Nothing to release") });
  expect(read("package.json")).toContain("1.0.0");
});
