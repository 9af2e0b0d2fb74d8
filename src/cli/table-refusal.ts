import { faultLine, faultsText, type TableFileError, tableErrorText } from "./table-file.ts";
import type { World } from "./world.ts";

/** A fault with its place, of whichever version's kinds. */
interface TellableFault {
  readonly line: number;
  readonly column: number;
  readonly pointer: string;
  readonly kind: string;
  readonly message: string;
}

/** A line for a program: the object by which every command tells of a fault. */
export const faultObject = (file: string, fault: TellableFault): string => `${JSON.stringify({ file, ...fault })}\n`;

/** Says why a table cannot be worked with: on stderr, and with `json` the faults as objects on stdout instead. */
export const tellTableError = async (error: TableFileError, json: boolean, world: World): Promise<void> => {
  if (!json || error.reason === "unreadable") {
    world.report(tableErrorText(error));
    return;
  }
  await world.print(error.faults.map((fault) => faultObject(error.name, fault)).join(""));
  world.report(`${error.name}: ${faultsText(error.faults.length)}\n`);
};

/** The same for faults that a gateway has found. */
export const tellFaults = async (
  name: string,
  faults: readonly TellableFault[],
  json: boolean,
  world: World,
): Promise<void> => {
  if (json) await world.print(faults.map((fault) => faultObject(name, fault)).join(""));
  else world.report(faults.map((fault) => faultLine(name, fault)).join(""));
};
