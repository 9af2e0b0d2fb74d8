import { isKeyId, KEY_OCTETS_MIN, SIGNING_ALGORITHM } from "../proxy/signature.ts";

/** One of the gateway's signing keys. */
export interface OriginKey {
  readonly id: string;
  /** At least 32 bytes, raw or in base64. */
  readonly key: string | Uint8Array;
}

/** Throws a `TypeError` for invalid keys: a deployment error that must fail at startup. */
export function checkKeys(keys: readonly OriginKey[] | undefined): void {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new TypeError("waybill/origin needs the gateway's keys: { keys: [{ id, key }] }");
  }
  for (const key of keys) octetsOf(key);
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new TypeError("two keys have the same ID");
}

/** Keyed by the key object, so that each key is imported once. */
const imported = new WeakMap<OriginKey, ReturnType<typeof crypto.subtle.importKey>>();

/** Whether the base64url MAC matches the text. WebCrypto compares in constant time. */
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
    throw new TypeError("a key ID consists of letters, digits, dots, underscores and hyphens");
  const octets =
    typeof key === "string" ? decodeBase64(key) : key instanceof Uint8Array ? new Uint8Array(key) : undefined;
  if (octets === undefined || octets.length < KEY_OCTETS_MIN) {
    throw new TypeError(`the key "${id}" must have at least ${KEY_OCTETS_MIN} bytes, in base64`);
  }
  return octets;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  return BASE64.test(text) ? octetsOfBinary(atob(text)) : undefined;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** RFC 4648 §5, without padding. The text is already validated. */
function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return octetsOfBinary(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
}

function octetsOfBinary(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}
