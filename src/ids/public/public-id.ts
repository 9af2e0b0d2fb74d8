import { err, ok, type Result } from "../result.ts";
import { AES_KEY_OCTETS, type AesBlock, aesBlock } from "./aes-block.ts";
import { type KeyRingError, makeRing, type NamedKey, type Ring } from "./key-ring.ts";
import { blockOfId, idOfBlock, isProven, PUBLIC_ID_MAX, type PublicType, swapGuid } from "./public-block.ts";
import { formatPublicText, type PublicForm, type PublicTextError, parsePublicText } from "./public-text.ts";

/**
 * Public identities as Architect.Identities 2.1.1 makes them (AesPublicIdentityConverter): one AES block over the ID, no
 * nonce, the ciphertext written as a .NET Guid. One ID has one text under a key, and equality is all that a text shows.
 */

/** Keys of 16, 24 or 32 octets for the compatible public IDs. */
export type KeyRing = Ring<AesBlock>;

/** What a public ID stands for and how it is written. All who share the IDs must agree on it: no text says it. */
export interface PublicKind {
  readonly type: PublicType;
  readonly form: PublicForm;
  /** The one key to use. Needed for `guid` and `uint128` when the ring has several: they decode under any key, to any ID. */
  readonly key?: string;
}

export interface DecodedPublic {
  readonly id: bigint;
  /** Name of the key that made the text. */
  readonly key: string;
  /** The one canonical text, for caches and logs: hexadecimal digits may have come in another case. */
  readonly canonical: string;
}

type KeyChoiceError =
  | { readonly reason: "unknown-key"; readonly key: string }
  | { readonly reason: "key-needed"; readonly keys: readonly string[] };

/** Why a value has no public ID. */
export type PublicEncodeError =
  | { readonly reason: "out-of-range"; readonly value: string; readonly max: string }
  | KeyChoiceError;

/**
 * Why a text is no public ID. `forged`: no key opens it to a value of the type. `ambiguous-key`: several keys do, to
 * different values, which happens to an honest decimal once in 2^35 for each further key; `PublicKind.key` settles it.
 */
export type PublicDecodeError =
  | PublicTextError
  | KeyChoiceError
  | { readonly reason: "forged" }
  | { readonly reason: "ambiguous-key"; readonly keys: readonly string[] };

/** A ring for the compatible public IDs: the first key encodes, all decode. */
export const keyRing = (keys: readonly NamedKey[]): Result<KeyRing, KeyRingError> =>
  makeRing(keys, AES_KEY_OCTETS, aesBlock);

/** The public ID of an ID under the first key of the ring, or the one that `kind` names. */
export const encodePublic = (ring: KeyRing, id: bigint, kind: PublicKind): Result<string, PublicEncodeError> => {
  const max = PUBLIC_ID_MAX[kind.type];
  if (id < 0n || id > max) return err({ reason: "out-of-range", value: `${id}`, max: `${max}` });
  const keys = keysFor(ring, kind);
  if (!keys.ok) return keys;
  const ciphertext = keys.value[0].encrypt(blockOfId(id, kind.type));
  return ok(formatPublicText(swapGuid(ciphertext), kind.form));
};

/** The ID of a public ID. Every allowed key is tried, whether or not one has fitted, so that time does not tell which did. */
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

/** The keys that may be used: the named one, or all, where a type has the redundancy that tells them apart. */
const keysFor = (ring: KeyRing, { type, key: named }: PublicKind): Result<KeyRing["keys"], KeyChoiceError> => {
  if (named !== undefined) {
    const key = ring.keys.find(({ id }) => id === named);
    return key === undefined ? err({ reason: "unknown-key", key: named }) : ok([key]);
  }
  if (isProven(type) || ring.keys.length === 1) return ok(ring.keys);
  return err({ reason: "key-needed", keys: ring.keys.map(({ id }) => id) });
};
