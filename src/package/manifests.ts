import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./folders.ts";

/** The manifests of the published packages. That of the checkout is for those who change Waybill. */

interface Root {
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** An unlicensed package must not be published by accident: npm refuses to publish a private one, and installs it as any other. */
const UNLICENSED = "UNLICENSED";

/** Never older than the compatibility date of the Worker. CI runs this version and the newest. */
const WORKERD = "^1.20261117.1";
export const NODE = ">=20.18";

/** Dependencies of public IDs: AES, and CMAC with it. */
const CIPHER = ["@stablelib/aes", "@stablelib/cmac"];

const TEXTS = ["CHANGELOG.md", "THIRD-PARTY-LICENSES.txt"];

const typed = (path: string) => ({ types: `./${path}.d.ts`, default: `./${path}.js` });

const waybill = {
  name: "waybill",
  sideEffects: false,
  engines: { node: NODE },
  bin: { waybill: "dist/cli/main.js" },
  files: ["dist", "docs", "templates", "*.schema.json", ...TEXTS],
  exports: {
    "./worker": typed("dist/worker/index"),
    "./worker/objects": typed("dist/worker/objects"),
    "./table": typed("dist/cli/table"),
    "./ids": typed("dist/ids/index"),
    "./ids/public": typed("dist/ids/public/index"),
    "./origin": typed("dist/origin/index"),
    "./routing-table.schema.json": "./routing-table.schema.json",
    "./examples.schema.json": "./examples.schema.json",
    "./package.json": "./package.json",
  },
};

const ids = {
  name: "@waybill/ids",
  description:
    "Read, write, recognise and mint IDs that carry time, place and type; verify the gateway that routed by them.",
  sideEffects: false,
  files: ["dist", "*.md"],
  exports: {
    ".": typed("dist/ids/index"),
    "./public": typed("dist/ids/public/index"),
    "./origin": typed("dist/origin/index"),
    "./package.json": "./package.json",
  },
};

const create = {
  name: "create-waybill",
  description: "npm create waybill: a project of your own for the edge gateway Waybill.",
  engines: { node: NODE },
  bin: { "create-waybill": "dist/cli/main.js" },
  files: ["dist", "templates", ...TEXTS],
};

export function manifestsFor(version: string) {
  const root: Root = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { license, description } = root;
  const common = { version, license, ...(license === UNLICENSED && { private: true }), type: "module" };
  const cipher = Object.fromEntries(CIPHER.map((name) => [name, versionIn(root, name)]));
  return {
    waybill: { ...waybill, description, ...common, dependencies: { ...cipher, workerd: WORKERD } },
    "@waybill/ids": { ...ids, ...common, dependencies: cipher },
    "create-waybill": { ...create, ...common },
  };
}

export type PackageName = keyof ReturnType<typeof manifestsFor>;

function versionIn(root: Root, name: string): string {
  const version = root.dependencies[name];
  if (version === undefined) throw new Error(`package.json has no dependency ${name}`);
  return version;
}
