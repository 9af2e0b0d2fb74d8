import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const WAYBILL = fileURLToPath(new URL("../cli/main.ts", import.meta.url));

/** A table of thousands of routes may have as many faults. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What `waybill table check` prints of a file that cannot be served; `undefined` when it has no fault. */
export function faultsOfTable(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { maxBuffer: OUTPUT_BYTES_MAX };
    execFile(process.execPath, [WAYBILL, "table", "check", path], options, (error, stdout, stderr) =>
      resolve(error === null ? undefined : (stdout + stderr).trimEnd() || error.message),
    );
  });
}
