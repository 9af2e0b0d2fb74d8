/** The digits of each numeral system, in order of value. */

/** `folded`: digits are case-insensitive. */
export type Alphabet = { readonly name: string; readonly digits: string; readonly folded?: true };

export const DECIMAL: Alphabet = { name: "decimal", digits: "0123456789" };

export const HEX: Alphabet = { name: "hex", digits: "0123456789abcdef", folded: true };

export const GROUPED_HEX: Alphabet = { name: "grouped-hex", digits: "0123456789abcdef", folded: true };

export const UPPER_HEX: Alphabet = { name: "hex", digits: "0123456789ABCDEF", folded: true };

/** The SID library never prints capitals, so SID rejects them. */
export const LOWER_HEX: Alphabet = { name: "hex", digits: "0123456789abcdef" };

export const BASE36: Alphabet = { name: "base36", digits: "0123456789abcdefghijklmnopqrstuvwxyz" };

/** In ASCII order, so that texts of equal length sort by value. */
export const BASE62: Alphabet = {
  name: "base62",
  digits: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
};

/** Crockford base32 without its aliases I, L and O. ULID does not have them, and an ID must have one text. */
export const CROCKFORD: Alphabet = { name: "base32", digits: "0123456789ABCDEFGHJKMNPQRSTVWXYZ", folded: true };

/** RFC 4648 section 7, in lower case. */
export const BASE32HEX: Alphabet = { name: "base32hex", digits: "0123456789abcdefghijklmnopqrstuv" };

/** RFC 4648 section 5. */
export const BASE64URL: Alphabet = {
  name: "base64url",
  digits: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

/** Firebase's alphabet, in ASCII order. */
export const PUSH_ID: Alphabet = {
  name: "push-id",
  digits: "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
};

/** SID's alphabet, in ASCII order. */
export const SID_64: Alphabet = {
  name: "base64",
  digits: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~",
};
