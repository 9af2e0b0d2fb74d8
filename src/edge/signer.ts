import type { Clock, Sign } from "../ports.ts";
import { formatSignature, SIGNING_ALGORITHM, signedText } from "../proxy/signature.ts";
import type { SigningKeys } from "./signing-keys.ts";

type Subtle = typeof crypto.subtle;

/** Signs with the first of the keys; `undefined` without any. The key is imported once. */
export function hmacSigner(keys: SigningKeys, subtle: Subtle, clock: Clock): Sign | undefined {
  const [first] = keys;
  if (first === undefined) return undefined;
  const { id: keyId, key } = first;
  const encoder = new TextEncoder();
  let imported: Awaited<ReturnType<Subtle["importKey"]>> | undefined;
  return async (what) => {
    const seal = { keyId, seconds: Math.floor(clock.nowMs() / 1000) };
    const text = signedText(what, seal);
    if (text === undefined) throw new Error("a request holds what cannot be signed");
    imported ??= await subtle.importKey("raw", key, SIGNING_ALGORITHM, false, ["sign"]);
    const mac = await subtle.sign(SIGNING_ALGORITHM.name, imported, encoder.encode(text));
    return formatSignature({ ...seal, clientAddress: what.clientAddress, mac: base64url(new Uint8Array(mac)) });
  };
}

/** RFC 4648 §5, without padding. */
function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
}
