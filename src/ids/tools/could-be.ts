import { compileLayout } from "../layout/compile.ts";
import type { Layout, Row, TextForm, Words } from "../layout/layout.ts";
import { ksuid } from "../layouts/sixteen.ts";
import { uuidV1, uuidV3, uuidV4, uuidV5, uuidV6, uuidV7, uuidV8 } from "../layouts/uuid.ts";
import { DEFAULT_WINDOW } from "../recognise.ts";
import { type AlphabetText, alphabetText } from "../text/alphabet-text.ts";

/** Texts of IDs that no built-in layout has, and that public libraries write. A table declares them. */

/** A reading of a text as one of them. */
export interface CouldBe {
  /** Such as `TypeID`. */
  readonly what: string;
  /** The layout of the bits: a built-in one, or that of the library. */
  readonly layout: Layout;
  readonly text: AlphabetText;
  readonly words: Words;
  /** Unix ms. `undefined` without a time in the ID. */
  readonly mintedAtMs: number | undefined;
  /** Whether the text proves it: a prefix, fixed bits and a plausible time. Other texts could be anything. */
  readonly isProven: boolean;
}

interface Kind {
  readonly what: string;
  readonly text: AlphabetText;
  readonly layouts: readonly Layout[];
}

const UUIDS: readonly Layout[] = [uuidV7, uuidV4, uuidV1, uuidV6, uuidV3, uuidV5, uuidV8];

/** Layouts of libraries, with their own times. Sources: npm scru128 3.0.6; atproto.com/specs/tid; f4b6a3/tsid-creator 5.2. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  scru128: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: 0 },
    { field: "counter", bits: 48, role: "counter" },
    { field: "random", bits: 32, role: "random" },
  ],
  tid: [
    { field: "sign", bits: 1, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 53, role: "time", unit: "us", epochMs: 0 },
    { field: "clock", bits: 10, role: "node" },
  ],
  tsid: [
    { field: "mintedAt", bits: 42, role: "time", unit: "ms", epochMs: 1_577_836_800_000 },
    { field: "node", bits: 10, role: "node" },
    { field: "counter", bits: 12, role: "counter" },
  ],
};

const TYPE_ID = /^(?:[a-z](?:[a-z_]{0,61}[a-z])?_)?(?=[0-7][0-9a-hjkmnp-tv-z]{25}$)/;

let kinds: readonly (Kind & { readonly form: TextForm })[] | undefined;

/** Compiled when first asked for. */
const allKinds = () => {
  const layoutOf = (name: string, text: AlphabetText): Layout => {
    const rows = ROWS[name] as readonly Row[];
    const form = formOf(
      text,
      rows.reduce((sum, { bits }) => sum + bits, 0),
    );
    const layout = compileLayout({ name, title: name, source: "its library", text: form, rows });
    if (!layout.ok) throw new Error(`${name}: ${layout.error.reason}`);
    return layout.value;
  };
  const uuid = (what: string, text: AlphabetText): Kind => ({ what, text, layouts: UUIDS });
  const own = (what: string, name: string, text: AlphabetText): Kind => ({
    what,
    text,
    layouts: [layoutOf(name, text)],
  });
  const all = [
    uuid("UUID in base58 (Bitcoin)", { alphabet: "base58" }),
    uuid("UUID in base58 (Bitcoin), unpadded", { alphabet: "base58", padded: false }),
    uuid("UUID in base58 (Flickr), as of short-uuid", { alphabet: "base58-flickr" }),
    uuid("UUID in base62", { alphabet: "base62" }),
    uuid("UUID in base62 with small letters first", { alphabet: "base62-lower-first" }),
    uuid("UUID in base36, as of uuid25", { alphabet: "base36", case: "ignored" }),
    uuid("UUID in base64url", { alphabet: "base64url", fill: "end" }),
    uuid("UUID in base64url with padding", { alphabet: "base64url", fill: "end", suffix: "==" }),
    own("SCRU128", "scru128", { alphabet: "base36", case: "ignored" }),
    own("TID of AT Protocol", "tid", { alphabet: "base32-sortable" }),
    own("TSID", "tsid", { alphabet: "crockford", case: "ignored" }),
    { what: "KSUID in hex", text: { alphabet: "hex", case: "ignored" }, layouts: [ksuid] } as const,
  ];
  return all.map((kind) => ({ ...kind, form: formOf(kind.text, (kind.layouts[0] as Layout).table.text.bits) }));
};

const formOf = (text: AlphabetText, bits: number): TextForm => {
  const form = alphabetText(text, bits);
  if (!form.ok) throw new Error(`${text.alphabet}: ${form.error.reason}`);
  return form.value;
};

/** Everything that a text could be besides the built-in layouts. Its fixed bits match, and its time is plausible. */
export const couldBe = (text: string, nowMs: number): readonly CouldBe[] => {
  kinds ??= allKinds();
  const prefix = TYPE_ID.exec(text)?.[0];
  const typeId = { alphabet: "crockford-lower", ...(prefix !== "" && prefix !== undefined && { prefix }) };
  const tried =
    prefix === undefined
      ? kinds
      : [{ what: "TypeID", text: typeId, layouts: UUIDS, form: formOf(typeId, 128) }, ...kinds];
  return tried.flatMap(({ what, text: declared, layouts, form }) => {
    const words = form.read(text, 0, text.length);
    if (words === undefined) return [];
    return layouts
      .filter((layout) => layout.fits(words))
      .flatMap((layout): readonly CouldBe[] => {
        const mintedAtMs = layout.mintedAtMs?.(words);
        const { fromMs, aheadMs } = DEFAULT_WINDOW;
        const isPlausible = mintedAtMs !== undefined && mintedAtMs >= fromMs && mintedAtMs <= nowMs + aheadMs;
        if (layout.mintedAtMs !== undefined && !isPlausible) return [];
        const isProven = declared.prefix !== undefined && layout.fixedBits > 0 && isPlausible;
        return [{ what, layout, text: declared, words, mintedAtMs, isProven }];
      });
  });
};

/** The entry of a table's `layouts` that declares it: in the texts that it was read in, and in UUID text where it is one. */
export const declarationOf = ({ layout, text }: CouldBe): Readonly<Record<string, unknown>> => {
  if (Object.hasOwn(ROWS, layout.name)) {
    const rows = layout.table.rows.map((row) => {
      if (row.role !== "time") return row;
      const { epochMs, ...rest } = row;
      return { ...rest, epoch: new Date(epochMs).toISOString() };
    });
    return { rows, text };
  }
  return { like: layout.name, text: [text, layout.table.text.name] };
};
