import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Highest exposure of a unit by systemd's own measure, from 0 to 10. Without its hardening it is 9.2. */
const EXPOSURE_MAX = 1.4;

/** The security of a file is measured from version 250 on. */
const systemd = spawnSync("systemd-analyze", ["--version"], { encoding: "utf8" });
const systemdVersion = Number(/^systemd (\d+)/.exec(systemd.stdout ?? "")?.[1] ?? 0);

/** A unit that systemd takes, and that may do little. */
export const isConfinedUnit = (name: string, unit: string): void =>
  it.skipIf(systemdVersion < 250)("is valid and confined, by systemd-analyze (skipped where it is missing)", () => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-unit-"));
    const file = join(folder, name);
    // Programs and folders of a unit must exist to be valid.
    writeFileSync(file, unit.replace("/usr/bin/node ", `${process.execPath} `).replace("=/opt/waybill", `=${folder}`));
    const analyze = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync("systemd-analyze", [...args, file], { encoding: "utf8" });
      return { status, output: stdout + stderr };
    };
    const verified = analyze("verify");
    const measured = analyze("security", "--offline=true", "--no-pager", `--threshold=${EXPOSURE_MAX * 10}`);
    rmSync(folder, { recursive: true });
    expect(verified).toEqual({ status: 0, output: "" });
    expect(measured).toMatchObject({ status: 0, output: expect.stringContaining("Overall exposure level") });
  });
