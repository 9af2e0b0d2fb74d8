import type { Voucher } from "../../formats/voucher.ts";
import type { StoredForm } from "../../routing/compile/restore.ts";

export interface BuiltTable {
  /** SHA-256 of its text. */
  readonly digest: string;
  /** `undefined`: too large to be deployed with the code. */
  readonly form: (() => StoredForm) | undefined;
}

/** `undefined`: the build vouches for no table, or is of another version. `version`: of this code; a Worker of sources has none. */
export function readVoucher(voucher: Voucher | undefined, version: string | undefined): BuiltTable | undefined {
  if (voucher === undefined || voucher.version !== version) return undefined;
  const { digest, form } = voucher;
  return { digest, form: form === undefined ? undefined : () => formIn(form) };
}

function formIn(module: string): StoredForm {
  const end = module.indexOf("\n");
  return { text: module.slice(end + 1), numbers: bytesOf(module.slice(0, end)) };
}

/** A loop: `Uint8Array.from` calls a function for each byte, which takes several ms in a cold isolate. */
function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** A table that is deployed as text is parsed where it is needed. `undefined`: the text is no JSON. */
export function declaredIn(table: unknown): unknown {
  if (typeof table !== "string") return table;
  try {
    return JSON.parse(table);
  } catch {
    return undefined;
  }
}
