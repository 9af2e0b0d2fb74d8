import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A Node and an npm, as a user may have them. */
export interface Toolchain {
  readonly name: string;
  readonly node: string;
  readonly npm: string;
  /** npm refuses a package whose install script nobody has judged. */
  readonly isStrict?: true;
}

/** npm 12 blocks install scripts, and its strict mode refuses what has one. */
export const TOOLCHAINS: readonly Toolchain[] = [
  { name: "Node 20, npm 10.8", node: "20", npm: "10.8.2" },
  { name: "Node 22, npm 10.9", node: "22", npm: "10.9" },
  { name: "Node 24, npm 11", node: "24", npm: "11" },
  { name: "Node 24, npm 12", node: "24", npm: "12" },
  { name: "Node 24, npm 12 strict", node: "24", npm: "12", isStrict: true },
];

const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;

/** Variables of the npm that runs these tests name its project and its programs; its settings are kept. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)/i.test(name) && name !== "FORCE_COLOR"),
);

/** Installs both into a folder, and gives the environment of their users. */
export function installToolchain({ node, npm, isStrict }: Toolchain, folder: string): NodeJS.ProcessEnv {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const install = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", [...install, `${NODE_PACKAGE}@${node}`, `npm@${npm}`], { cwd: folder, env: inherited });
  const programs = [join(folder, "node_modules", NODE_PACKAGE, "bin"), join(folder, "node_modules/.bin")];
  return {
    ...inherited,
    PATH: [...programs, process.env["PATH"]].join(delimiter),
    NO_COLOR: "1",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_ignore_scripts: "false",
    npm_config_update_notifier: "false",
    ...(isStrict && { npm_config_strict_allow_scripts: "true" }),
  };
}
