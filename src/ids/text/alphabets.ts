/** The digits of each numeral system, least first. */

/** `folded`: a letter of the other case is read as the same digit. */
export interface Alphabet {
  readonly name: string;
  readonly digits: string;
  readonly folded: boolean;
}

export const DECIMAL: Alphabet = { name: "decimal", digits: "0123456789", folded: false };

export const HEX: Alphabet = { name: "hex", digits: "0123456789abcdef", folded: true };

export const UPPER_HEX: Alphabet = { name: "hex", digits: "0123456789ABCDEF", folded: true };

/** SID refuses capitals, which its library never prints. */
export const LOWER_HEX: Alphabet = { name: "hex", digits: "0123456789abcdef", folded: false };

export const BASE36: Alphabet = { name: "base36", digits: "0123456789abcdefghijklmnopqrstuvwxyz", folded: false };

/** In the order of ASCII, so that texts of one length sort as their values do. */
export const BASE62: Alphabet = {
  name: "base62",
  digits: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  folded: false,
};

/** Crockford's base32. Its reading of I and L as 1 and of O as 0 is no part of ULID, and would give a value several texts. */
export const CROCKFORD: Alphabet = { name: "base32", digits: "0123456789ABCDEFGHJKMNPQRSTVWXYZ", folded: true };

/** RFC 4648 section 7, in lower case. */
export const BASE32HEX: Alphabet = { name: "base32hex", digits: "0123456789abcdefghijklmnopqrstuv", folded: false };

/** RFC 4648 section 5. */
export const BASE64URL: Alphabet = {
  name: "base64url",
  digits: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  folded: false,
};

/** Firebase's, in the order of ASCII. */
export const PUSH_ID: Alphabet = {
  name: "push-id",
  digits: "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
  folded: false,
};

/** SID's, in the order of ASCII. */
export const SID_64: Alphabet = {
  name: "base64",
  digits: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~",
  folded: false,
};
