import type { Words } from "../layout.ts";
import { err, ok, type Result } from "../result.ts";
import { formatBase62 } from "./base62.ts";
import { type KeyRingError, makeRing, type NamedKey, type Ring } from "./key-ring.ts";
import { type PublicTextError, parseBase62 } from "./public-text.ts";
import { SIV_KEY_OCTETS, type SivBlock, sivBlock } from "./siv-block.ts";

/**
 * Sealed IDs: our own public form for 128-bit IDs, whose compatible form accepts every text. 256 bits of AES-SIV in 44
 * characters of base62, one text for an ID under a key and context. A text that the key did not make is accepted with
 * probability 2^-128 for each key of the ring; docs/public-ids.md has the bound. No key name is in the text.
 */

/** Keys of 32, 48 or 64 octets, bound to one context. */
export type SealRing = Ring<SivBlock>;

/** Characters of a sealed ID. */
export const SEALED_TEXT_LENGTH = 44;
const BLOCKS = 4;

export type SealRingError = KeyRingError | { readonly reason: "context"; readonly expected: string };

export interface OpenedId {
  /** The four words of the ID. */
  readonly words: Words;
  /** Name of the key that sealed it. */
  readonly key: string;
}

/** `forged`: no key of the ring has sealed it in this context. */
export type OpenError = PublicTextError | { readonly reason: "forged" };

const CONTEXT = /^[\x21-\x7e]{1,64}$/;

/**
 * A ring for sealed IDs: the first key seals, all open. The context, 1 to 64 printable ASCII characters such as the name of
 * an entity, is authenticated: an ID sealed in one context is forged in any other.
 */
export const sealRing = (keys: readonly NamedKey[], context: string): Result<SealRing, SealRingError> => {
  if (!CONTEXT.test(context)) return err({ reason: "context", expected: "1 to 64 printable ASCII characters" });
  const octets = Uint8Array.from(context, (character) => character.charCodeAt(0));
  return makeRing(keys, SIV_KEY_OCTETS, (key) => sivBlock(key, octets));
};

/** The sealed ID of four words, under the first key of the ring. */
export const sealId = (ring: SealRing, words: Words): string => formatBase62(ring.keys[0].seal(words));

/** The ID of a sealed one. Every key is tried, whether or not one has fitted, so that time does not tell which did. */
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
