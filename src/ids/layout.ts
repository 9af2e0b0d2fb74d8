import type { Result } from "./result.ts";

/** An ID's bits: unsigned 32-bit words, most significant first. The last word holds the last bit; unused bits in front are 0. */
export type Words = readonly number[];

/** What a field is for. Only `key` and `time` may decide a route by contract; `node` only where the table says so. */
export type Role = "fixed" | "time" | "key" | "node" | "counter" | "random";

/** `sql-datetime`: whole days in the bits above the last 32, and 1/300 s since midnight in those. */
export type TimeUnit = "s" | "10ms" | "ms" | "10us" | "us" | "100ns" | "ns" | "sql-datetime";

/** How bits are written down: a value, so that a layout brings only its own code along. */
export interface TextForm {
  readonly name: string;
  /** What stands in front of every text. */
  readonly prefix?: string;
  /** How many bits a text holds. */
  readonly bits: number;
  /** Longer texts are refused unread. */
  readonly lengthMax: number;
  /** The words of the text that fills `text` from `start` up to, not including, `end`; `undefined` if there is none. */
  readonly read: (text: string, start: number, end: number) => Words | undefined;
  readonly parse: (text: string) => Result<Words, ParseError>;
  /** The one text of words that the form can hold. */
  readonly format: (words: Words) => string;
}

/**
 * One row of a layout, as in the diagram of an RFC. Rows stand most significant first.
 * A field that is split around fixed bits has several rows of one name; their bits are joined in row order.
 */
export type Row =
  | { readonly field: string; readonly bits: number; readonly role: "fixed"; readonly value: number }
  | {
      readonly field: string;
      readonly bits: number;
      readonly role: "time";
      readonly unit: TimeUnit;
      readonly epochMs: number;
      /** The greatest value, where it is less than the bits could hold. */
      readonly max?: number;
    }
  | {
      readonly field: string;
      readonly bits: number;
      readonly role: "key" | "node" | "counter" | "random";
      readonly max?: number;
    };

/** A layout as it is declared: data, from which everything else follows. */
export interface LayoutTable {
  readonly name: string;
  readonly title: string;
  /** Where the layout is defined. */
  readonly source: string;
  readonly rows: readonly Row[];
  /** The canonical text. */
  readonly text: TextForm;
  /** The least value of the whole ID, in decimal, where not all values are IDs. */
  readonly least?: string;
  /** `own`: it has a minter of its own. `none`: its IDs do not come of a clock and chance. Absent: `startMinter` makes them. */
  readonly minter?: "own" | "none";
  /** For each octet of the rows, in row order: its place in the text. Absent: the same order. */
  readonly octetOrder?: readonly number[];
}

/** A field of a compiled layout: plain word arithmetic on the words in text order. */
export interface Field {
  readonly name: string;
  readonly role: Role;
  readonly bits: number;
  /** The greatest value. */
  readonly max: FieldValue;
  /** The value as an exact unsigned integer. Only for fields of at most 53 bits; wider ones throw. */
  readonly read: (words: Words) => number;
  /** The value at any width. Not for the hot path. */
  readonly readBig: (words: Words) => bigint;
  /** Puts a value that is known to fit into the words, in place. */
  readonly write: (words: number[], value: FieldValue) => void;
  /** The bits of each word that belong to the field. */
  readonly mask: Words;
}

/** A field's value: `number` up to 53 bits, `bigint` above. */
export type FieldValue = number | bigint;

export interface Layout {
  readonly name: string;
  readonly table: LayoutTable;
  /** Every field once, in row order, fixed ones included. */
  readonly fields: readonly Field[];
  readonly field: (name: string) => Field | undefined;
  /** How many bits are fixed: the proof that a text carries of its layout. 0 means that nothing marks it. */
  readonly fixedBits: number;
  /** The fixed bits of each word: where they are, and what they must be. */
  readonly fixed: { readonly mask: Words; readonly value: Words };
  /** Whether all fixed bits have their value, and every field is within its range. */
  readonly fits: (words: Words) => boolean;
  /** The first fault of words that do not fit: a fixed field that differs, else a value outside of its range. */
  readonly misfit: (words: Words) => ParseError | undefined;
  /** When the ID says it was minted: Unix time in milliseconds, rounded down. `undefined` for a layout without a time. */
  readonly mintedAtMs: ((words: Words) => number) | undefined;
  /** All texts, the canonical one first. */
  readonly texts: readonly TextForm[];
  /** The words of a canonical text, whatever its fixed bits say. */
  readonly parseText: (text: string) => Result<Words, ParseError>;
  /** Strict: what parses has one canonical text; the case of UUIDs, of hexadecimal digits and of Crockford base32 is the only latitude. */
  readonly parse: (text: string) => Result<Words, ParseError>;
  /** The one canonical text. */
  readonly format: (words: Words) => string;
  /** Every field by name, fixed ones included. */
  readonly decode: (words: Words) => Readonly<Record<string, FieldValue>>;
  /** Every field that is not fixed must be given and must fit its bits; a fixed one may be given with its own value. */
  readonly encode: (values: Readonly<Record<string, FieldValue>>) => Result<Words, EncodeError>;
}

/** Why a text is not an ID of a layout. `at` is the index of the first character at fault. */
export type ParseError =
  | { readonly reason: "empty" }
  | { readonly reason: "length"; readonly expected: string; readonly actual: number }
  | { readonly reason: "whitespace"; readonly at: number }
  | { readonly reason: "alphabet"; readonly at: number }
  /** `prefix`: what every such text begins with, where this one does not. */
  | { readonly reason: "shape"; readonly at: number; readonly suggestion?: string; readonly prefix?: string }
  | { readonly reason: "fixed-bits"; readonly field: string; readonly expected: number; readonly actual: number }
  /** A whole ID, or one of its fields, that is none of the possible values. */
  | { readonly reason: "range"; readonly field?: string; readonly min: string; readonly max: string };

/** Why values do not make an ID. */
export type EncodeError =
  | { readonly reason: "missing-field"; readonly field: string }
  | { readonly reason: "unknown-field"; readonly field: string }
  | { readonly reason: "fixed-field"; readonly field: string; readonly expected: number; readonly value: string }
  | { readonly reason: "out-of-range"; readonly field: string; readonly value: string; readonly max: string };
