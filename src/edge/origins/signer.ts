import * as v from "valibot";
import type { Clock, Sign } from "../../ports/gateway.ts";
import { formatSignature, isKeyId, KEY_BYTES_MIN, SIGNING_ALGORITHM, signedText } from "../../proxy/signature.ts";
import { readSecret, type Settings, textOf } from "../settings.ts";

/** The first key signs; origins are to know both. */
export type SigningKeys = readonly Readonly<{ id: string; key: Uint8Array<ArrayBuffer> }>[];

export const NO_SIGNING_KEYS: SigningKeys = [];

/** One in use and one that comes or goes: more would only hide that a rotation was never finished. */
const KEYS_MAX = 2;

const bytes = v.pipe(
  v.string(),
  v.base64(),
  v.transform((text) => Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))),
  v.check(({ length }) => length >= KEY_BYTES_MIN),
);

const SECRET = v.pipe(
  v.array(v.strictObject({ id: v.pipe(v.string(), v.check(isKeyId)), key: bytes })),
  v.minLength(1),
  v.maxLength(KEYS_MAX),
  v.check((keys) => new Set(keys.map(({ id }) => id)).size === keys.length),
);

/** The keys of the secret `ORIGIN_SIGNING_KEYS`; `undefined` if invalid, without a reason: they are secret. */
export const parseSigningKeys = (text: string): SigningKeys | undefined => readSecret(SECRET, text);

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
