import { err, type Result } from "../ids/index.ts";
import type { Fault } from "../routing/index.ts";
import type { GatewayOptions } from "./gateway-address.ts";
import { openGateway } from "./gateway-client.ts";
import { escapeControls } from "./printable.ts";
import { readTableFile, type TableFile, type TableFileError } from "./table-file.ts";
import { reportTableError } from "./table-refusal.ts";
import { readRevision } from "./table-revision.ts";
import type { Runtime } from "./world.ts";

/** One of two tables that are compared. */
export interface TableSource<Table> extends TableFile<Table> {
  /** Absent for a file. */
  readonly revision?: number;
}

/** Said in the help of commands that compare two tables. */
export const SOURCE_HELP =
  "Digits alone are the number of a revision at the gateway; write ./41 for a file of that name.";

/** Whether a word is the number of a revision, and no file: by its digits alone, whatever files there are. */
export const isRevision = (word: string): boolean => /^\d{1,15}$/.test(word);

/** Reads a file, or a revision of the gateway. The error is one of a file, or sentences for stderr. */
export const readTableSource = async <Table>(
  word: string,
  options: GatewayOptions,
  runtime: Runtime,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
): Promise<Result<TableSource<Table>, TableFileError | string>> => {
  if (!isRevision(word)) return readTableFile(word, runtime, check);
  const gateway = openGateway(options, runtime);
  if (gateway.ok) return readRevision(gateway.value, Number(word), check);
  return err(
    `${gateway.error}  ${escapeControls(word)} is read as the number of a revision; write ./${word} for a file\n`,
  );
};

export const reportSourceError = async (
  error: TableFileError | string,
  json: boolean,
  runtime: Runtime,
): Promise<void> => {
  if (typeof error === "string") runtime.report(error);
  else await reportTableError(error, json, runtime);
};
