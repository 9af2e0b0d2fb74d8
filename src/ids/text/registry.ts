import type { TextForm } from "../layout.ts";
import { uuidText } from "../uuid-text.ts";
import { type Alphabet, BASE32HEX, BASE62, BASE64URL, CROCKFORD, DECIMAL, HEX } from "./alphabets.ts";
import { digitsFor, radixText } from "./radix.ts";

/** Text forms by name, for custom layouts. Built-in layouts hold their forms as values, to keep bundles small. */

const ofFixedWidth =
  (alphabet: Alphabet) =>
  (bits: number): TextForm =>
    radixText({ alphabet, bits, width: digitsFor(bits, alphabet.digits.length) });

/** Decimals have no leading zeros. All others are padded to the digits of the greatest value. */
const MAKERS = {
  uuid: () => uuidText,
  hex: /* @__PURE__ */ ofFixedWidth(HEX),
  base62: /* @__PURE__ */ ofFixedWidth(BASE62),
  base32: /* @__PURE__ */ ofFixedWidth(CROCKFORD),
  base32hex: /* @__PURE__ */ ofFixedWidth(BASE32HEX),
  base64url: /* @__PURE__ */ ofFixedWidth(BASE64URL),
  decimal: (bits: number) => radixText({ alphabet: DECIMAL, bits }),
} as const;

export type TextName = keyof typeof MAKERS;

function namesOf(makers: typeof MAKERS): readonly TextName[] {
  return Object.keys(makers) as TextName[];
}

export const TEXT_NAMES: readonly TextName[] = /* @__PURE__ */ namesOf(MAKERS);

/** The text form with this name for IDs of this many bits; `uuid` always has 128. */
export const textNamed = (name: TextName, bits: number): TextForm => MAKERS[name](bits);
