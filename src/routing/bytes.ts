/** Bytes and their digests. */

export type Bytes = Uint8Array<ArrayBuffer>;

/** A digest is made by the platform. */
export type Sha256 = (bytes: Bytes) => Promise<Uint8Array>;

/** A digest in lower-case hex. */
export const hexOf = (digest: Uint8Array): string =>
  Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * FNV-1a over the UTF-16 units with a last mixing (A. Appleby's `fmix32`): texts that look alike have hashes that are far apart.
 * 32 bits, and synchronous. It never changes: keys of directories would not be found again.
 */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export const joinBytes = (parts: readonly Uint8Array[]): Bytes => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};
