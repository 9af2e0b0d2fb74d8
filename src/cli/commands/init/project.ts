import type { Templates } from "../../../host/templates.ts";
import { type FirstChoices, firstTable, type Minted } from "./table.ts";

/** The files of a project, of the answers and the templates alone. */

export const PLATFORMS = ["cloudflare", "own-servers", "both"] as const;

export type Platform = (typeof PLATFORMS)[number];

export interface Answers extends FirstChoices {
  /** The name of the package and of the Worker. */
  readonly name: string;
  readonly platform: Platform;
}

export interface Project {
  /** Texts by path, with slashes. */
  readonly files: ReadonlyMap<string, string>;
  /** The path and region of the first example. */
  readonly path: string;
  readonly region: string;
}

/** `version`: of this package, which the project depends on. */
export function projectOf(answers: Answers, templates: Templates, version: string, minted: Minted): Project {
  const { table, examples, about } = firstTable(answers, minted);
  const [{ path, region = "" }] = examples;
  const values = { name: answers.name, path, region, about };
  const files = new Map([
    // As npm writes it again.
    ["package.json", `${JSON.stringify(packageOf(answers, version), null, 2)}\n`],
    ["routing-table.json", json(table)],
    ["examples.json", json({ $schema: "./node_modules/waybill/examples.schema.json", examples })],
  ]);
  for (const folder of foldersOf(answers.platform)) {
    for (const [file, text] of templates.get(folder) ?? []) files.set(file, render(text, answers.platform, values));
  }
  return { files: new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1))), path, region };
}

const CLOUDFLARE = "cloudflare";
const OWN = "own-servers";

const takes = (platform: Platform, part: string): boolean => platform === "both" || platform === part;

const foldersOf = (platform: Platform): readonly string[] => [
  "common",
  "monitoring",
  ...[CLOUDFLARE, OWN].filter((part) => takes(platform, part)),
];

/** A line alone: `# if cloudflare`, `# end`, or the same as a comment of HTML. */
const MARK = /^[ ]*(?:#|<!--) (?:if ([a-z-]+)|end)(?: -->)?$/;

/** A template with the values of `<<name>>`, without the parts for other platforms. */
export function render(template: string, platform: Platform, values: Readonly<Record<string, string>>): string {
  const lines: string[] = [];
  let isKept = true;
  for (const line of template.split("\n")) {
    const mark = MARK.exec(line);
    if (mark !== null) isKept = mark[1] === undefined || takes(platform, mark[1]);
    else if (isKept) lines.push(line);
  }
  return lines.join("\n").replace(/<<([a-z]+)>>/g, (whole, name: string) => values[name] ?? whole);
}

function packageOf({ name, platform }: Answers, version: string): object {
  const onCloudflare = takes(platform, CLOUDFLARE);
  return {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: `>=${platform === CLOUDFLARE ? NODE_OF_CLOUDFLARE : NODE_OF_PROJECTS}` },
    scripts: {
      prestart: INSTALLED,
      start: "waybill start",
      pretest: INSTALLED,
      test: "node --test",
      ...(onCloudflare && { predeploy: INSTALLED, deploy: "waybill deploy" }),
    },
    dependencies: { waybill: `^${version}` },
    ...(onCloudflare && { devDependencies: { wrangler: WRANGLER } }),
    // None of them needs its install script, which npm 12 refuses unless it is decided here.
    allowScripts: { workerd: false, ...(onCloudflare && { esbuild: false, sharp: false }) },
  };
}

/** Tells those who have not run it of `npm install`. */
const INSTALLED = "node installed.js";

/** For `npm start`, tests and self-hosting, and for wrangler, which deploys. */
export const NODE_OF_PROJECTS = "20.18";
export const NODE_OF_CLOUDFLARE = "22.12";

/** Why a Node cannot deploy what is for Cloudflare; `undefined` if it can. */
export function tooOldForCloudflare(nodeVersion: string): string | undefined {
  const [[major = 0, minor = 0], [least = 0, leastMinor = 0]] = [nodeVersion, NODE_OF_CLOUDFLARE].map((text) =>
    text.split(".").map(Number),
  ) as [number[], number[]];
  if (major > least || (major === least && minor >= leastMinor)) return undefined;
  return `deploying to Cloudflare needs Node ${NODE_OF_CLOUDFLARE}, and this is ${nodeVersion}`;
}

const WRANGLER = "^4.164.0";

const LINE_LENGTH_MAX = 118;

/** As people write a table: a line for each entry, and short ones whole. */
const json = (value: object): string => `${lay(value, 0, 0)}\n`;

/** `used`: characters of the line in front of the value. */
function lay(value: unknown, depth: number, used: number): string {
  const flat = inline(value);
  if (typeof value !== "object" || value === null) return flat;
  const members = Object.entries(value);
  const hasEntries = depth === 1 && members.length > 0 && members.every(([, each]) => typeof each === "object");
  if (depth > 0 && !hasEntries && used + flat.length < LINE_LENGTH_MAX) return flat;
  const indent = "  ".repeat(depth);
  const lines = members.map(([key, each]) => {
    const head = `${indent}  ${Array.isArray(value) ? "" : `${JSON.stringify(key)}: `}`;
    return head + lay(each, depth + 1, head.length);
  });
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${inline(each)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
