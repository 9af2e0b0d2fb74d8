import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../packed.ts";

/** The version before, and this one, as their users have them. */

/** The last commit before there were packages. */
const BEFORE_PACKAGES = "46b2254f3d3df14a0b9591e484648b4a56682e73";

export interface Version {
  /** The command's script. */
  readonly program: string;
  /** Its sources. */
  readonly sources: string;
}

const git = (...args: readonly string[]) => spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });

/**
 * The last tag, or where there is none the last commit before packages; UPGRADE_FROM names another. `undefined` where the history
 * does not have it, such as in a shallow clone.
 */
export function versionBefore(): string | undefined {
  const tag = git("describe", "--tags", "--match", "v[0-9]*", "--abbrev=0", "HEAD^").stdout?.trim();
  const name = process.env["UPGRADE_FROM"] ?? (tag || BEFORE_PACKAGES);
  return git("cat-file", "-e", `${name}^{commit}`).status === 0 ? name : undefined;
}

/** A version of the history in an empty folder: packed, or as a checkout where it has no packages. */
export function checkOut(name: string, folder: string): Version {
  const sources = join(folder, "sources");
  mkdirSync(sources, { recursive: true });
  const archive = join(folder, "sources.tar");
  execFileSync("git", ["archive", "--output", archive, name], { cwd: ROOT });
  execFileSync("tar", ["-xf", archive, "-C", sources]);
  // Only sources differ, as a rule; another set of packages is 850 MB.
  if (differingPackages(sources).length === 0) linkAll(join(ROOT, "node_modules"), join(sources, "node_modules"));
  else execFileSync("npm", ["ci", "--silent", "--ignore-scripts"], { cwd: sources });
  return existsSync(join(sources, "src/package/pack.ts"))
    ? packed(sources, join(folder, "project"))
    : { program: join(sources, "src/cli/main.ts"), sources };
}

/** This version, packed. */
export const packedHere = (folder: string): Version => packed(ROOT, folder);

/** Packages that a version's product is made of and runs on, whose versions differ from those that are installed here. */
function differingPackages(sources: string): readonly string[] {
  const packagesOf = (lock: string): Readonly<Record<string, { readonly version?: string }>> =>
    JSON.parse(readFileSync(lock, "utf8")).packages;
  const before = packagesOf(join(sources, "package-lock.json"));
  const here = packagesOf(join(ROOT, "package-lock.json"));
  const { dependencies } = JSON.parse(readFileSync(join(sources, "package.json"), "utf8"));
  const names = [...Object.keys(dependencies), "workerd", "rolldown", "esbuild"];
  return names.filter((name) => {
    const path = `node_modules/${name}`;
    return before[path]?.version !== here[path]?.version;
  });
}

/** Hard links where both are on one disk: the paths of files are part of what the packer makes. What tools write stays out. */
function linkAll(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory() && entry.name !== ".cache") linkAll(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isFile() && entry.name !== ".package-lock.json") linkFile(source, target);
  }
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target);
  }
}

/** The package in a project, beside those that it depends on. They are links: an installation would have the same. */
function packed(sources: string, project: string): Version {
  const out = join(project, "packages");
  execFileSync(process.execPath, ["src/package/pack.ts", "--out", out, "--only", "waybill"], { cwd: sources });
  const installed = join(project, "node_modules");
  cpSync(join(out, "waybill"), join(installed, "waybill"), { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  const { dependencies } = JSON.parse(readFileSync(join(installed, "waybill/package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "wrangler"]) {
    mkdirSync(dirname(join(installed, name)), { recursive: true });
    symlinkSync(join(sources, "node_modules", name), join(installed, name));
  }
  const program = join(installed, "waybill/dist/cli/main.js");
  mkdirSync(join(installed, ".bin"));
  symlinkSync(program, join(installed, ".bin/waybill"));
  chmodSync(program, 0o755);
  return { program, sources };
}
