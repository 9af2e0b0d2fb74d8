// The packages that are missing, and how npm installs them. Pure, save for the two reads of files.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, dev?: boolean, bin?: Record<string, string> }} Locked
 * @typedef {Readonly<Record<string, Locked>>} Packages
 * @typedef {{ reason: string, parts: readonly Part[], changed: number, isFresh: boolean, withTools: boolean }} Plan
 * @typedef {"product" | "tools" | "node"} Part
 */

/** Measured on Linux on x64, which test/rules/downloads.test.ts repeats. */
const DOWNLOADS = JSON.parse(readFileSync(new URL("downloads.json", import.meta.url), "utf8"));

const PARTS = { product: "what npm start needs", tools: "tests and tools", node: "a newer Node for tests and tools" };

/** The rate that the time of a download is said for. */
const MBIT_PER_SECOND = 50;

/** @param {string} path of a lock file of npm @returns {Packages | undefined} */
export function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/**
 * The installation that is needed, if one is. Test tools that are there stay, and are renewed with the rest.
 * @param {Packages} wanted of package-lock.json
 * @param {Packages | undefined} present npm records in node_modules/.package-lock.json what it installed
 * @param {boolean} needsTools
 * @returns {Plan | undefined}
 */
export function planInstall(wanted, present, needsTools) {
  if (present === undefined) {
    const parts = needsTools ? /** @type {const} */ (["product", "tools"]) : /** @type {const} */ (["product"]);
    return { reason: "nothing is installed yet", parts, changed: 0, isFresh: true, withTools: needsTools };
  }
  const hasTools = Object.keys(present).some((path) => wanted[path]?.dev === true);
  const changed = Object.keys(wanted).filter(
    (path) => path !== "" && (needsTools || wanted[path]?.dev !== true) && !isPresent(wanted[path], present[path]),
  );
  const extra = Object.keys(present).filter((path) => wanted[path] === undefined);
  if (changed.length + extra.length === 0) return undefined;
  const rest = { isFresh: false, withTools: needsTools || hasTools };
  if (!hasTools && extra.length === 0 && changed.every((path) => wanted[path]?.dev === true))
    return { ...rest, reason: "not needed until now", parts: ["tools"], changed: 0 };
  const [first] = changed;
  const reason =
    first === undefined
      ? `${extra[0]} is no longer in package-lock.json`
      : `${first} is not at version ${wanted[first]?.version}`;
  return {
    ...rest,
    reason,
    parts: rest.withTools ? ["product", "tools"] : ["product"],
    changed: changed.length + extra.length,
  };
}

/** @param {Locked | undefined} wanted @param {Locked | undefined} found */
function isPresent(wanted, found) {
  // npm skips optional packages for other platforms.
  if (found === undefined) return wanted?.optional === true;
  return found.version === wanted?.version && found.integrity === wanted?.integrity;
}

/** @param {Plan} plan the arguments of npm: `ci` removes what is there, `install` adds what is missing */
export const npmArguments = ({ isFresh, withTools }) => [
  ...(isFresh ? ["ci"] : ["install", "--no-save"]),
  withTools ? "--include=dev" : "--omit=dev",
  // workerd and the bundlers have their programs in optional packages, one for each kind of machine.
  "--include=optional",
  "--ignore-scripts",
];

/** Printed before npm begins. @param {Pick<Plan, "reason" | "parts" | "changed">} plan */
export function announce({ reason, parts, changed }) {
  const of = (/** @type {"downloadMb" | "diskMb"} */ what) =>
    parts.reduce((sum, part) => sum + DOWNLOADS[part][what], 0);
  const packages = changed === 1 ? "1 package" : `${changed} packages`;
  if (changed > 0)
    return `Installing what changed (${reason}): ${packages}, at most about ${of("downloadMb")} MB to download.`;
  const names = parts.map((part) => PARTS[part]).join(", ");
  const seconds = Math.ceil((of("downloadMb") * 8) / MBIT_PER_SECOND);
  return (
    `Installing ${names} (${reason}).\n` +
    `About ${of("downloadMb")} MB to download, ${seconds} s at ${MBIT_PER_SECOND} Mbit/s; ${of("diskMb")} MB on the disk.`
  );
}

/**
 * npm as a program and its first arguments. Windows has no program `npm` that can be started without a shell.
 * @param {{ readonly platform: string, readonly execPath: string, readonly npmPath?: string | undefined }} process
 * @returns {readonly [string, ...string[]]}
 */
export function npmCommand({ platform, execPath, npmPath }) {
  // Set by npm for its scripts, but also by other package managers, and by npx.
  if (npmPath !== undefined && /[\\/]npm-cli\.c?js$/.test(npmPath)) return [execPath, npmPath];
  if (platform === "win32") return [execPath, join(dirname(execPath), "node_modules", "npm", "bin", "npm-cli.js")];
  return ["npm"];
}

/**
 * The script of a command that a package has, from the top folder: `.bin` has shell scripts on Windows.
 * @param {Packages} wanted @param {string} name
 */
export function toolScript(wanted, name) {
  for (const [path, { bin }] of Object.entries(wanted)) {
    if (bin?.[name] !== undefined && path.lastIndexOf("node_modules/") === 0) return join(path, bin[name]);
  }
  return undefined;
}
