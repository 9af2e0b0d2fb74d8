import type { TextForm } from "../layout.ts";
import { uuidText } from "../uuid-text.ts";
import { type Alphabet, BASE32HEX, BASE62, BASE64URL, CROCKFORD, DECIMAL, HEX } from "./alphabets.ts";
import { digitsFor, radixText } from "./radix.ts";

/** Text forms by name, for layouts that a user declares. Our own layouts hold theirs as values and do not come here. */

const ofFixedWidth =
  (alphabet: Alphabet) =>
  (bits: number): TextForm =>
    radixText({ alphabet, bits, width: digitsFor(bits, alphabet.digits.length) });

/** Decimals have no zeros in front; all others have as many digits as the greatest value needs. */
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

/** The text form of a name for IDs of so many bits; `uuid` always has 128. */
export const textNamed = (name: TextName, bits: number): TextForm => MAKERS[name](bits);
