import type { Words } from "../layout/layout.ts";
import { bigToWords, wordsToBig } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import { AES_KEY_BYTES, type AesBlock, aesBlock, swapBytes } from "./aes.ts";
import { type KeyRingError, makeRing, type NamedKey, type Ring } from "./key-ring.ts";
import { formatPublicText, type PublicForm, type PublicTextError, parsePublicText } from "./public-text.ts";

/**
 * Public IDs as in Architect.Identities 2.1.1 (AesPublicIdentityConverter): one AES block of the ID without a nonce,
 * written as a .NET Guid. The encoding is deterministic, so a public ID reveals equality and nothing else.
 */

/** Keys of 16, 24 or 32 bytes for compatible public IDs. */
export type KeyRing = Ring<AesBlock>;

/** How a public ID is encoded. The text does not contain it, so all parties must agree on it. */
export interface PublicKind {
  readonly type: PublicType;
  readonly form: PublicForm;
  /** The only key to use. Required for `guid` and `uint128` with several keys, since these decode under any key. */
  readonly key?: string;
}

export interface DecodedPublic {
  readonly id: bigint;
  /** Name of the key that encoded the ID. */
  readonly key: string;
  /** The canonical text, for caches and logs. The input may differ in hexadecimal case. */
  readonly canonical: string;
}

type KeyChoiceError =
  | { readonly reason: "unknown-key"; readonly key: string }
  | { readonly reason: "key-needed"; readonly keys: readonly string[] };

/** Why a value cannot be encoded. */
export type PublicEncodeError =
  | { readonly reason: "out-of-range"; readonly value: string; readonly max: string }
  | KeyChoiceError;

/**
 * Why a text is not a public ID. `forged`: no key decodes it to a value of the type. `ambiguous-key`: several keys do,
 * with different values. For a valid decimal that has probability 2^-35 per further key; `PublicKind.key` resolves it.
 */
export type PublicDecodeError =
  | PublicTextError
  | KeyChoiceError
  | { readonly reason: "forged" }
  | { readonly reason: "ambiguous-key"; readonly keys: readonly string[] };

/** A ring for compatible public IDs: the first key encodes, all decode. */
export const keyRing = (keys: readonly NamedKey[]): Result<KeyRing, KeyRingError> =>
  makeRing(keys, AES_KEY_BYTES, aesBlock);

/** Encodes an ID with the first key of the ring, or with the key that `kind` names. */
export const encodePublic = (ring: KeyRing, id: bigint, kind: PublicKind): Result<string, PublicEncodeError> => {
  const max = PUBLIC_ID_MAX[kind.type];
  if (id < 0n || id > max) return err({ reason: "out-of-range", value: `${id}`, max: `${max}` });
  const keys = keysFor(ring, kind);
  if (!keys.ok) return keys;
  const ciphertext = keys.value[0].encrypt(blockOfId(id, kind.type));
  return ok(formatPublicText(swapGuid(ciphertext), kind.form));
};

/** Decodes a public ID. Tries every allowed key, so that timing does not reveal which one matched. */
export const decodePublic = (
  ring: KeyRing,
  text: string,
  kind: PublicKind,
): Result<DecodedPublic, PublicDecodeError> => {
  const words = parsePublicText(text, kind.form);
  if (!words.ok) return words;
  const keys = keysFor(ring, kind);
  if (!keys.ok) return keys;
  const ciphertext = swapGuid(words.value);
  const found: DecodedPublic[] = [];
  for (const key of keys.value) {
    const id = idOfBlock(key.decrypt(ciphertext), kind.type);
    if (id !== undefined) found.push({ id, key: key.id, canonical: formatPublicText(words.value, kind.form) });
  }
  const [first, ...others] = found;
  if (first === undefined) return err({ reason: "forged" });
  return others.length === 0 ? ok(first) : err({ reason: "ambiguous-key", keys: found.map(({ key }) => key) });
};

/** The usable keys: the named one, or all if the type's redundancy distinguishes them. */
const keysFor = (ring: KeyRing, { type, key: named }: PublicKind): Result<KeyRing["keys"], KeyChoiceError> => {
  if (named !== undefined) {
    const key = ring.keys.find(({ id }) => id === named);
    return key === undefined ? err({ reason: "unknown-key", key: named }) : ok([key]);
  }
  if (isProven(type) || ring.keys.length === 1) return ok(ring.keys);
  return err({ reason: "key-needed", keys: ring.keys.map(({ id }) => id) });
};

/**
 * The plaintext block of Architect.Identities 2.1.1 for each type. Numbers are a .NET decimal: flags, high word, low
 * words, each little-endian. The 128-bit types are big-endian. A ulong is encoded as a decimal, so a public ID does not
 * authenticate its type.
 */
export type PublicType = "ulong" | "long" | "decimal" | "guid" | "uint128";

/** The greatest value of each type; the smallest is 0. */
export const PUBLIC_ID_MAX: Readonly<Record<PublicType, bigint>> = {
  ulong: 2n ** 64n - 1n,
  long: 2n ** 63n - 1n,
  decimal: 10n ** 28n - 1n,
  guid: 2n ** 128n - 1n,
  uint128: 2n ** 128n - 1n,
};

/** Whether a block has redundancy: of 2^128 blocks only `PUBLIC_ID_MAX` + 1 are valid. */
export const isProven = (type: PublicType): boolean => type !== "guid" && type !== "uint128";

/** The block of a value within the range of its type. */
export const blockOfId = (id: bigint, type: PublicType): Words => {
  const words = bigToWords(id, 4);
  if (!isProven(type)) return words;
  const [, high, middle, low] = words;
  return [0, swapBytes(high as number), swapBytes(low as number), swapBytes(middle as number)];
};

/** The value of a block; `undefined` if the redundancy shows that it is forged. */
export const idOfBlock = (block: Words, type: PublicType): bigint | undefined => {
  const [flags, high, low, middle] = block as [number, number, number, number];
  if (!isProven(type)) return wordsToBig(block);
  const id = wordsToBig([swapBytes(high), swapBytes(middle), swapBytes(low)]);
  return flags === 0 && id <= PUBLIC_ID_MAX[type] ? id : undefined;
};

/** Reorders bytes between a .NET Guid and its text: 3 2 1 0, 5 4, 7 6, 8 to 15. The permutation is an involution. */
export const swapGuid = (words: Words): Words => {
  const [first, second, third, fourth] = words as [number, number, number, number];
  const halvesSwapped = ((second & 0x00ff00ff) << 8) | ((second >>> 8) & 0x00ff00ff);
  return [swapBytes(first), halvesSwapped >>> 0, third, fourth];
};
