import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { ModuleFile } from "../host/workerd/modules.ts";

/**
 * The product's own files in an installed package: the packer puts this file in place of `host/parts.ts`. All modules of the
 * command stand in `dist/cli`, whichever of them has this code.
 */
const inPackage = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const version: string = JSON.parse(readFileSync(inPackage("package.json"), "utf8")).version;

/** Defined by the packer: the version that the modules of the Worker have too. */
declare const TABLE_CODE_VERSION: string;

export const tableCodeVersion = (): Promise<string> => Promise.resolve(TABLE_CODE_VERSION);

export function workerModules(): Promise<readonly ModuleFile[]> {
  const folder = inPackage("dist/worker");
  const names = readdirSync(folder);
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  return Promise.resolve(
    names
      .filter((name) => name.endsWith(".js"))
      .map((name) => ({
        name,
        code: read(name),
        map: names.includes(`${name}.map`) ? read(`${name}.map`) : undefined,
      })),
  );
}

/** The page that names the others: it comes last, so that it never names a file that is not there. */
const SHELL = "shell.html";

/** The package has the compressed forms alone, which gateways serve too. */
export function copyConsole(folder: string): Promise<void> {
  const from = inPackage("dist/console");
  const kept = new Set([SHELL]);
  const write = (name: string, bytes: Uint8Array): void => {
    kept.add(name);
    writeFileSync(join(folder, name), bytes);
  };
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(from).filter((each) => each.endsWith(".gz"))) {
    const bytes = readFileSync(join(from, name));
    write(name, bytes);
    write(name.slice(0, -".gz".length), gunzipSync(bytes));
  }
  write(SHELL, readFileSync(join(from, SHELL)));
  for (const name of readdirSync(folder)) if (!kept.has(name)) rmSync(join(folder, name), { recursive: true });
  return Promise.resolve();
}

export const schemaFile = (): string => inPackage("routing-table.schema.json");

export const templatesFolder = (): string => inPackage("templates");

export const commandFile = (): string => inPackage("dist/cli/main.js");
