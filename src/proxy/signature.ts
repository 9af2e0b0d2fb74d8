/**
 * The content of the field `waybill-signature`. Imports nothing, because origins verify with the same file.
 *
 * The field: `v1;k=<key>;t=<Unix seconds>;a=<client address>;s=<HMAC-SHA-256 in base64url>`.
 * The HMAC is over ten lines, joined by line feeds: `waybill-signature v1`, key, time, method, target, ID, region,
 * revision, epoch, client address. A read of a copy has an eleventh: the region that owns the entity.
 */

/** The facts that the gateway vouches for to an origin. All visible ASCII. */
export interface Signable {
  readonly method: string;
  /** Path and query as the origin gets them, its base path included. */
  readonly target: string;
  /** Empty for a request without an ID. */
  readonly id: string;
  readonly region: string;
  readonly revision: number;
  /** Epoch of the entity's move; 0 for one that never moved. */
  readonly epoch: number;
  /** `unknown` where it is not known. */
  readonly clientAddress: string;
  /** The region that owns the entity, for a read of a copy. */
  readonly copyOf?: string | undefined;
}

/** The key that signed, and the Unix time. */
export type Seal = Readonly<{ keyId: string; seconds: number }>;

/** The parts of a field's value. */
export interface SignatureField extends Seal {
  readonly clientAddress: string;
  /** 32 bytes in base64url. */
  readonly mac: string;
}

/** Stands for a client whose address the platform does not vouch for. */
export const UNKNOWN_ADDRESS = "unknown";

export const SIGNATURE_FIELD = "waybill-signature";

/** The algorithm's name and block, as WebCrypto calls them. */
export const SIGNING_ALGORITHM = { name: "HMAC", hash: "SHA-256" } as const;

/** A key shorter than the hash's output weakens it (RFC 2104 §3). */
export const KEY_BYTES_MIN = 32;

const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;

export const isKeyId = (text: string): boolean => KEY_ID.test(text);

const CONTEXT = "waybill-signature v1";

/**
 * The bytes that are signed, or `undefined` for what could be read in two ways. No part holds a line feed, and each has
 * its line: two different requests never have the same text.
 */
export function signedText(what: Signable, { keyId, seconds }: Seal): string | undefined {
  const { method, target, id, region, revision, epoch, clientAddress, copyOf } = what;
  const parts = [keyId, seconds, method, target, id, region, revision, epoch, clientAddress];
  if (!isCount(seconds) || !isCount(revision) || !isCount(epoch)) return undefined;
  const text = parts.join("\n");
  // One look at the whole is enough: a line feed inside a part is one line too many.
  if (!VISIBLE_LINES.test(text)) return undefined;
  if (copyOf === undefined) return `${CONTEXT}\n${text}`;
  return REGION_NAME.test(copyOf) ? `${CONTEXT}\n${text}\n${copyOf}` : undefined;
}

const VISIBLE_LINES = /^(?:[!-~]*\n){8}[!-~]*$/;
const REGION_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;

export function formatSignature({ keyId, seconds, clientAddress, mac }: SignatureField): string {
  return `v1;k=${keyId};t=${seconds};a=${clientAddress};s=${mac}`;
}

/** Reads the one text that `formatSignature` makes; `undefined` for any other. */
export function parseSignature(value: string): SignatureField | undefined {
  const [, keyId, seconds, clientAddress, mac] = VALUE.exec(value) ?? [];
  if (keyId === undefined || seconds === undefined || clientAddress === undefined || mac === undefined)
    return undefined;
  return { keyId, seconds: Number(seconds), clientAddress, mac };
}

/** 32 bytes are 43 characters of base64url, the last of which has two bits to spare: they must be 0 (RFC 4648 §3.5). */
const VALUE =
  /^v1;k=([A-Za-z0-9._-]{1,64});t=(0|[1-9]\d{0,11});a=(unknown|[0-9A-Fa-f.:]{2,45});s=([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/;
