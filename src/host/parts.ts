import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { keptBuild } from "./kept-build.ts";
import type { ModuleFile } from "./workerd/modules.ts";

/**
 * The product's own files. In a checkout they are built from its sources; the package has a file of the same exports in place
 * of this one, which reads them beside itself. So no other file of the command names a path of the checkout or a bundler.
 */
const inRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const version: string = JSON.parse(readFileSync(inRoot("package.json"), "utf8")).version;

let modules: Promise<readonly ModuleFile[]> | undefined;

/** The modules of the Worker without a table: `index.js`, `objects.js`, `core.js`, and its parts. */
export function workerModules(): Promise<readonly ModuleFile[]> {
  modules ??= builtModules();
  return modules;
}

const BUNDLER = inRoot("src/host/workerd/bundle.ts");

async function builtModules(): Promise<readonly ModuleFile[]> {
  const tableCode = await tableCodeVersion();
  const build = async () => {
    const { bundleWorker } = await import("./workerd/bundle.ts");
    const sources = new Set([BUNDLER]);
    return { value: await bundleWorker({ minify: true, tableCode, sources }), sources };
  };
  return keptBuild("worker", build, tableCode);
}

let tableCode: Promise<string> | undefined;

/** The version of the code that checks and compiles tables, as the modules of the Worker have it. */
export function tableCodeVersion(): Promise<string> {
  tableCode ??= keptBuild("table-code", async () => {
    const bundle = await import("./workerd/bundle.ts");
    const sources = new Set([BUNDLER]);
    return { value: await bundle.tableCodeVersion(sources), sources };
  });
  return tableCode;
}

/** Makes a folder that has the console's files alone. */
export async function copyConsole(folder: string): Promise<void> {
  const { buildConsole } = await import("./console/build.ts");
  await buildConsole(folder);
}

/** The JSON Schema of tables. */
export const schemaFile = (): string => inRoot("src/routing/routing-table.schema.json");

/** The files that `waybill init` writes. */
export const templatesFolder = (): string => inRoot("src/package/templates");

/** The program of the command, for a process of its own. */
export const commandFile = (): string => inRoot("src/cli/main.ts");
