import type { Clock, Sign } from "../../ports/gateway.ts";
import { formatSignature, isKeyId, KEY_BYTES_MIN, SIGNING_ALGORITHM, signedText } from "../../proxy/signature.ts";
import { areDistinct, entriesIn, membersIn, type Settings, textOf } from "../settings.ts";

/** The first key signs; origins are to know both. */
export type SigningKeys = readonly Readonly<{ id: string; key: Uint8Array<ArrayBuffer> }>[];

export const NO_SIGNING_KEYS: SigningKeys = [];

/** One in use and one that comes or goes: more would only hide that a rotation was never finished. */
const KEYS_MAX = 2;

/** RFC 4648 §4. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesIn = (given: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (typeof given !== "string" || !BASE64.test(given)) return undefined;
  const bytes = Uint8Array.from(atob(given), (unit) => unit.charCodeAt(0));
  return bytes.length >= KEY_BYTES_MIN ? bytes : undefined;
};

const keyIn = (given: unknown): SigningKeys[number] | undefined => {
  const { id, key: text } = membersIn(given, ["id", "key"]) ?? {};
  const key = bytesIn(text);
  return typeof id === "string" && isKeyId(id) && key !== undefined ? { id, key } : undefined;
};

/** The keys of the secret `ORIGIN_SIGNING_KEYS`; `undefined` if invalid, without a reason: they are secret. */
export const parseSigningKeys = (text: string): SigningKeys | undefined => {
  const keys = entriesIn(text, KEYS_MAX, keyIn);
  return keys !== undefined && areDistinct(keys.map(({ id }) => id)) ? keys : undefined;
};

/** Without its fault, which `readConfig` reports. */
export function signingKeysOf(env: Settings): SigningKeys {
  const text = textOf("ORIGIN_SIGNING_KEYS", env);
  return (text.ok && text.value !== undefined ? parseSigningKeys(text.value) : undefined) ?? NO_SIGNING_KEYS;
}

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
