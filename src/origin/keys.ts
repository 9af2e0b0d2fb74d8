import { isKeyId, KEY_BYTES_MIN, SIGNING_ALGORITHM } from "../proxy/signature.ts";

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
  for (const key of keys) bytesOf(key);
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new TypeError("two keys have the same ID");
}

/** Keyed by the key object, so that each key is imported once. */
const imported = new WeakMap<OriginKey, ReturnType<typeof crypto.subtle.importKey>>();

/** Whether the base64url MAC matches the text. WebCrypto compares in constant time. */
export async function isSignedWith(key: OriginKey, mac: string, text: string): Promise<boolean> {
  const bytes = new TextEncoder().encode(text);
  return crypto.subtle.verify(SIGNING_ALGORITHM.name, await importOnce(key), decodeBase64Url(mac), bytes);
}

function importOnce(key: OriginKey) {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const fresh = crypto.subtle.importKey("raw", bytesOf(key), SIGNING_ALGORITHM, false, ["verify"]);
  imported.set(key, fresh);
  return fresh;
}

function bytesOf(originKey: OriginKey): Uint8Array<ArrayBuffer> {
  const { id, key } = originKey ?? {};
  if (typeof id !== "string" || !isKeyId(id))
    throw new TypeError("a key ID consists of letters, digits, dots, underscores and hyphens");
  const bytes =
    typeof key === "string" ? decodeBase64(key) : key instanceof Uint8Array ? new Uint8Array(key) : undefined;
  if (bytes === undefined || bytes.length < KEY_BYTES_MIN) {
    throw new TypeError(`the key "${id}" must have at least ${KEY_BYTES_MIN} bytes, in base64`);
  }
  return bytes;
}

const decodeBase64 = (text: string) => (BASE64.test(text) ? bytesOfBinary(atob(text)) : undefined);

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** RFC 4648 §5, without padding. The text is already validated. */
const decodeBase64Url = (text: string) => bytesOfBinary(atob(text.replaceAll("-", "+").replaceAll("_", "/")));

const bytesOfBinary = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text, (unit) => unit.charCodeAt(0));
