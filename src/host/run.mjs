#!/usr/bin/env node
// Runs a TypeScript file of this project on a machine that may have nothing but npm and Node 20: installs what is
// missing, picks a Node that reads TypeScript, and hands over. Plain JavaScript, since nothing is installed yet.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The first Node that strips types by itself and has SQLite. */
const NODE_MIN = [22, 18];

/** Keeps wrangler and miniflare off the network and out of the way, unless the caller says otherwise. */
const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** For files that take paths: those are the caller's, and npm runs every script in the top folder. */
const IN_CALLERS_FOLDER = "--in-callers-folder";

const root = fileURLToPath(new URL("../..", import.meta.url));
const words = process.argv.slice(2);
const isInCallersFolder = words[0] === IN_CALLERS_FOLDER;
const [file, ...rest] = isInCallersFolder ? words.slice(1) : words;
if (file === undefined) stop(`usage: node src/host/run.mjs [${IN_CALLERS_FOLDER}] FILE.ts [ARGUMENT...]`);

const missing = whatIsMissing();
if (missing !== undefined) install(missing);
run(findNode(), file, rest);

/** Why `npm ci` is needed, or nothing. npm notes what it installed in node_modules/.package-lock.json. */
function whatIsMissing() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  if (wanted === undefined) stop("package-lock.json is missing or damaged: get it back from git");
  const present = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (present === undefined) return "nothing is installed yet";
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    if (path === "") continue;
    const found = present[path];
    // npm leaves out optional packages that are for other machines.
    if (found === undefined && optional) continue;
    if (found?.version !== version || found?.integrity !== integrity) return `${path} is not at version ${version}`;
  }
  const extra = Object.keys(present).find((path) => wanted[path] === undefined);
  return extra === undefined ? undefined : `${extra} is no longer wanted`;
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
  const result = spawnSync("npm", ["ci"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.error) stop(`npm cannot be started (${result.error.message}): install Node with its npm`);
  if (result.status !== 0) stop("npm ci failed, see above; it needs the npm registry, or npm's cache, once");
}

/** The current Node if it is new enough, or else the one that an optional package brings for Linux. */
function findNode() {
  if (isEnough(process.versions.node) && existsSync(process.execPath)) return process.execPath;
  const packaged = join(root, "node_modules", ".bin", "node");
  const version = spawnSync(packaged, ["--version"], { encoding: "utf8" }).stdout?.trim().replace(/^v/, "");
  if (version && isEnough(version)) return packaged;
  const wanted = NODE_MIN.join(".");
  return stop(
    `Waybill needs Node ${wanted} or later; this is ${process.versions.node}, and no package brings another for ` +
      `${process.platform} on ${process.arch}. Install Node 24 from nodejs.org or with your version manager, then try again.`,
  );
}

/** @param {string} version */
function isEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
}

/** @param {string} node @param {string} script @param {string[]} args */
function run(node, script, args) {
  const bin = join(root, "node_modules", ".bin");
  const env = { ...QUIET, ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
  // Node strips types and has SQLite, and says on each start that it is new.
  const child = spawn(node, ["--disable-warning=ExperimentalWarning", join(root, script), ...args], {
    env,
    stdio: "inherit",
    // Set by npm. Without it nobody has left the caller's folder.
    cwd: (isInCallersFolder && process.env.INIT_CWD) || process.cwd(),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => stop(`${node} cannot be started: ${error.message}`));
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
