import { err, ok, type Result } from "../result.ts";
import { AES_KEY_BYTES, type AesBlock, aesBlock } from "./aes-block.ts";
import { type KeyRingError, makeRing, type NamedKey, type Ring } from "./key-ring.ts";
import { blockOfId, idOfBlock, isProven, PUBLIC_ID_MAX, type PublicType, swapGuid } from "./public-block.ts";
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
