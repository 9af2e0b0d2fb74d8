import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { err, ok, type Result } from "../../ids/index.ts";
import { copyConsole } from "../parts.ts";
import { readTableText } from "../publish/publish.ts";
import { foreignPart, notOurs, prepareFolder } from "../self-hosting.ts";
import { type ProjectWorker, readWorkerFile, WORKER_FILES } from "./worker-file.ts";

export interface ProjectPreparation {
  /** Default: the table that the Worker imports, or `routing-table.json`. */
  readonly tableFile: string | undefined;
  /** The project's own Worker. Default: the first of `WORKER_FILES`; without one the four lines. `false`: wrangler bundles it. */
  readonly workerFile: string | false | undefined;
  readonly folder: string;
}

/** Paths as a user gave them, for the message of success. */
export interface PreparedProject {
  readonly tableFile: string;
  readonly workerFile: string | undefined;
}

const TABLE_FILE = "routing-table.json";

/** `waybill prepare`: makes what wrangler uploads of a project. The error says what hinders it; then the folder stays as it was. */
export async function prepareProject({
  tableFile,
  workerFile,
  folder,
}: ProjectPreparation): Promise<Result<PreparedProject, string>> {
  if (workerFile === false) return prepareConsole(tableFile ?? TABLE_FILE, folder);
  const path = workerFile ?? WORKER_FILES.find(existsSync);
  const worker = path === undefined ? undefined : await readProjectWorker(path);
  if (worker?.ok === false) return worker;
  const imported = worker?.value.tableFile;
  if (tableFile !== undefined && imported !== undefined && imported !== resolve(tableFile))
    return err(`${path} imports ${relative(process.cwd(), imported)}, and not ${tableFile}. Name none, or the same.`);
  const table = tableFile ?? (imported === undefined ? TABLE_FILE : relative(process.cwd(), imported));
  const made = await prepareFolder({ tableFile: table, folder, mainCode: worker?.value.code });
  if (!made.ok) return made;
  writeFileSync(join(folder, "worker/main.d.ts"), typesOf(path, join(folder, "worker")));
  return ok({ tableFile: table, workerFile: path });
}

/**
 * `wrangler types` names the main module. With types beside it, TypeScript reads no prebuilt JavaScript: ten times the work, and only
 * where a project allows it.
 */
function typesOf(workerFile: string | undefined, folder: string): string {
  if (workerFile?.endsWith(".ts")) {
    const from = JSON.stringify(relative(folder, workerFile).replaceAll("\\", "/").replace(/\.ts$/, ""));
    return `export * from ${from};\nexport { default } from ${from};\n`;
  }
  return `import type { Gateway } from "waybill/worker";
export * from "waybill/worker/objects";
declare const worker: Gateway;
export default worker;
`;
}

/** The table that a project deploys: the one that its Worker imports, if that can be told. */
export async function projectTable(): Promise<string> {
  const path = WORKER_FILES.find(existsSync);
  const worker = path === undefined ? undefined : await readProjectWorker(path);
  const imported = worker?.ok ? worker.value.tableFile : undefined;
  return imported === undefined ? TABLE_FILE : relative(process.cwd(), imported);
}

async function readProjectWorker(path: string): Promise<Result<ProjectWorker, string>> {
  try {
    return await readWorkerFile(resolve(path), readFileSync(path, "utf8"));
  } catch (error) {
    return err(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

async function prepareConsole(tableFile: string, folder: string): Promise<Result<PreparedProject, string>> {
  const text = await readTableText(tableFile);
  if (!text.ok) return text;
  const foreign = foreignPart(folder, ["console"]);
  if (foreign !== undefined) return err(notOurs(foreign));
  await copyConsole(join(folder, "console"));
  return ok({ tableFile, workerFile: undefined });
}
