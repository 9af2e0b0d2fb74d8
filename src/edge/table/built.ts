import type { BuiltConstants } from "../../formats/built-table.ts";
import type { StoredForm } from "../../routing/compile/restore.ts";

/** `undefined`: a Worker of sources. */
export function readBuilt(constants: BuiltConstants | undefined) {
  if (constants?.table === undefined) return { version: constants?.version, table: undefined };
  const { digest, form } = constants.table;
  const read = form && ((): StoredForm => ({ text: form.text, numbers: bytesOf(form.numbers) }));
  return { version: constants.version, table: { digest, form: read } };
}

/** A loop: `Uint8Array.from` calls a function for each byte, which takes several ms in a cold isolate. */
function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
