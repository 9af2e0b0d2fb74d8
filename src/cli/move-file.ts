import { err, ok, type Result } from "../ids/index.ts";
import { checkTable } from "../routing/index.ts";
import type { DeclaredTable } from "../routing/schema.ts";
import { idsOf } from "./each-id.ts";
import { escapeControls } from "./printable.ts";
import { checkText, formatTableError, readBytes, TABLE_FILE_DEFAULT } from "./table-file.ts";
import type { Runtime } from "./world.ts";

/** A table with the text that it was read from. */
export interface OpenTable {
  readonly name: string;
  readonly text: string;
  readonly declared: DeclaredTable;
}

/** Opens a table that is to be edited in its file. Errors are sentences for stderr. */
export const openForEdit = async (path = TABLE_FILE_DEFAULT, runtime: Runtime): Promise<Result<OpenTable, string>> => {
  if (path === "-") return err("error: the table is edited in its file, so it cannot come from stdin (--table)\n");
  const bytes = await readBytes(path, runtime);
  if (!bytes.ok) return err(formatTableError({ reason: "unreadable", name: path, why: bytes.error }));
  const declared = checkText(bytes.value, checkTable);
  if (!declared.ok) return err(formatTableError({ reason: "faulty", name: path, faults: declared.error }));
  return ok({ name: path, text: new TextDecoder().decode(bytes.value), declared: declared.value });
};

/** Puts an edited text in the file's place, unless it could not be served, or `isTrial`. */
export const saveTable = (
  { name, text }: OpenTable,
  edited: string,
  isTrial: boolean,
  runtime: Runtime,
): Result<undefined, string> => {
  const checked = checkText(new TextEncoder().encode(edited), checkTable);
  if (!checked.ok) return err(formatTableError({ reason: "faulty", name, faults: checked.error }));
  if (isTrial || edited === text) return ok(undefined);
  const written = runtime.writeFile(name, edited);
  return written.ok ? written : err(`error: ${escapeControls(name)} cannot be written: ${written.error}\n`);
};

/** All IDs of the arguments, those on stdin included. */
export const collectIds = async (
  args: readonly string[],
  runtime: Runtime,
): Promise<Result<readonly string[], string>> => {
  const ids: string[] = [];
  for await (const id of idsOf(args, runtime)) {
    if (!id.ok) return err(`error: line ${id.error} of stdin is too long for an ID\n`);
    ids.push(id.value);
  }
  return ids.length === 0 ? err("error: stdin has no ID\n") : ok(ids);
};
