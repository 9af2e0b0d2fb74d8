import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "../../ids/index.ts";
import { plainJson } from "../../routing/index.ts";
import { readBytes } from "./publish.ts";

const WAYBILL = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** A table of thousands of routes can have as many faults. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The JSON of a valid table file with valid packs, without its comments; otherwise the output of `waybill table check`. Start, publish and
 * deploy all read files here, so they accept the same ones.
 */
export async function readTableText(path: string): Promise<Result<string, string>> {
  const before = readBytes(path);
  const faults = await faultsOfTable(path);
  if (faults !== undefined) return err(faults);
  const after = readBytes(path);
  // The check may have read either version.
  if (before === undefined || after === undefined || !before.equals(after)) {
    return err(`${path} changed during the check`);
  }
  return ok(plainJson(after.toString("utf8")));
}

/** `undefined` if the table is valid. */
function faultsOfTable(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { maxBuffer: OUTPUT_BYTES_MAX };
    execFile(process.execPath, [WAYBILL, "table", "check", path], options, (error, stdout, stderr) =>
      resolve(error === null ? undefined : (stdout + stderr).trimEnd() || error.message),
    );
  });
}
