#!/usr/bin/env node
// Runs a TypeScript file or an installed tool of this project on a machine with only npm and Node 20: installs missing
// packages, then starts a Node that runs TypeScript. Plain JavaScript, because nothing is installed yet.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The first Node with type stripping and SQLite enabled by default. */
const NODE_MIN = [22, 18];

/** Keeps wrangler and miniflare quiet and off the network. The caller's environment overrides these. */
const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** For files that take relative paths: npm runs every script in the top folder, not in the caller's. */
const IN_CALLERS_FOLDER = "--in-callers-folder";

/** The name of a package's command follows, in place of a file. */
const TOOL = "--tool";

const root = fileURLToPath(new URL("../..", import.meta.url));
const args = process.argv.slice(2);
const isInCallersFolder = args[0] === IN_CALLERS_FOLDER;
const isTool = args[0] === TOOL;
const [file, ...rest] = isInCallersFolder || isTool ? args.slice(1) : args;
if (file === undefined) {
  stop(`usage: node src/host/run.mjs [${IN_CALLERS_FOLDER}] FILE.ts [ARGUMENT...]
       node src/host/run.mjs ${TOOL} NAME [ARGUMENT...]`);
}

const missing = findMissing();
if (missing !== undefined) install(missing);
const node = findNode();
// Node prints a warning about type stripping and SQLite at each start.
if (isTool) run(node, file, rest);
else run(node, node, ["--disable-warning=ExperimentalWarning", join(root, file), ...rest]);

/** Why `npm ci` is needed, if it is. npm records what it installed in node_modules/.package-lock.json. */
function findMissing() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  if (wanted === undefined) stop("package-lock.json is missing or damaged: restore it from git");
  const present = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (present === undefined) return "nothing is installed yet";
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    if (path === "") continue;
    const found = present[path];
    // npm skips optional packages for other platforms.
    if (found === undefined && optional) continue;
    if (found?.version !== version || found?.integrity !== integrity) return `${path} is not at version ${version}`;
  }
  const extra = Object.keys(present).find((path) => wanted[path] === undefined);
  return extra === undefined ? undefined : `${extra} is no longer in package-lock.json`;
}

/** @param {string} path */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** @param {string} reason */
function install(reason) {
  process.stderr.write(`Installing packages with npm ci (${reason})\n`);
  // workerd, the bundler and Node have their programs in optional packages, one for each kind of machine.
  const result = spawnSync("npm", ["ci", "--include=optional"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.error) stop(`npm cannot be started (${result.error.message}): install Node with its npm`);
  if (result.status !== 0) stop("npm ci failed, see above; it needs the npm registry, or npm's cache, once");
}

/**
 * The current Node if it is new enough, else the one from the optional package for this Linux, in that package's folder:
 * npm 10 links no `.bin/node`, since the packages of two processors claim that name.
 */
function findNode() {
  if (isEnough(process.versions.node) && existsSync(process.execPath)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const packaged = join(root, "node_modules", name, "bin", "node");
  const trial = spawnSync(packaged, ["--version"], { encoding: "utf8" });
  const version = trial.stdout?.trim().replace(/^v/, "");
  if (version && isEnough(version)) return packaged;
  return stop(`${whyNotOwn()} ${whyNotPackaged(name, packaged, trial)}`);
}

/** A Node of this project's packages may have been removed while it runs. */
function whyNotOwn() {
  const { node } = process.versions;
  const needs = `Waybill needs Node ${NODE_MIN.join(".")} or later;`;
  return isEnough(node)
    ? `${needs} the one that runs, ${node}, is no longer on the disk.`
    : `${needs} this is ${node}.`;
}

/**
 * Why the package for this machine does not help, and the remedy.
 * @param {string} name
 * @param {string} packaged its Node
 * @param {import("node:child_process").SpawnSyncReturns<string>} trial a start of it
 */
function whyNotPackaged(name, packaged, { error, stderr, status }) {
  const other = "install Node 24 from nodejs.org or with your version manager";
  if (packagesOf(join(root, "package-lock.json"))?.[`node_modules/${name}`] === undefined) {
    return `No package has one for ${process.platform} on ${process.arch}: ${other}, then try again.`;
  }
  // npm ends well all the same: the package is optional.
  if (!existsSync(packaged)) {
    return (
      `npm did not install the package that has one, ${name}: its download failed, or npm omits optional packages.\n` +
      `Run \`npm ci --include=optional --loglevel=http\` where npm reaches its registry, or ${other}, then try again.`
    );
  }
  // The file is there, so its loader is not: musl has another one.
  const isWithoutLoader = error !== undefined && "code" in error && error.code === "ENOENT";
  const why = isWithoutLoader ? "it needs glibc" : (error?.message ?? (stderr.trim() || `exit code ${status}`));
  return `The one of the package ${name} does not start here (${why}): ${other}, then try again.`;
}

/** @param {string} version */
function isEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
}

/** @param {string} node @param {string} program @param {string[]} args */
function run(node, program, args) {
  // The tools are scripts that take the first `node` on PATH.
  const path = [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);
  const child = spawn(program, args, {
    env: { ...QUIET, ...process.env, PATH: path },
    stdio: "inherit",
    // npm sets INIT_CWD; without npm the working folder is the caller's.
    cwd: (isInCallersFolder && process.env.INIT_CWD) || process.cwd(),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // The shell of npx dies by a signal that it does not hand on.
  const parent = process.ppid;
  const orphaned = () => process.ppid !== parent && child.kill("SIGTERM");
  if (process.env.npm_command === "exec") setInterval(orphaned, 250).unref();
  child.once("error", (error) => stop(`${program} cannot be started: ${error.message}`));
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
    process.exit();
  });
}

/** @param {string} why @returns {never} */
function stop(why) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
