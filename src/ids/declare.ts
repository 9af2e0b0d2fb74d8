import type { LayoutTableFault } from "./check-table.ts";
import { compileLayout } from "./compile.ts";
import type { Layout, Row } from "./layout.ts";
import { err, type Result } from "./result.ts";
import { bitsOf } from "./runs.ts";
import { TEXT_NAMES, type TextName, textNamed } from "./text/registry.ts";
import { prefixedText } from "./text/wrapped.ts";

/** A layout as a user writes it in a routing table: the same rows as ours, and the text form by its name. */
export interface LayoutDeclaration {
  readonly name: string;
  /** Absent: the name. */
  readonly title?: string;
  /** Where the layout is defined. Absent: the routing table. */
  readonly source?: string;
  readonly rows: readonly Row[];
  readonly octetOrder?: readonly number[];
  readonly text: TextName;
  /** What stands in front of every text, such as `ord_`. */
  readonly prefix?: string;
}

/** Why a declaration is no layout. */
export type DeclarationFault =
  | LayoutTableFault
  | { readonly reason: "layout-name"; readonly name: string }
  | { readonly reason: "text-name"; readonly text: string; readonly known: readonly string[] }
  | { readonly reason: "text-prefix"; readonly prefix: string }
  | { readonly reason: "layout-bits"; readonly bits: number; readonly min: number; readonly max: number };

const LAYOUT_NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** Letters first, so that no prefix turns one numeral into another; nothing that a path would encode. */
const PREFIX = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/** Fewer bits are a number that any text may be; more than 160 no known ID has. */
const BITS_MIN = 32;
const BITS_MAX = 160;

/** Compiles a declaration, or says what is wrong with it. What comes out is a layout like ours. */
export const declareLayout = (declaration: LayoutDeclaration): Result<Layout, DeclarationFault> => {
  const { name, title = name, source = "the routing table", rows, octetOrder, text, prefix } = declaration;
  if (!LAYOUT_NAME.test(name)) return err({ reason: "layout-name", name });
  if (!TEXT_NAMES.includes(text)) return err({ reason: "text-name", text, known: TEXT_NAMES });
  if (prefix !== undefined && !PREFIX.test(prefix)) return err({ reason: "text-prefix", prefix });
  const bits = bitsOf({ rows });
  if (!Number.isInteger(bits) || bits < BITS_MIN || bits > BITS_MAX) {
    return err({ reason: "layout-bits", bits, min: BITS_MIN, max: BITS_MAX });
  }
  const bare = textNamed(text, bits);
  return compileLayout({
    name,
    title,
    source,
    text: prefix === undefined ? bare : prefixedText(prefix, bare),
    rows,
    ...(octetOrder === undefined ? {} : { octetOrder }),
  });
};
