import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A module of the Worker. Modules import each other by relative names, so all of them stand in one folder. */
export interface ModuleFile {
  readonly name: string;
  readonly code: string;
  /** Its source map, if it has one. */
  readonly map?: string | undefined;
}

/** The folder of the modules, in a build and in a state. */
export const WORKER_FOLDER = "worker";

/** The main module. It exports handlers and classes alone: another value stops the start. */
export const MAIN_MODULE = "main.js";

/** Main modules, of this version and of earlier ones. */
const MAIN_MODULES = [MAIN_MODULE, "worker.js"];

/** A main module of an earlier version that had no other. It stood outside the folder. */
const ONLY_MODULE = "worker.js";

/** Names end with it if a module is a text, and no code. */
export const TEXT_MODULE = ".txt";

const MODULE_NAME = /\.(?:js|txt)$/;

/**
 * Writes the modules as the whole contents of `worker/` in a folder: it has all of one build, or is not there. `withMaps`: beside
 * each module its source map, which the module names.
 */
export function writeWorker(folder: string, modules: readonly ModuleFile[], withMaps = false): void {
  const made = join(folder, `unfinished.${WORKER_FOLDER}`);
  const place = join(folder, WORKER_FOLDER);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  for (const { name, code, map } of modules) {
    const isMapped = withMaps && map !== undefined;
    writeFileSync(join(made, name), isMapped ? `${code.trimEnd()}\n//# sourceMappingURL=${name}.map\n` : code);
    if (isMapped) writeFileSync(join(made, `${name}.map`), map);
  }
  rmSync(place, { recursive: true, force: true });
  renameSync(made, place);
  // Builds and states of earlier versions have one module. Beside what wrangler uploads it may be a project's own Worker.
  if (!withMaps) rmSync(join(folder, ONLY_MODULE), { force: true });
}

/** The modules of a build, the main one first; empty if there is none. A build of an earlier version may have that one alone. */
export function readWorker(build: string): readonly ModuleFile[] {
  const folder = join(build, WORKER_FOLDER);
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => MODULE_NAME.test(name));
  const main = MAIN_MODULES.find((name) => names.includes(name));
  if (main !== undefined) {
    const others = names.filter((name) => name !== main);
    return [main, ...others].map((name) => ({ name, code: readFileSync(join(folder, name), "utf8") }));
  }
  const earlier = join(build, ONLY_MODULE);
  return existsSync(earlier) ? [{ name: ONLY_MODULE, code: readFileSync(earlier, "utf8") }] : [];
}
