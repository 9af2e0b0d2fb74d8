/** SHA-256 (FIPS 180-4) without waiting: a table is checked in one go. Not for secrets. */

/** The first 32 bits of the fractional parts of roots of the first primes (§4.2.2, §5.3.3). */
const fractionBits = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32);

const primes = (count: number): readonly number[] => {
  const found: number[] = [];
  for (let number = 2; found.length < count; number++) {
    if (found.every((prime) => number % prime !== 0)) found.push(number);
  }
  return found;
};

/** Made when a document is first hashed: a module does nothing when it is loaded. */
let constants: { readonly first: readonly number[]; readonly rounds: readonly number[] } | undefined;

const constantsOf = () => {
  const [all, few] = [primes(64), primes(8)];
  return {
    first: few.map((prime) => fractionBits(Math.sqrt(prime))),
    rounds: all.map((prime) => fractionBits(Math.cbrt(prime))),
  };
};

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** Digest of a text in UTF-8, in lower-case hex. */
export const sha256 = (text: string): string => {
  constants ??= constantsOf();
  const { first, rounds } = constants;
  const words = paddedWords(utf8Of(text));
  const state = [...first];
  const schedule = new Array<number>(64);
  for (let block = 0; block < words.length; block += 16) {
    for (let at = 0; at < 64; at++) {
      if (at < 16) schedule[at] = words[block + at] as number;
      else {
        const [w2, w7, w15, w16] = [2, 7, 15, 16].map((back) => schedule[at - back] as number) as unknown as Four;
        const s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3);
        const s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10);
        schedule[at] = (w16 + s0 + w7 + s1) | 0;
      }
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
    for (let at = 0; at < 64; at++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (rounds[at] as number) + (schedule[at] as number)) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = ((state[at] as number) + word) | 0;
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
};

type Four = readonly [number, number, number, number];
type Eight = [number, number, number, number, number, number, number, number];

/** A lone surrogate is U+FFFD, as of TextEncoder. */
const utf8Of = (text: string): readonly number[] => {
  const bytes: number[] = [];
  for (const char of text) {
    const point = char.codePointAt(0) as number;
    const code = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return bytes;
};

/** §5.1.1: a set bit, zeros, and the length in bits. */
const paddedWords = (bytes: readonly number[]): readonly number[] => {
  const words = new Array<number>(Math.ceil((bytes.length + 9) / 64) * 16).fill(0);
  for (const [at, byte] of [...bytes, 0x80].entries())
    words[at >> 2] = (words[at >> 2] as number) | (byte << (24 - (at & 3) * 8));
  words[words.length - 2] = Math.floor(bytes.length / 2 ** 29);
  words[words.length - 1] = (bytes.length << 3) | 0;
  return words;
};
