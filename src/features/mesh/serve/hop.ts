import type { HopFault, ProxyError } from "../../../proxy/errors.ts";
import { isKeyId, SIGNING_ALGORITHM } from "../../../proxy/signature.ts";
import type { Mesh, PeerKey } from "../port.ts";

/**
 * The content of the field `waybill-hop` between two gateways of a mesh.
 *
 * In a request: `v1;k=<key>;t=<Unix seconds>;h=<JSON in base64url>;s=<HMAC-SHA-256 in base64url>`. The HMAC is over six lines, joined by
 * line feeds: `waybill-hop v1`, key, time, method, target as sent, and the JSON as it stands in the field. None of them can hold a
 * line feed, so no two requests have one text. A body is not signed: TLS protects it.
 *
 * In an answer: `answered` for an origin's, else `error=<JSON in base64url>`.
 */

/** All that the entry has decided of a request, for the gateway that delivers it. */
export interface Hop {
  /** Names of the gateways that it has passed, the entry's the last. */
  readonly names: readonly string[];
  readonly region: string;
  /** Revision of the table that decided. Each gateway counts its own. */
  readonly revision: number;
  /** Digest of that table, if it is published. Gateways of earlier versions do not say it. */
  readonly table?: string | null | undefined;
  /** 0 for an entity that never moved. */
  readonly epoch: number;
  readonly entity: string;
  readonly id?: { readonly layout: string; readonly text: string; readonly words: readonly number[] } | undefined;
  /** Chooses the origin. */
  readonly identity: readonly number[];
  readonly copyOf?: string | undefined;
  readonly address?: string | undefined;
  /** Fields that the entry made for the origin. */
  readonly fields: Readonly<Record<string, string>>;
  readonly isRead?: true | undefined;
  /** Whether origins of it get no `via`; or clients all that is added. */
  readonly shown: "minimal" | "standard" | "full";
  readonly replayBytesMax: number;
  readonly isWhole?: boolean | undefined;
  /** 0 for no limit; of `idleMs` absent where the table chose none. */
  readonly firstByteMs: number;
  readonly idleMs?: number | undefined;
  readonly totalMs: number;
}

/** A request's clock may differ by this much from the other gateway's. Until then the same request is believed again. */
const AGE_SECONDS_MAX = 60;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

const base64url = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
};

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (unit) => unit.charCodeAt(0));

/** JSON in base64url; `undefined` for what is no object. */
const objectIn = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytesOf(text)));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const textOf = (value: object): string => base64url(encoder.encode(JSON.stringify(value)));

/** Signed beside key and time. */
export interface Signed {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
}

const signedBytes = ({ method, target }: Signed, keyId: string, seconds: number, content: string) =>
  encoder.encode(["waybill-hop v1", keyId, seconds, method, target, content].join("\n"));

/** Keyed by the key object, so that each key is imported once. */
const imported = new WeakMap<PeerKey, Promise<CryptoKey>>();

function importOnce(key: PeerKey): Promise<CryptoKey> {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const fresh = crypto.subtle.importKey("raw", key.key, SIGNING_ALGORITHM, false, ["sign", "verify"]);
  imported.set(key, fresh);
  return fresh;
}

/** Anything else in a target would be changed on its way, and could end a signed line. */
const VISIBLE = /^[!-~]+$/;

/** The field's value. `key`: the first of the keys. */
export async function formatHop(hop: Hop, signed: Signed, key: PeerKey, nowMs: number): Promise<string> {
  if (!VISIBLE.test(signed.target)) throw new Error("a request holds what cannot be signed");
  const content = textOf(hop);
  const seconds = Math.floor(nowMs / 1000);
  const mac = await crypto.subtle.sign(
    SIGNING_ALGORITHM.name,
    await importOnce(key),
    signedBytes(signed, key.id, seconds, content),
  );
  return `v1;k=${key.id};t=${seconds};h=${content};s=${base64url(new Uint8Array(mac))}`;
}

/** 32 bytes are 43 characters, the last of which has two bits to spare: they must be 0 (RFC 4648 §3.5). */
const VALUE = /^v1;k=([^;]*);t=(0|[1-9]\d{0,11});h=([A-Za-z0-9_-]+);s=([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/;

/** The hop, or why it is not believed. The time is looked at last: only who has a key learns of the clock. */
export async function readHop(
  value: string,
  signed: Signed,
  { keys }: Pick<Mesh, "keys">,
  nowMs: number,
): Promise<Hop | HopFault> {
  if (keys.length === 0) return "no-keys";
  const [, keyId = "", time = "", content = "", mac = ""] = VALUE.exec(value) ?? [];
  if (!isKeyId(keyId) || !VISIBLE.test(signed.target)) return "form";
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) return "unknown-key";
  const seconds = Number(time);
  const text = signedBytes(signed, keyId, seconds, content);
  // WebCrypto compares in constant time.
  if (!(await crypto.subtle.verify(SIGNING_ALGORITHM.name, await importOnce(key), bytesOf(mac), text)))
    return "changed";
  if (Math.abs(nowMs / 1000 - seconds) > AGE_SECONDS_MAX) return "late";
  // Holders of a key write hops as this version does, or are of another version.
  return (objectIn(content) as Hop | undefined) ?? "form";
}

export const ANSWERED = "answered";

const ERROR = "error=";

export const formatError = (error: ProxyError): string => ERROR + textOf(error);

/** `undefined`: not of this form. */
export function readError(value: string): ProxyError | undefined {
  const error = value.startsWith(ERROR) ? objectIn(value.slice(ERROR.length)) : undefined;
  return error !== undefined && "reason" in error ? (error as ProxyError) : undefined;
}
