import { err, type Result } from "../ids/index.ts";
import type { Fault } from "../routing/index.ts";
import type { GatewayOptions } from "./gateway-address.ts";
import { openGateway } from "./gateway-client.ts";
import { printable } from "./printable.ts";
import { readTableFile, type TableFile, type TableFileError } from "./table-file.ts";
import { tellTableError } from "./table-refusal.ts";
import { readRevision } from "./table-revision.ts";
import type { World } from "./world.ts";

/** One of two tables that are compared. */
export interface TableSide<Table> extends TableFile<Table> {
  /** Absent for a file. */
  readonly revision?: number;
}

/** Said in the help of commands that compare two tables. */
export const SIDE_HELP =
  "Digits alone are the number of a revision at the gateway; write ./41 for a file of that name.";

/** Whether a word is the number of a revision, and no file: by its digits alone, whatever files there are. */
export const isRevision = (word: string): boolean => /^\d{1,15}$/.test(word);

/** Reads a file, or a revision of the gateway. The error is one of a file, or sentences for stderr. */
export const readSide = async <Table>(
  word: string,
  options: GatewayOptions,
  world: World,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
): Promise<Result<TableSide<Table>, TableFileError | string>> => {
  if (!isRevision(word)) return readTableFile(word, world, check);
  const gateway = openGateway(options, world);
  if (gateway.ok) return readRevision(gateway.value, Number(word), check);
  return err(`${gateway.error}  ${printable(word)} is read as the number of a revision; write ./${word} for a file\n`);
};

export const tellSideError = async (error: TableFileError | string, json: boolean, world: World): Promise<void> => {
  if (typeof error === "string") world.report(error);
  else await tellTableError(error, json, world);
};
