import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/libraries/", import.meta.url));
const PACKAGE_FILES = ["package.json", "package-lock.json", ".npmrc"];

/** The folder with the pinned libraries and the drivers; installed once for each lock. No script of a library runs. */
export function installLibraries(): string {
  const digest = createHash("sha256")
    .update(readFileSync(join(HERE, "package-lock.json")))
    .digest("hex")
    .slice(0, 16);
  const folder = join(CACHE, digest);
  if (!existsSync(folder)) {
    const partial = join(CACHE, `${digest}.${process.pid}`);
    mkdirSync(partial, { recursive: true });
    for (const file of PACKAGE_FILES) cpSync(join(HERE, file), join(partial, file));
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: partial, stdio: "pipe" });
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
  }
  cpSync(join(HERE, "drivers"), join(folder, "drivers"), { recursive: true });
  return folder;
}
