// The Node for a file. Nothing here looks at what is installed.

/**
 * A file needs the `product` alone (the command, `npm start`), or `tools` as well (tests, tools, deployment).
 * @typedef {"product" | "tools"} Needs
 * @typedef {{ readonly version: string; readonly platform: string; readonly arch: string }} Machine
 */

/**
 * The first minor version of a major one, and the major version from which all are enough.
 * @type {Readonly<Record<Needs, { minors: Readonly<Record<number, number>>, major: number }>>}
 */
const FIRST = {
  // The bundler's own bounds. Where Node does not take types out, esbuild does: typescript.mjs.
  product: { minors: { 20: 19, 22: 12 }, major: 23 },
  // Type stripping and SQLite without a flag.
  tools: { minors: { 22: 18, 23: 6 }, major: 24 },
};

const OLDEST_MAJOR = 20;

/** Machines that a package has a Node for. It needs glibc. */
const PACKAGED = ["linux-x64", "linux-arm64"];

const INSTALL = "install Node 24 from nodejs.org or with your version manager, then try again.";

/** @param {Needs} needs @param {string} version */
function isEnough(needs, version) {
  const { minors, major } = FIRST[needs];
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor >= major || ownMinor >= (minors[ownMajor] ?? Number.POSITIVE_INFINITY);
}

/** @param {string} version */
export const readsTypeScript = (version) => isEnough("tools", version);

/** @param {string} version */
export const isOlderThanAny = (version) => Number(version.split(".")[0]) < OLDEST_MAJOR;

/**
 * The machine's own Node, the package that has a newer one, or why there is none.
 * @param {Needs} needs
 * @param {Machine} machine
 * @returns {{ own: true } | { packaged: string } | { refusal: string }}
 */
export function chooseNode(needs, { version, platform, arch }) {
  if (isEnough(needs, version)) return { own: true };
  const machine = `${platform}-${arch}`;
  if (!isOlderThanAny(version) && PACKAGED.includes(machine)) return { packaged: `node-${machine}` };
  return { refusal: `${needsNode(needs, version)} Nothing was installed: ${INSTALL}` };
}

/** @param {Needs} needs @param {string} version */
function needsNode(needs, version) {
  const isOld = isOlderThanAny(version);
  const isForAll = needs === "product" || isOld;
  const subject = isForAll ? "Waybill needs" : "Tests, tools and deployment need";
  const need = `${subject} Node ${firstFrom(isForAll ? "product" : needs, version)} or later; this is ${version}.`;
  return needs === "tools" && isEnough("product", version)
    ? `${need} The command and npm start run on this one.`
    : need;
}

/** The first version that is enough and newer. @param {Needs} needs @param {string} version */
function firstFrom(needs, version) {
  const { minors, major } = FIRST[needs];
  const newer = Object.keys(minors)
    .map(Number)
    .find((each) => each >= Number(version.split(".")[0]));
  return newer === undefined ? `${major}` : `${newer}.${minors[newer]}`;
}

/**
 * Why the packaged Node does not help, and the remedy.
 * @param {Needs} needs
 * @param {string} version of the machine's Node
 * @param {{ name: string, isThere: boolean, error?: NodeJS.ErrnoException | undefined, stderr?: string, status?: number | null }} trial
 */
export function whyNotPackaged(needs, version, { name, isThere, error, stderr = "", status }) {
  // npm ends well all the same: the package is optional.
  const why = isThere
    ? `does not start here (${reasonOf(error, stderr, status)})`
    : "was not downloaded: run `npm ci --prefix .node --include=optional --loglevel=http` where npm reaches its registry";
  return `${needsNode(needs, version)} The one of the package ${name} ${why}${isThere ? ":" : ", or"} ${INSTALL}`;
}

/** @param {NodeJS.ErrnoException | undefined} error @param {string} stderr @param {number | null | undefined} status */
function reasonOf(error, stderr, status) {
  // The file is there, so its loader is not: musl has another one.
  if (error?.code === "ENOENT") return "it needs glibc";
  return error?.message ?? (stderr.trim() || `exit code ${status}`);
}
