import { err, ok, type Result } from "../result.ts";
import { type AlphabetFault, type AlphabetText, alphabetText, PREFIX, sharedForm } from "../text/alphabet-text.ts";
import { type Alphabet, BASE32HEX, BASE62, BASE64URL, CROCKFORD, DECIMAL, HEX } from "../text/alphabets.ts";
import { digitsFor, radixText } from "../text/radix.ts";
import { uuidText } from "../text/uuid.ts";
import { wrappedText } from "../text/wrapped.ts";
import { LAYOUT_BITS_MAX, type LayoutTableFault } from "./check-table.ts";
import { compileLayout } from "./compile.ts";
import type { Layout, Row, TextForm } from "./layout.ts";
import { bitsOf } from "./runs.ts";

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

export const TEXT_NAMES = /* @__PURE__ */ Object.keys(MAKERS) as readonly TextName[];

const isTextName = (name: string): name is TextName => TEXT_NAMES.some((each) => each === name);

/** The text form with this name for IDs of this many bits; `uuid` always has 128. */
export const textNamed = (name: TextName, bits: number): TextForm => MAKERS[name](bits);

/** A text form: by name, or by its alphabet. */
export type DeclaredText = TextName | AlphabetText;

/** A custom layout in a routing table: rows as in a built-in table, and its text forms. */
export interface LayoutDeclaration {
  readonly name: string;
  /** Defaults to the name. */
  readonly title?: string;
  /** Where the layout is defined. Defaults to the routing table. */
  readonly source?: string;
  readonly rows: readonly Row[];
  readonly octetOrder?: readonly number[];
  /** One text form, or several: the first is canonical, and the others are read too. */
  readonly text: DeclaredText | readonly DeclaredText[];
  /** Constant prefix of every text, such as `ord_`. */
  readonly prefix?: string;
}

/** `at`: the place of the text among several. */
export type TextFault = (
  | AlphabetFault
  | { readonly reason: "text-name"; readonly text: string; readonly known: readonly string[] }
  | { readonly reason: "two-prefixes" }
  | { readonly reason: "two-texts"; readonly name: string }
  | { readonly reason: "no-text" }
  | { readonly reason: "text-length"; readonly length: number; readonly max: number }
) & { readonly at?: number };

type TextPrefixFault = { readonly reason: "text-prefix"; readonly prefix: string };

export type DeclarationFault =
  | LayoutTableFault
  | TextFault
  | { readonly reason: "layout-name"; readonly name: string }
  | TextPrefixFault
  | { readonly reason: "layout-bits"; readonly bits: number; readonly min: number; readonly max: number };

const LAYOUT_NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** With fewer bits almost any number would match. */
const BITS_MIN = 32;

/** Longer texts are no IDs for a gateway. */
const TEXT_LENGTH_MAX = 128;

export const declareLayout = (declaration: LayoutDeclaration): Result<Layout, DeclarationFault> => {
  const { name, title = name, source = "the routing table", rows, octetOrder, text, prefix } = declaration;
  if (!LAYOUT_NAME.test(name)) return err({ reason: "layout-name", name });
  const bits = bitsOf({ rows });
  if (!Number.isInteger(bits) || bits < BITS_MIN || bits > LAYOUT_BITS_MAX) {
    return err({ reason: "layout-bits", bits, min: BITS_MIN, max: LAYOUT_BITS_MAX });
  }
  const forms = declareTexts(text, bits, prefix);
  if (!forms.ok) return forms;
  const [canonical, ...others] = forms.value;
  return compileLayout({ name, title, source, text: canonical, rows, ...(octetOrder && { octetOrder }) }, others);
};

/** A name may also be of a form that the layout has. */
type NamedText = string | AlphabetText;

type Forms = readonly [TextForm, ...TextForm[]];

/** The text forms of IDs of this many bits. `own`: forms that the layout has by name, before those of all. */
export const declareTexts = (
  text: NamedText | readonly NamedText[],
  bits: number,
  prefix?: string,
  own: readonly TextForm[] = [],
): Result<Forms, TextFault | TextPrefixFault> => {
  if (prefix !== undefined && !PREFIX.test(prefix)) return err({ reason: "text-prefix", prefix });
  const isList = Array.isArray(text);
  const forms: TextForm[] = [];
  for (const [at, declared] of (isList ? (text as readonly NamedText[]) : [text as NamedText]).entries()) {
    const place = isList ? { at } : {};
    const form = formOf(declared, bits, prefix, own);
    if (!form.ok) return err({ ...form.error, ...place });
    const { name, lengthMax } = form.value;
    if (lengthMax > TEXT_LENGTH_MAX)
      return err({ reason: "text-length", length: lengthMax, max: TEXT_LENGTH_MAX, ...place });
    if (forms.some((other) => other.name === name)) return err({ reason: "two-texts", name, ...place });
    forms.push(sharedForm(form.value));
  }
  const [first, ...others] = forms;
  return first === undefined ? err({ reason: "no-text" }) : ok([first, ...others]);
};

const formOf = (declared: NamedText, bits: number, prefix: string | undefined, own: readonly TextForm[]) => {
  if (typeof declared !== "string") {
    if (prefix !== undefined && declared.prefix !== undefined) return err({ reason: "two-prefixes" } as const);
    return alphabetText(prefix === undefined ? declared : { ...declared, prefix }, bits);
  }
  const known = own.find(({ name }) => name === declared);
  if (known === undefined && !isTextName(declared)) {
    const names = [...new Set([...own.map(({ name }) => name), ...TEXT_NAMES])];
    return err({ reason: "text-name", text: declared, known: names } as const);
  }
  const bare = known ?? textNamed(declared as TextName, bits);
  return ok(prefix === undefined ? bare : wrappedText(prefix, bare));
};
