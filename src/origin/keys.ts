import { isKeyId, KEY_OCTETS_MIN, SIGNING_ALGORITHM } from "../proxy/signature.ts";

/** One of the gateway's signing keys. */
export interface OriginKey {
  readonly id: string;
  /** Base64, or the octets themselves: 32 or more. */
  readonly key: string | Uint8Array;
}

/** Throws a `TypeError` for keys that cannot be the gateway's: a mistake of the deployment, which no request may hide. */
export function checkKeys(keys: readonly OriginKey[] | undefined): void {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new TypeError("waybill/origin needs the gateway's keys: { keys: [{ id, key }] }");
  }
  for (const key of keys) octetsOf(key);
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new TypeError("two keys have the same id");
}

/** By the object that holds the key: it is imported once, however many requests it verifies. */
const imported = new WeakMap<OriginKey, ReturnType<typeof crypto.subtle.importKey>>();

/** Whether the MAC, in base64url, is the text's. WebCrypto compares in constant time. */
export async function isSignedWith(key: OriginKey, mac: string, text: string): Promise<boolean> {
  const octets = new TextEncoder().encode(text);
  return crypto.subtle.verify(SIGNING_ALGORITHM.name, await importOnce(key), decodeBase64Url(mac), octets);
}

function importOnce(key: OriginKey) {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const fresh = crypto.subtle.importKey("raw", octetsOf(key), SIGNING_ALGORITHM, false, ["verify"]);
  imported.set(key, fresh);
  return fresh;
}

function octetsOf(originKey: OriginKey): Uint8Array<ArrayBuffer> {
  const { id, key } = originKey ?? {};
  if (typeof id !== "string" || !isKeyId(id))
    throw new TypeError("the id of a key is letters, digits, dot, underscore and hyphen");
  const octets =
    typeof key === "string" ? decodeBase64(key) : key instanceof Uint8Array ? new Uint8Array(key) : undefined;
  if (octets === undefined || octets.length < KEY_OCTETS_MIN) {
    throw new TypeError(`the key "${id}" is not base64 of ${KEY_OCTETS_MIN} octets or more`);
  }
  return octets;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  return BASE64.test(text) ? octetsOfBinary(atob(text)) : undefined;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** RFC 4648 §5, without padding; the text has been checked. */
function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return octetsOfBinary(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
}

function octetsOfBinary(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}
