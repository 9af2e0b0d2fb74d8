import { err, ok, type Result } from "../result.ts";

/** A secret key with a public name. */
export interface NamedKey {
  /** 1 to 64 printable ASCII characters, without spaces. */
  readonly id: string;
  readonly key: Uint8Array;
}

/** A key's name and operations. No property exposes the key's bytes, so that no log can print them. */
export type RingKey<Cipher> = Cipher & { readonly id: string };

/** The first key encodes; every key decodes. Never empty. */
export interface Ring<Cipher> {
  readonly keys: readonly [RingKey<Cipher>, ...RingKey<Cipher>[]];
}

/** Why a key ring is invalid. Contains no key material. */
export type KeyRingError =
  | { readonly reason: "no-keys" }
  | { readonly reason: "too-many-keys"; readonly max: number; readonly actual: number }
  | { readonly reason: "key-id"; readonly index: number }
  | { readonly reason: "duplicate-key-id"; readonly id: string }
  | { readonly reason: "duplicate-key"; readonly ids: readonly [string, string] }
  | {
      readonly reason: "key-length";
      readonly id: string;
      readonly expected: readonly number[];
      readonly actual: number;
    };

/** Decoding tries every key. The limit bounds its cost and the probability that a random text is accepted. */
export const RING_KEYS_MAX = 8;

/** Builds a ring from keys of the allowed lengths, each set up by `cipherOf`. */
export const makeRing = <Cipher>(
  keys: readonly NamedKey[],
  bytes: readonly number[],
  cipherOf: (key: Uint8Array) => Cipher,
): Result<Ring<Cipher>, KeyRingError> => {
  const fault = checkKeys(keys, bytes);
  if (fault !== undefined) return err(fault);
  const [first, ...rest] = keys.map(({ id, key }) => ({ ...cipherOf(key), id }));
  return first === undefined ? err({ reason: "no-keys" }) : ok({ keys: [first, ...rest] });
};

const checkKeys = (keys: readonly NamedKey[], bytes: readonly number[]): KeyRingError | undefined => {
  if (keys.length === 0) return { reason: "no-keys" };
  if (keys.length > RING_KEYS_MAX) return { reason: "too-many-keys", max: RING_KEYS_MAX, actual: keys.length };
  for (const [index, { id, key }] of keys.entries()) {
    if (!/^[\x21-\x7e]{1,64}$/.test(id)) return { reason: "key-id", index };
    if (!bytes.includes(key.length)) return { reason: "key-length", id, expected: bytes, actual: key.length };
    for (const earlier of keys.slice(0, index)) {
      if (earlier.id === id) return { reason: "duplicate-key-id", id };
      if (sameBytes(earlier.key, key)) return { reason: "duplicate-key", ids: [earlier.id, id] };
    }
  }
  return undefined;
};

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);
