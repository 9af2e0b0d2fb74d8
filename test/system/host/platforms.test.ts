import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apartFromTerminal } from "../../../src/host/child.ts";
import { findWrangler } from "../../../src/host/deploy/wrangler.ts";
import { commandLineQuery, refuseRunning, runningOn } from "../../../src/host/workerd/workerd.ts";

/** The parts of the host that differ by system. Windows and macOS are arguments: only Linux runs here. */

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "waybill-platforms-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a state that is in use", () => {
  const inUse = async (work: (pid: number) => void): Promise<void> => {
    // Its command line is like workerd's: it ends with the configuration.
    const args = ["-e", "setInterval(() => {}, 1000); console.log('ready')", join(folder, "config.capnp")];
    const child = spawn(process.execPath, args);
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      writeFileSync(join(folder, "workerd.pid"), String(child.pid));
      work(child.pid ?? 0);
    } finally {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("close", resolve));
    }
  };

  it("is refused while its process runs, and not after that", async () => {
    await inUse((pid) => {
      expect(runningOn(folder)).toBe(pid);
      expect(() => refuseRunning(folder)).toThrow(`is the state of a running gateway (process ${pid})`);
    });
    expect(runningOn(folder)).toBeUndefined();
  });

  it("is not taken for another's by a process that has got the number of a killed one, as in a container", async () => {
    await inUse((pid) => {
      expect(runningOn(folder, pid)).toBeUndefined();
      expect(() => refuseRunning(folder, pid)).not.toThrow();
      expect(() => refuseRunning(folder, pid + 1)).toThrow("is the state of a running gateway");
    });
  });

  it.each(["", "0", "-1", "none", `${2 ** 31}`, String(process.pid)])(
    "is free with the number %j in its file",
    (pid) => {
      writeFileSync(join(folder, "workerd.pid"), pid);
      expect(runningOn(folder)).toBeUndefined();
    },
  );

  it("is known by a program where there is no /proc", () => {
    for (const platform of ["darwin", "freebsd"] as const) {
      const [program, ...args] = commandLineQuery(process.pid, platform);
      // The same program and options are on Linux.
      expect(spawnSync(program, args, { encoding: "utf8" }).stdout).toContain("vitest");
    }
    expect(commandLineQuery(7, "win32")).toEqual([
      "powershell",
      "-NoProfile",
      "-NonInteractive",
      "-Command",
      "(Get-CimInstance Win32_Process -Filter 'ProcessId=7').CommandLine",
    ]);
  });
});

it.each([
  ["linux", true],
  ["darwin", true],
  ["win32", false],
] as const)("a child on %s is detached: %s", (platform, detached) => {
  expect(apartFromTerminal(platform)).toEqual({ detached, windowsHide: true });
});

describe("wrangler", () => {
  const manifestOf = (version: string): string => JSON.stringify({ version, bin: { wrangler: "./bin/w.js" } });

  it("is a script of the package, for the Node that runs", () => {
    const found = findWrangler(process.cwd(), "99.0.0");
    expect(readFileSync(found.ok ? found.value.program : "", "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("is found above the folder, and is missing where no folder has it", () => {
    expect(findWrangler(folder)).toMatchObject({ ok: false, error: expect.stringContaining("npm install --save-dev") });
    const installed = join(folder, "node_modules/wrangler");
    mkdirSync(join(installed, "bin"), { recursive: true });
    writeFileSync(join(installed, "package.json"), manifestOf("4.164.0"));
    expect(findWrangler(join(folder, "a/b"))).toMatchObject({ value: { program: join(installed, "bin/w.js") } });
  });

  it.each(["4.163.9", "3.200.0"])("%s is too old", (version) => {
    const installed = join(folder, version, "node_modules/wrangler");
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, "package.json"), manifestOf(version));
    const error = `wrangler ${version} is older than 4.164.0: npm install --save-dev wrangler@^4.164.0`;
    expect(findWrangler(join(folder, version))).toEqual({ ok: false, error });
  });
});
