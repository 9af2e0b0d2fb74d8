import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../ids/index.ts";

export type NamedText = { readonly name: string; readonly text: string };

/** A program that checks the new folder. Files that only the check needs are removed after it. */
export interface FolderCheck {
  readonly program: string;
  readonly args: readonly string[];
  readonly files: readonly NamedText[];
  /** Names that the check itself leaves behind. */
  readonly leaves: readonly string[];
}

export type Replaced = "checked" | "not-installed" | "not-asked";

/** The path of a file that is none of a folder's own: it must not be lost with the folder. */
export function foreignFile(folder: string, own: RegExp): string | undefined {
  if (!existsSync(folder)) return undefined;
  if (!statSync(folder).isDirectory()) return folder;
  return readdirSync(folder).flatMap((name) => (own.test(name) ? [] : [join(folder, name)]))[0];
}

/** Where the new folder is until it is checked. */
export const newFolder = (out: string): string => `${out}.new`;

/**
 * Writes a folder beside the one in use, has it checked, and puts it in its place by renaming: the folder is the old one or
 * the new one, never a mixture. The one before stays as `.previous`. Throws with the check's words; then nothing changed.
 */
export function replaceFolder(out: string, files: readonly NamedText[], check: FolderCheck | undefined): Replaced {
  const made = newFolder(out);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  for (const { name, text } of files) writeFileSync(join(made, name), text);
  const replaced = check === undefined ? "not-asked" : runCheck(made, check);
  if (existsSync(out)) {
    rmSync(`${out}.previous`, { recursive: true, force: true });
    renameSync(out, `${out}.previous`);
  }
  renameSync(made, out);
  return replaced;
}

function runCheck(folder: string, { program, args, files, leaves }: FolderCheck): Replaced {
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  for (const name of [...files.map((file) => file.name), ...leaves]) rmSync(join(folder, name), { force: true });
  if (error !== undefined && "code" in error && error.code === "ENOENT") return "not-installed";
  if (status === 0) return "checked";
  const why = error?.message ?? `${stdout}${stderr}`.trim();
  throw new Error(`${program} refuses the new configuration, which is left in ${folder}:\n${why}`);
}

/** A program that takes longer has failed: a reload starts new processes, and waits for no old one. */
const RELOAD_DEADLINE_MS = 60_000;

/** Runs a shell's command by which a program reads its replaced folder. The error has the command's words. */
export function reloadProgram(command: string): Promise<Result<undefined, string>> {
  return new Promise((resolve) => {
    execFile("sh", ["-c", command], { timeout: RELOAD_DEADLINE_MS }, (error, stdout, stderr) => {
      const words = `${stdout}${stderr}`.trim();
      resolve(error === null ? ok(undefined) : err(`${command}: ${words === "" ? error.message.trim() : words}`));
    });
  });
}
