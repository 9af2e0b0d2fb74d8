import { isUtf8 } from "node:buffer";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "../../ids/index.ts";
import { loadTableText, plainJson, TABLE_BYTES_MAX } from "../../routing/index.ts";
import { packsFolderOf, readPacks } from "./packs.ts";
import { readBytes } from "./publish.ts";

const WAYBILL = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** A table of thousands of routes can have as many faults. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The JSON of a valid table file with valid packs, without its comments; otherwise the output of `waybill table check`. Start,
 * publish, build and deploy all read files here, so they accept the same ones.
 */
export async function readTableText(path: string): Promise<Result<string, string>> {
  const before = readBytes(path);
  // Most tables have no fault, and need no process of their own.
  const text =
    before && isUtf8(before) && before.length <= TABLE_BYTES_MAX ? plainJson(before.toString("utf8")) : undefined;
  if (text !== undefined && loadTableText(text, 0).ok && (await readPacks(text, packsFolderOf(path))).ok)
    return ok(text);
  const { isGood, printed } = await runWaybill(["table", "check", path]);
  if (!isGood) return err(printed);
  const after = readBytes(path);
  // The check may have read either version.
  if (before === undefined || after === undefined || !before.equals(after)) {
    return err(`${path} changed during the check`);
  }
  return ok(plainJson(after.toString("utf8")));
}

/** Runs the command in a process of its own. `printed`: stdout, then stderr. */
export function runWaybill(args: readonly string[]): Promise<{ readonly isGood: boolean; readonly printed: string }> {
  return new Promise((resolve) => {
    const options = { maxBuffer: OUTPUT_BYTES_MAX };
    execFile(process.execPath, [WAYBILL, ...args], options, (error, stdout, stderr) =>
      resolve({ isGood: error === null, printed: (stdout + stderr).trimEnd() || (error?.message ?? "") }),
    );
  });
}
