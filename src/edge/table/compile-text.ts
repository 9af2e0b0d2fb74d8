import { err, ok, type Result } from "../../ids/result.ts";
import { type CompiledTable, type Fault, loadTable, parseTableText } from "../../routing/index.ts";
import { type Bytes, type LoadFailure, tableText } from "./kv.ts";

/** The check and the compiler. An isolate loads them where no form of a table is stored for it. */

/** `isChecked`: by this version, on the word of the build or of the control plane. */
export function compileBody(
  bytes: ArrayBuffer,
  digest: string,
  revision: number,
  isChecked = false,
): Result<CompiledTable, LoadFailure> {
  const invalid = (faults: number, first: string) => err({ reason: "table-invalid", digest, faults, first } as const);
  try {
    const table = loadTableBytes(bytes, revision, isChecked);
    return table.ok ? table : invalid(table.error.length, `${table.error[0]?.pointer}: ${table.error[0]?.message}`);
  } catch (error) {
    // A text that crashes the compiler must not stop every request.
    return invalid(1, `the check failed: ${String(error)}`);
  }
}

/** Checks and compiles a published table, as strictly as the command line does. */
export function loadTableBytes(
  bytes: Bytes,
  revision: number,
  isChecked = false,
): Result<CompiledTable, readonly Fault[]> {
  const declared = declaredIn(bytes, isChecked);
  return declared.ok ? loadTable(declared.value, revision, isChecked) : declared;
}

/** The table of the build. */
export const compileBundled = loadTable;

/** A separate call, so that the text can be freed before the table is compiled. */
function declaredIn(bytes: Bytes, isChecked: boolean): Result<unknown, readonly Fault[]> {
  const text = tableText(bytes);
  if (!text.ok) return text;
  return isChecked ? ok(JSON.parse(text.value)) : parseTableText(text.value);
}
