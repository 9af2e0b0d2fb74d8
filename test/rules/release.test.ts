import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  changesetsIn,
  readReleased,
  type State,
  snapshotsIn,
  versionAfter,
  versionFaults,
} from "../../src/package/release/contract.ts";
import { ROOT } from "./house.ts";

const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");

test("the version and the changesets say what has changed in the contract", () => {
  const state: State = {
    released: readReleased(ROOT),
    snapshots: snapshotsIn(ROOT),
    changesets: changesetsIn(ROOT),
    version: JSON.parse(read("package.json")).version,
    changelog: read("CHANGELOG.md"),
  };
  expect(versionFaults(state)).toEqual([]);
});

const changeset = (bump: string, text = "A change.") => ({
  name: "x.md",
  text: `---\n"waybill": ${bump}\n---\n\n${text}\n`,
});
const SNAPSHOTS = { "cli-help.txt": "1", "log.txt": "2" };
const QUIET: State = {
  released: { version: "1.2.3", snapshots: SNAPSHOTS },
  snapshots: SNAPSHOTS,
  changesets: [],
  version: "1.2.3",
  changelog: "# Changelog\n\n## 1.2.3\n\n- A change.\n",
};

describe("versionFaults", () => {
  const LOG = { ...SNAPSHOTS, "log.txt": "3" };
  const HELP = { ...SNAPSHOTS, "cli-help.txt": "3" };
  const { "log.txt": _, ...WITHOUT_LOG } = SNAPSHOTS;
  const MAJOR = changeset("major", "A change.\n\nWhen upgrading: act.");

  it.each<[string, Partial<State>]>([
    ["nothing since the release", {}],
    ["a fix alone", { changesets: [changeset("patch")] }],
    ["a fix, with its version already", { changesets: [changeset("patch")], version: "1.2.4" }],
    ["a changed snapshot with a minor", { snapshots: LOG, changesets: [changeset("minor")], version: "1.3.0" }],
    ["a changed snapshot with a major", { snapshots: LOG, changesets: [changeset("patch"), MAJOR], version: "2.0.0" }],
    ["new prose with a patch", { snapshots: HELP, changesets: [changeset("patch")] }],
    ["a new snapshot with a minor", { snapshots: { ...SNAPSHOTS, "a.txt": "1" }, changesets: [changeset("minor")] }],
  ])("takes %s", (_name, state) => expect(versionFaults({ ...QUIET, ...state })).toEqual([]));

  it.each<[string, Partial<State>, string]>([
    ["a changed snapshot without a changeset", { snapshots: LOG }, "snapshots/log.txt is not that of 1.2.3"],
    ["a changed snapshot with a patch", { snapshots: LOG, changesets: [changeset("patch")] }, 'at least "minor"'],
    ["new prose without a changeset", { snapshots: HELP }, 'at least "patch"'],
    ["a snapshot that is gone", { snapshots: WITHOUT_LOG, changesets: [changeset("patch")] }, "snapshots/log.txt"],
    ["a new snapshot", { snapshots: { ...SNAPSHOTS, "a.txt": "1" } }, "snapshots/a.txt"],
    ["a version by hand", { version: "1.3.0" }, "package.json has version 1.3.0"],
    ["a version above its changesets", { version: "2.0.0", changesets: [changeset("minor")] }, "1.2.3 or 1.3.0"],
    ["a release that the changelog lacks", { changelog: "# Changelog\n" }, "no section 1.2.3"],
    [
      "a changeset of another package",
      { changesets: [{ name: "y.md", text: '---\n"other": minor\n---\n\nA change.\n' }] },
      "y.md",
    ],
    ["a changeset without a text", { changesets: [{ name: "y.md", text: '---\n"waybill": minor\n---\n\n' }] }, "y.md"],
    ["a major that tells nobody what to do", { changesets: [changeset("major")] }, '"When upgrading: "'],
  ])("refuses %s", (_name, state, fault) => {
    const faults = versionFaults({ ...QUIET, ...state });
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });
});

test.each([
  ["0.1.0", "major", "1.0.0"],
  ["1.9.9", "minor", "1.10.0"],
  ["1.9.9", "patch", "1.9.10"],
  ["9.1.1", "major", "10.0.0"],
] as const)("%s and a %s make %s", (version, bump, next) => expect(versionAfter(version, bump)).toBe(next));
