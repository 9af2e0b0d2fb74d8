import { err, type Result } from "../result.ts";
import { type Alphabet, BASE32HEX, BASE62, BASE64URL, CROCKFORD, DECIMAL, HEX } from "../text/alphabets.ts";
import { digitsFor, radixText } from "../text/radix.ts";
import { uuidText } from "../text/uuid.ts";
import { prefixedText } from "../text/wrapped.ts";
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

/** The text form with this name for IDs of this many bits; `uuid` always has 128. */
export const textNamed = (name: TextName, bits: number): TextForm => MAKERS[name](bits);

/** A custom layout in a routing table: rows as in a built-in table, and the text form by name. */
export interface LayoutDeclaration {
  readonly name: string;
  /** Defaults to the name. */
  readonly title?: string;
  /** Where the layout is defined. Defaults to the routing table. */
  readonly source?: string;
  readonly rows: readonly Row[];
  readonly octetOrder?: readonly number[];
  readonly text: TextName;
  /** Constant prefix of every text, such as `ord_`. */
  readonly prefix?: string;
}

export type DeclarationFault =
  | LayoutTableFault
  | { readonly reason: "layout-name"; readonly name: string }
  | { readonly reason: "text-name"; readonly text: string; readonly known: readonly string[] }
  | { readonly reason: "text-prefix"; readonly prefix: string }
  | { readonly reason: "layout-bits"; readonly bits: number; readonly min: number; readonly max: number };

const LAYOUT_NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** Starts with a letter, so that it never changes the numeral system. No character needs percent-encoding in a path. */
const PREFIX = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/** With fewer bits almost any number would match. */
const BITS_MIN = 32;

export const declareLayout = (declaration: LayoutDeclaration): Result<Layout, DeclarationFault> => {
  const { name, title = name, source = "the routing table", rows, octetOrder, text, prefix } = declaration;
  if (!LAYOUT_NAME.test(name)) return err({ reason: "layout-name", name });
  if (!TEXT_NAMES.includes(text)) return err({ reason: "text-name", text, known: TEXT_NAMES });
  if (prefix !== undefined && !PREFIX.test(prefix)) return err({ reason: "text-prefix", prefix });
  const bits = bitsOf({ rows });
  if (!Number.isInteger(bits) || bits < BITS_MIN || bits > LAYOUT_BITS_MAX) {
    return err({ reason: "layout-bits", bits, min: BITS_MIN, max: LAYOUT_BITS_MAX });
  }
  const bare = textNamed(text, bits);
  const form = prefix === undefined ? bare : prefixedText(prefix, bare);
  return compileLayout({ name, title, source, text: form, rows, ...(octetOrder && { octetOrder }) });
};
