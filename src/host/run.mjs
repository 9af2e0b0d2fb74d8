#!/usr/bin/env node
// Runs a TypeScript file or an installed tool of this project on a machine with only npm and Node 20: installs missing
// packages, then starts a Node for it. Plain JavaScript, because nothing is installed yet.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { alone, runNpm } from "./checkout/install.mjs";
import { chooseNode, readsTypeScript, whyNotPackaged } from "./checkout/node.mjs";
import { announce, npmArguments, npmCommand, packagesOf, planInstall, toolScript } from "./checkout/packages.mjs";

/** Keeps wrangler and miniflare quiet and off the network. The caller's environment overrides these. */
const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** Node keeps there what it made of TypeScript: a command starts in half the time. */
const COMPILED = join("node_modules", ".cache", "node");

/** A file of the product alone: it needs no packages of tests and tools, and runs on Node 20 too. */
const PRODUCT = "--product";

/** For files that take relative paths: npm runs every script in the top folder, not in the caller's. */
const IN_CALLERS_FOLDER = "--in-callers-folder";

/** The name of a package's command follows, in place of a file. */
const TOOL = "--tool";

/** Node prints one about type stripping and SQLite at each start. */
const NO_WARNING = "--disable-warning=ExperimentalWarning";

/** npm itself does not always say what helps. */
const FAILED =
  "The first install needs the npm registry, or npm's cache. Where files were in its way (ENOTEMPTY, EBUSY), another program changes node_modules: end it, and try again.";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Held while npm installs, in whichever of the folders. */
const LOCK = join(root, ".node", "installing");
const args = process.argv.slice(2);
const given = new Set();
while ([PRODUCT, IN_CALLERS_FOLDER, TOOL].includes(args[0] ?? "")) given.add(args.shift());
const [file, ...rest] = args;
if (file === undefined) {
  stop(`usage: node src/host/run.mjs [${PRODUCT}] [${IN_CALLERS_FOLDER}] FILE.ts [ARGUMENT...]
       node src/host/run.mjs ${TOOL} NAME [ARGUMENT...]`);
}

const needs = given.has(PRODUCT) ? "product" : "tools";
const wanted =
  packagesOf(join(root, "package-lock.json")) ?? stop("package-lock.json is missing or damaged: restore it from git");
const node = await findNode();
const script = given.has(TOOL) ? toolScript(wanted, file) : file;
if (script === undefined) stop(`No package has a command ${file}.`);
await install();
run(node, [...(given.has(TOOL) ? [] : [NO_WARNING]), join(root, script), ...rest]);

/** Installs what is missing, after it was said. */
async function install() {
  if (findMissing() === undefined) return;
  await alone(LOCK, sayWaiting, async () => {
    // The install that was waited for may be all that is needed.
    const plan = findMissing();
    if (plan === undefined) return;
    process.stderr.write(`${announce(plan)}\n`);
    await npm(root, npmArguments(plan));
    // npm corrects a package.json that differs from the lock file without a word; `ci` refuses it.
    if (!plan.isFresh && findMissing() !== undefined) await npm(root, npmArguments({ ...plan, isFresh: true }));
    // npm 10 may end with 0 where it reached no registry.
    if (installed() === undefined) stop(`npm has installed nothing, see above. ${FAILED}`);
  });
}

/** @param {number} pid */
function sayWaiting(pid) {
  process.stderr.write(
    `Another start installs packages here (process ${pid}): waiting until it is done. Ctrl-C ends this one.\n`,
  );
}

function findMissing() {
  return planInstall(wanted, installed(), needs === "tools");
}

function installed() {
  return packagesOf(join(root, "node_modules", ".package-lock.json"));
}

/** @param {string} folder @param {readonly string[]} args */
async function npm(folder, args) {
  const { platform, execPath } = process;
  const [program, ...first] = npmCommand({ platform, execPath, npmPath: process.env["npm_execpath"] });
  // Without a registry the progress of npm 10.8 turns for ever.
  const result = await runNpm(folder, [program, ...first, ...args, "--no-progress"]);
  if ("error" in result) return stop(`npm cannot be started (${result.error.message}): install Node with its npm`);
  if ("signal" in result) {
    process.stderr.write("The installation is stopped. The next start begins it again.\n");
    process.exit(128 + constants.signals[result.signal]);
  }
  if (result.code !== 0) stop(`npm ${args[0]} failed with exit code ${result.code}, see above. ${FAILED}`);
}

/** The machine's Node if it is new enough, else the one of a package, which has a lock file and a folder of its own. */
async function findNode() {
  const { versions, platform, arch, execPath } = process;
  const chosen = chooseNode(needs, { version: versions.node, platform, arch });
  if ("refusal" in chosen) return stop(chosen.refusal);
  if ("own" in chosen) {
    // A packaged Node may have been removed while it runs.
    return existsSync(execPath) ? execPath : stop(`The Node that runs, ${versions.node}, is no longer on the disk.`);
  }
  const name = chosen.packaged;
  const folder = join(root, ".node");
  const isMissing = () => {
    const locked = packagesOf(join(folder, "package-lock.json"))?.[`node_modules/${name}`];
    const found = packagesOf(join(folder, "node_modules", ".package-lock.json"))?.[`node_modules/${name}`];
    return locked === undefined || locked.integrity !== found?.integrity;
  };
  if (isMissing()) {
    await alone(LOCK, sayWaiting, async () => {
      if (!isMissing()) return;
      process.stderr.write(`${announce({ reason: `this is ${versions.node}`, parts: ["node"], changed: 0 })}\n`);
      await npm(folder, [
        "ci",
        "--include=optional",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
      ]);
    });
  }
  const packaged = join(folder, "node_modules", name, "bin", "node");
  const { status, error, stderr } = spawnSync(packaged, ["--version"], { encoding: "utf8" });
  if (status === 0) return packaged;
  return stop(whyNotPackaged(needs, versions.node, { name, isThere: existsSync(packaged), error, stderr, status }));
}

/** @param {string} node @param {readonly string[]} args */
function run(node, args) {
  // Programs of packages are scripts that take the first `node` on PATH.
  const path = [dirname(node), join(root, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter);
  const child = spawn(node, args, {
    env: { ...QUIET, NODE_COMPILE_CACHE: join(root, COMPILED), ...process.env, PATH: path, ...nodeOptions(node) },
    stdio: ["inherit", "inherit", "inherit", ...socketsOfSystemd()],
    windowsHide: true,
    // npm sets INIT_CWD; without npm the working folder is the caller's.
    cwd: (given.has(IN_CALLERS_FOLDER) && process.env["INIT_CWD"]) || process.cwd(),
  });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(signal, () => child.kill(signal));
  // npm starts scripts by a shell, which dies by a signal that it does not hand on.
  const parent = process.ppid;
  const orphaned = () => process.ppid !== parent && child.kill("SIGTERM");
  if (process.env["npm_command"] !== undefined) setInterval(orphaned, 250).unref();
  child.once("error", (error) => stop(`${node} cannot be started: ${error.message}`));
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    process.exit();
  });
}

/** Descriptors of sockets that systemd opened, from 3 on (sd_listen_fds(3)). */
function socketsOfSystemd() {
  const { LISTEN_FDS = "", LISTEN_PID } = process.env;
  const count = LISTEN_PID === String(process.pid) && /^\d{1,2}$/.test(LISTEN_FDS) ? Number(LISTEN_FDS) : 0;
  return Array.from({ length: count }, (_, at) => at + 3);
}

/** Options for every Node that is started, if it needs them to read TypeScript. @param {string} node */
function nodeOptions(node) {
  if (node !== process.execPath || readsTypeScript(process.versions.node)) return {};
  const hook = pathToFileURL(join(root, "src/host/checkout/typescript.mjs")).href;
  return { NODE_OPTIONS: [process.env["NODE_OPTIONS"], NO_WARNING, `--import=${hook}`].filter(Boolean).join(" ") };
}

/** @param {string} why @returns {never} */
function stop(why) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
