import { err, ok, type Result } from "../../ids/result.ts";
import {
  type CompiledTable,
  type Fault,
  loadTable,
  NOT_UTF8,
  parseTableText,
  type TableNames,
} from "../../routing/index.ts";

/** Checks and compiles a published table, as strictly as the command line does. */
export function loadTableBytes(bytes: Bytes, revision: number): Result<CompiledTable, readonly Fault[]> {
  const declared = declaredIn(bytes);
  return declared.ok ? loadTable(declared.value, revision) : declared;
}

/** A separate call, so that the text can be freed before the table is compiled. */
function declaredIn(bytes: Bytes): Result<unknown, readonly Fault[]> {
  const text = tableText(bytes);
  return text.ok ? parseTableText(text.value) : text;
}

/** The names in a checked text, in a hundredth of the time of a check. */
export function tableNames(bytes: Bytes): TableNames {
  const text = tableText(bytes);
  const { countries = {}, entities = {} }: Record<string, object> = text.ok ? JSON.parse(text.value) : {};
  return { countries: new Set(Object.keys(countries)), entities: new Set(Object.keys(entities)) };
}

/** UTF-8; a byte order mark stays in the text. */
export function tableText(bytes: Bytes): Result<string, readonly Fault[]> {
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return err([NOT_UTF8]);
  }
}

/** SHA-256 in lower-case hex. */
export async function sha256(bytes: Bytes): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export type Bytes = ArrayBuffer | Uint8Array;
