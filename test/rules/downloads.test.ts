import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packagesOf } from "../../src/host/checkout/packages.mjs";
import { ROOT } from "./house.ts";

/** The figures that src/host/run.mjs prints before it installs, held against the lock files, the disk and npm's cache. */

interface Figures {
  readonly downloadMb: number;
  /** As `du -m` counts. */
  readonly diskMb: number;
}

const said: Readonly<Record<string, Figures>> = JSON.parse(
  readFileSync(join(ROOT, "src/host/checkout/downloads.json"), "utf8"),
);

interface Package {
  readonly folder: string;
  readonly integrity: string;
}

/** Installed packages of a lock file. Optional ones for other machines are not there. */
function installed(folder: string, isWanted: (locked: { dev?: boolean }) => boolean): readonly Package[] {
  const locked = packagesOf(join(ROOT, folder, "package-lock.json")) ?? {};
  return Object.entries(locked)
    .filter(([path, each]) => path !== "" && isWanted(each))
    .map(([path, { integrity = "" }]) => ({ folder: join(ROOT, folder, path), integrity }))
    .filter((each) => existsSync(each.folder));
}

const PARTS: readonly (readonly [string, readonly Package[]])[] = [
  ["product", installed("", ({ dev }) => dev !== true)],
  ["tools", installed("", ({ dev }) => dev === true)],
  // Only where the machine's own is too old.
  ["node", installed(".node", () => true)],
];

/** Files of packages without packages inside: these have entries of their own. A file with two names counts once, as for `du`. */
function diskBytes(folders: readonly string[]): number {
  const sizes = new Map<number, number>();
  const count = (path: string): void => {
    const { ino, blocks } = lstatSync(path);
    sizes.set(ino, blocks * 512);
  };
  const walk = (folder: string): void => {
    count(folder);
    for (const each of readdirSync(folder, { withFileTypes: true })) {
      if (each.name === "node_modules") continue;
      if (each.isDirectory()) walk(join(folder, each.name));
      else count(join(folder, each.name));
    }
  };
  folders.forEach(walk);
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** npm keeps the file that it downloaded by its hash. `undefined`: not in this machine's cache. */
function downloadBytes({ integrity }: Package, cache: string): number | undefined {
  const hash = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  const path = join(cache, "_cacache/content-v2/sha512", hash.slice(0, 2), hash.slice(2, 4), hash.slice(4));
  return existsSync(path) ? statSync(path).size : undefined;
}

const isMeasured = process.platform === "linux" && process.arch === "x64";
const MEBIBYTE = 2 ** 20;
const MEGABYTE = 1e6;

describe.runIf(isMeasured)("the figures of an installation", () => {
  it.each(PARTS.filter(([, packages]) => packages.length > 0))("are right for the part %s", (part, packages) => {
    const figures = said[part];
    const diskMb = diskBytes(packages.map(({ folder }) => folder)) / MEBIBYTE;
    expect(Math.abs(diskMb / (figures?.diskMb ?? 0) - 1), `${diskMb} MB on the disk`).toBeLessThan(0.05);
  });

  const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
  const cached = PARTS.map(([part, packages]) => [part, packages.map((each) => downloadBytes(each, cache))] as const);
  const whole = cached.filter(([, bytes]) => bytes.length > 0 && !bytes.includes(undefined));

  it.skipIf(whole.length === 0)("are right for the downloads that npm's cache has whole", () => {
    for (const [part, bytes] of whole) {
      const downloadMb = bytes.reduce<number>((sum, each) => sum + (each ?? 0), 0) / MEGABYTE;
      expect(Math.abs(downloadMb / (said[part]?.downloadMb ?? 0) - 1), `${part}: ${downloadMb} MB`).toBeLessThan(0.05);
    }
  });

  it("stand in the documents", () => {
    const page = readFileSync(join(ROOT, "docs/operate/platforms.md"), "utf8");
    for (const { downloadMb, diskMb } of Object.values(said))
      expect(page).toContain(` | ${downloadMb} MB | ${diskMb} MB |\n`);
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    const sizes = (part: string, of: string) =>
      `${said[part]?.downloadMb} MB${of} (${said[part]?.diskMb} MB on the disk)`;
    expect(readme).toContain(`The first run downloads ${sizes("product", "")}.`);
    expect(readme).toContain(`\`npm test\` downloads ${sizes("tools", " more")}, `);
    expect(readme).toContain(`a Node of ${said["node"]?.downloadMb} MB if`);
  });

  it("stay within 250 MB for npm start", () => {
    expect(said["product"]?.diskMb).toBeLessThanOrEqual(250);
  });
});

describe("the lock files", () => {
  it.each(["package-lock.json", ".node/package-lock.json"])("%s name no registry, and pin each package", (name) => {
    const packages = packagesOf(join(ROOT, name)) ?? {};
    const faulty = Object.entries(packages).filter(
      ([path, each]) => path !== "" && ("resolved" in each || !each.integrity?.startsWith("sha512-")),
    );
    expect(faulty).toEqual([]);
  });

  it("have no test tool among what npm start installs", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const packages = packagesOf(join(ROOT, "package-lock.json")) ?? {};
    const kept = Object.keys(devDependencies).filter((name) => packages[`node_modules/${name}`]?.dev !== true);
    // npm installs `typescript` (24 MB) with a package that may use it: delete the `peerDependencies` and `peerDependenciesMeta` of
    // that package from the lock file, then run `npm install --package-lock-only`.
    expect(kept).toEqual([]);
  });

  it("have one version of Node for all machines", () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, ".node/package.json"), "utf8"));
    expect(new Set(Object.values(optionalDependencies)).size).toBe(1);
  });
});
