import { checkTable } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { misuse, type Runtime } from "../runtime.ts";
import { TABLE_FILE_DEFAULT, writeOutput } from "./input.ts";
import type { Edited } from "./json-edit.ts";
import { escapeControls } from "./output.ts";
import { type Checked, checkText, readBytes, valid } from "./table-file.ts";

export type OpenTable<Table = DeclaredTable> = { readonly name: string; readonly text: string; readonly table: Table };

export const openForEdit = async (path: string | undefined, runtime: Runtime): Promise<OpenTable> =>
  openAs(path ?? TABLE_FILE_DEFAULT, runtime, (bytes) => checkText(bytes, checkTable));

/** The same, of which `check` reads a part. */
export const openAs = async <Table>(path: string, runtime: Runtime, check: (bytes: Uint8Array) => Checked<Table>) => {
  if (path === "-") misuse("error: the table file is edited, so it cannot be stdin (--table)\n");
  const bytes = await readBytes(path, runtime);
  return {
    name: path,
    text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
    table: valid(path, check(bytes)),
  };
};

const NOT_WRITTEN = "error: nothing was written\n";

/** The table as the edited text declares it. The text is written unless it is invalid or `isTrial`. */
export const saveTable = (
  { name, text }: OpenTable,
  { text: edited, removed }: Edited,
  isTrial: boolean,
  runtime: Runtime,
): DeclaredTable => {
  const table = valid(name, checkText(new TextEncoder().encode(edited), checkTable), "stderr", NOT_WRITTEN);
  if (!isTrial && edited !== text) writeOutput(name, edited, runtime, NOT_WRITTEN);
  reportRemoved(removed, runtime);
  return table;
};

/** Comments that went with their entries. */
export const reportRemoved = (removed: Edited["removed"], runtime: Runtime): void => {
  for (const comment of removed) runtime.report(`note: removed with its entry: ${escapeControls(comment)}\n`);
};
