/**
 * SipHash-2-4 of 128 to 64 bits (Aumasson and Bernstein 2012) of a text as UTF-8, in 32-bit words. The key is secret and
 * random for each copy, so that chosen texts make no collisions.
 */
export class KeyHash {
  /** The two words of the last hash. */
  high = 0;
  low = 0;
  private readonly key: Int32Array;
  private bytes = new Uint8Array(256);
  private words = new Int32Array(this.bytes.buffer);

  /** `key`: 16 bytes. */
  constructor(key: Uint8Array) {
    this.key = new Int32Array(key.slice(0, HASH_KEY_BYTES).buffer);
  }

  /** Sets `high` and `low`. */
  of(text: string): void {
    this.compress(this.fill(text));
  }

  /** Hashes bytes as they are. */
  ofBytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes);
    this.compress(bytes.length);
  }

  private reserve(bytes: number): void {
    // The last block and its length follow.
    if (bytes + 8 <= this.bytes.length) return;
    this.bytes = new Uint8Array(Math.ceil((bytes + 8) / 256) * 256);
    this.words = new Int32Array(this.bytes.buffer);
  }

  /** Writes the text as UTF-8; a lone surrogate stays itself, so that two texts have two byte strings. */
  private fill(text: string): number {
    this.reserve(text.length * 3);
    const { bytes } = this;
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      let code = text.charCodeAt(at);
      if (code < 0x80) {
        bytes[end++] = code;
        continue;
      }
      if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
        code = text.codePointAt(at++) as number;
      }
      if (code < 0x800) bytes[end++] = 0xc0 | (code >> 6);
      else {
        if (code < 0x10000) bytes[end++] = 0xe0 | (code >> 12);
        else {
          bytes[end++] = 0xf0 | (code >> 18);
          bytes[end++] = 0x80 | ((code >> 12) & 0x3f);
        }
        bytes[end++] = 0x80 | ((code >> 6) & 0x3f);
      }
      bytes[end++] = 0x80 | (code & 0x3f);
    }
    return end;
  }

  /** Hashes the first `length` of `bytes`. `v0h` and `v0l` are the halves of the reference's v0. */
  private compress(length: number): void {
    const { key, bytes, words } = this;
    const k0l = key[0] as number;
    const k0h = key[1] as number;
    const k1l = key[2] as number;
    const k1h = key[3] as number;
    let v0h = k0h ^ 0x736f6d65;
    let v0l = k0l ^ 0x70736575;
    let v1h = k1h ^ 0x646f7261;
    let v1l = k1l ^ 0x6e646f6d;
    let v2h = k0h ^ 0x6c796765;
    let v2l = k0l ^ 0x6e657261;
    let v3h = k1h ^ 0x74656462;
    let v3l = k1l ^ 0x79746573;
    const blocks = (length >>> 3) + 1;
    bytes.fill(0, length, blocks * 8);
    bytes[blocks * 8 - 1] = length;
    for (let block = 0; block <= blocks; block++) {
      const isLast = block === blocks;
      const low = isLast ? 0 : (words[block * 2] as number);
      const high = isLast ? 0 : (words[block * 2 + 1] as number);
      if (isLast) v2l ^= 0xff;
      v3h ^= high;
      v3l ^= low;
      for (let round = isLast ? 4 : 2; round > 0; round--) {
        let before = v0l;
        v0l = (v0l + v1l) | 0;
        v0h = (v0h + v1h + (v0l >>> 0 < before >>> 0 ? 1 : 0)) | 0;
        before = v2l;
        v2l = (v2l + v3l) | 0;
        v2h = (v2h + v3h + (v2l >>> 0 < before >>> 0 ? 1 : 0)) | 0;
        let turned = (v1h << 13) | (v1l >>> 19);
        v1l = ((v1l << 13) | (v1h >>> 19)) ^ v0l;
        v1h = turned ^ v0h;
        turned = (v3h << 16) | (v3l >>> 16);
        v3l = ((v3l << 16) | (v3h >>> 16)) ^ v2l;
        v3h = turned ^ v2h;
        // v0 turned by 32: its halves change places.
        before = v0h;
        turned = (v0h + v3l) | 0;
        v0h = (v0l + v3h + (turned >>> 0 < before >>> 0 ? 1 : 0)) | 0;
        v0l = turned;
        before = v2l;
        v2l = (v2l + v1l) | 0;
        v2h = (v2h + v1h + (v2l >>> 0 < before >>> 0 ? 1 : 0)) | 0;
        turned = (v3h << 21) | (v3l >>> 11);
        v3l = ((v3l << 21) | (v3h >>> 11)) ^ v0l;
        v3h = turned ^ v0h;
        turned = (v1h << 17) | (v1l >>> 15);
        v1l = ((v1l << 17) | (v1h >>> 15)) ^ v2l;
        v1h = turned ^ v2h;
        turned = v2l;
        v2l = v2h;
        v2h = turned;
      }
      v0h ^= high;
      v0l ^= low;
    }
    this.high = v0h ^ v1h ^ v2h ^ v3h;
    this.low = v0l ^ v1l ^ v2l ^ v3l;
  }
}

export const HASH_KEY_BYTES = 16;
