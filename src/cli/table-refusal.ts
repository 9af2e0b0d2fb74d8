import { faultLine, formatFaults, formatTableError, type TableFileError } from "./table-file.ts";
import type { Runtime } from "./world.ts";

/** A fault with its place, of whichever version's kinds. */
interface ReportableFault {
  readonly line: number;
  readonly column: number;
  readonly pointer: string;
  readonly kind: string;
  readonly message: string;
}

/** A line for a program: the object by which every command tells of a fault. */
export const faultObject = (file: string, fault: ReportableFault): string => `${JSON.stringify({ file, ...fault })}\n`;

/** Says why a table cannot be worked with: on stderr, and with `json` the faults as objects on stdout instead. */
export const reportTableError = async (error: TableFileError, json: boolean, runtime: Runtime): Promise<void> => {
  if (!json || error.reason === "unreadable") {
    runtime.report(formatTableError(error));
    return;
  }
  await runtime.print(error.faults.map((fault) => faultObject(error.name, fault)).join(""));
  runtime.report(`${error.name}: ${formatFaults(error.faults.length)}\n`);
};

/** The same for faults that a gateway has found. */
export const reportFaults = async (
  name: string,
  faults: readonly ReportableFault[],
  json: boolean,
  runtime: Runtime,
): Promise<void> => {
  if (json) await runtime.print(faults.map((fault) => faultObject(name, fault)).join(""));
  else runtime.report(faults.map((fault) => faultLine(name, fault)).join(""));
};
