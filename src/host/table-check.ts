import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "../ids/index.ts";

const WAYBILL = fileURLToPath(new URL("../cli/main.ts", import.meta.url));

/** A table of thousands of routes may have as many faults. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The text of a table's file that has no fault, nor have its packs. Whatever starts, publishes or deploys a file reads it by this,
 * so that none of them takes what another refuses. The error is what `waybill table check` prints.
 */
export async function readTableText(path: string): Promise<Result<string, string>> {
  const before = octetsOf(path);
  const faults = await faultsOfTable(path);
  if (faults !== undefined) return err(faults);
  const after = octetsOf(path);
  // Another text than the one that was checked: nobody knows its faults.
  if (before === undefined || after === undefined || !before.equals(after)) {
    return err(`${path} was changed while it was checked`);
  }
  return ok(after.toString("utf8"));
}

/** `undefined` when it has no fault. */
function faultsOfTable(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { maxBuffer: OUTPUT_BYTES_MAX };
    execFile(process.execPath, [WAYBILL, "table", "check", path], options, (error, stdout, stderr) =>
      resolve(error === null ? undefined : (stdout + stderr).trimEnd() || error.message),
    );
  });
}

function octetsOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
