import type { Words } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";
import { SIV_KEY_BYTES, type SivBlock, sivBlock } from "./aes.ts";
import { type KeyRingError, makeRing, type NamedKey, type Ring } from "./key-ring.ts";
import { formatBase62, type PublicTextError, parseBase62 } from "./public-text.ts";

/**
 * Sealed IDs: Waybill's own public form for 128-bit IDs, whose compatible form accepts every text. 256 bits of AES-SIV
 * in 44 base62 characters, deterministic per key and context. A forged text is accepted with probability 2^-128 per key
 * (docs/guides/public-ids.md). The text does not name its key.
 */

/** Keys of 32, 48 or 64 bytes, bound to one context. */
export type SealRing = Ring<SivBlock>;

export const SEALED_TEXT_LENGTH = 44;
/** Words of an ID, and blocks of two words in a sealed one. */
const BLOCKS = 4;

export type SealRingError = KeyRingError | { readonly reason: "context"; readonly expected: string };

export interface OpenedId {
  readonly words: Words;
  /** Name of the key that sealed it. */
  readonly key: string;
}

/** Only IDs of 97 to 128 bits can be sealed: they have four words. */
export type SealError = { readonly reason: "word-count"; readonly expected: number; readonly actual: number };

/** `forged`: no key of the ring sealed it in this context. */
export type OpenError = PublicTextError | { readonly reason: "forged" };

const CONTEXT = /^[\x21-\x7e]{1,64}$/;

/**
 * A ring for sealed IDs: the first key seals, all open. The context is authenticated: an ID sealed in another context
 * is forged. It has 1 to 64 printable ASCII characters, such as an entity's name.
 */
export const sealRing = (keys: readonly NamedKey[], context: string): Result<SealRing, SealRingError> => {
  if (!CONTEXT.test(context)) return err({ reason: "context", expected: "1 to 64 printable ASCII characters" });
  const bytes = Uint8Array.from(context, (character) => character.charCodeAt(0));
  return makeRing(keys, SIV_KEY_BYTES, (key) => sivBlock(key, bytes));
};

/** Seals four words with the first key of the ring. */
export const sealId = (ring: SealRing, words: Words): Result<string, SealError> =>
  words.length === BLOCKS
    ? ok(formatBase62(ring.keys[0].seal(words)))
    : err({ reason: "word-count", expected: BLOCKS, actual: words.length });

/** Opens a sealed ID. Tries every key, so that timing does not reveal which one matched. */
export const openId = (ring: SealRing, text: string): Result<OpenedId, OpenError> => {
  const sealed = parseBase62(text, BLOCKS);
  if (!sealed.ok) return sealed;
  let opened: OpenedId | undefined;
  for (const key of ring.keys) {
    const words = key.open(sealed.value);
    if (words !== undefined) opened ??= { words, key: key.id };
  }
  return opened === undefined ? err({ reason: "forged" }) : ok(opened);
};
