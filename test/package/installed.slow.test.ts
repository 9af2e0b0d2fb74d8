import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Packed, packAll, ROOT } from "./packed.ts";

/**
 * The packages installed by npm into empty folders, and run by the oldest Node that they support. Takes one to five minutes, and fetches
 * workerd and two Nodes from the registry: 160 and 180 MB.
 */

/** The oldest supported Node, and one that is too old. */
const NODES = { oldest: "20.18.0", tooOld: "18.20.8" } as const;
const PACKAGES_MAX = 12;
const INSTALLED_BYTES_MAX = 180e6;
const VERSION_MS_MAX = 250;

let folder: string;
let packages: readonly Packed[];
const nodes: Partial<Record<keyof typeof NODES, string>> = {};

const packed = (name: Packed["name"]): Packed => packages.find((each) => each.name === name) as Packed;

/** A project that has only this installed. */
function install(name: string, ...specifiers: readonly string[]): string {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", ...specifiers], {
    cwd: project,
  });
  return project;
}

function bytesIn(path: string): number {
  const stat = lstatSync(path);
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0) : stat.size;
}

const installedIn = (project: string): readonly string[] => {
  const { packages: all } = JSON.parse(readFileSync(join(project, "node_modules/.package-lock.json"), "utf8"));
  return Object.keys(all).map((path) => path.replace(/^.*node_modules\//, ""));
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-installed-"));
  packages = packAll(join(folder, "packages"));
  for (const [name, version] of Object.entries(NODES) as ["oldest" | "tooOld", string][]) {
    const project = install(name, `node-${process.platform}-${process.arch}@${version}`);
    nodes[name] = join(project, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  }
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("waybill", () => {
  let project: string;
  const run = (node: string | undefined, ...args: readonly string[]) =>
    spawnSync(node ?? "", [join(project, "node_modules/waybill/dist/cli/main.js"), ...args], {
      cwd: project,
      encoding: "utf8",
      env: { ...process.env, FORCE_COLOR: undefined },
    });

  beforeAll(() => {
    project = install("self-hosting", packed("waybill").tarball);
    cpSync(join(ROOT, "routing-table.json"), join(project, "routing-table.json"));
  }, 300_000);

  it("installs few packages, and little beside workerd", () => {
    const installed = installedIn(project);
    expect(installed).toContain("workerd");
    expect(installed.length, installed.join(", ")).toBeLessThanOrEqual(PACKAGES_MAX);
    expect(bytesIn(join(project, "node_modules"))).toBeLessThan(INSTALLED_BYTES_MAX);
  });

  it("prints its version at once on the oldest Node", () => {
    // The processor's time: the machine may do other things meanwhile.
    const meter = join(project, "meter.cjs");
    const { version } = packed("waybill").manifest;
    writeFileSync(
      meter,
      "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write(String((user + system) / 1000)); });",
    );
    const program = join(project, "node_modules/waybill/dist/cli/main.js");
    const times = Array.from({ length: 10 }, () => {
      const { stdout, stderr } = spawnSync(nodes.oldest ?? "", ["--require", meter, program, "--version"], {
        encoding: "utf8",
      });
      expect(stdout).toBe(`${version}\n`);
      return Number(stderr);
    });
    expect(Math.min(...times)).toBeLessThan(VERSION_MS_MAX);
  });

  it("prints the help of every command on the oldest Node", () => {
    const helpOf = (words: readonly string[]): readonly string[] => {
      const { status, stdout, stderr } = run(nodes.oldest, ...words, "--help");
      expect([status, stderr], words.join(" ")).toEqual([0, ""]);
      const [, listed = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
      const names = [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = ""]) => name);
      return [words.join(" "), ...names.filter((name) => name !== "help").flatMap((name) => helpOf([...words, name]))];
    };
    expect(helpOf([]).length).toBeGreaterThan(50);
  });

  it("builds a table on the oldest Node", () => {
    expect(run(nodes.oldest, "build", "--out", "build")).toMatchObject({ status: 0 });
    expect(readdirSync(join(project, "build"))).toContain("worker");
  });

  it("says on an older Node what it needs", () => {
    const { status, stdout, stderr } = run(nodes.tooOld, "table", "check");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`waybill needs Node 20.18 or later; this is ${NODES.tooOld}`);
  });
});

it("@waybill/ids installs without a runtime", () => {
  const project = install("app", packed("waybill-ids").tarball);
  expect(installedIn(project).filter((name) => !name.startsWith("@stablelib/"))).toEqual(["@waybill/ids"]);
  const program = 'import { iuid } from "@waybill/ids"; console.log(iuid.name);';
  expect(
    execFileSync(nodes.oldest ?? "", ["--input-type=module", "-e", program], { cwd: project, encoding: "utf8" }),
  ).toBe("iuid\n");
});

it("create-waybill has no dependency", () => {
  expect(installedIn(install("creator", packed("create-waybill").tarball))).toEqual(["create-waybill"]);
});

it("npm refuses to publish what has no licence yet", () => {
  const { manifest, tarball } = packed("waybill");
  expect(manifest).toMatchObject({ license: "UNLICENSED", private: true });
  // No registry is there, and the token is none. A dry run would not look at `private`.
  const nowhere = ["--registry=http://127.0.0.1:9/", "--//127.0.0.1:9/:_authToken=none", "--fetch-retries=0"];
  const { status, stderr } = spawnSync("npm", ["publish", tarball, "--loglevel=error", ...nowhere], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(status).not.toBe(0);
  expect(stderr).toContain("EPRIVATE");
});
