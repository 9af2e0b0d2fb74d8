import { err, ok, type Result } from "../ids/result.ts";
import { type CompiledTable, type Fault, loadTableText, NOT_UTF8 } from "../routing/index.ts";

/** A table as it lies in stores: octets, named by their digest. */

/** Checks and compiles what was published, as strictly as the command line does. */
export function loadTableOctets(octets: Octets, revision: number): Result<CompiledTable, readonly Fault[]> {
  const text = tableText(octets);
  return text.ok ? loadTableText(text.value, revision) : text;
}

/** UTF-8 without a mark in front. */
export function tableText(octets: Octets): Result<string, readonly Fault[]> {
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(octets));
  } catch {
    return err([NOT_UTF8]);
  }
}

/** SHA-256 in lower-case hex. */
export async function sha256(octets: Octets): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", octets));
  return Array.from(digest, (octet) => octet.toString(16).padStart(2, "0")).join("");
}

export type Octets = ArrayBuffer | Uint8Array;
