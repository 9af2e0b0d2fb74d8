/** Bytes and their digests. */

export type Bytes = Uint8Array<ArrayBuffer>;

/** A digest is made by the platform. */
export type Sha256 = (bytes: Bytes) => Promise<Uint8Array>;

/** A digest in lower-case hex. */
export const hexOf = (digest: Uint8Array): string =>
  Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const joinBytes = (parts: readonly Uint8Array[]): Bytes => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};
