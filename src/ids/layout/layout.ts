import type { Result } from "../result.ts";

/** An ID's bits as unsigned 32-bit words, most significant first. Unused leading bits are 0. */
export type Words = readonly number[];

/** A field's purpose. By contract only `key` and `time` can decide a route; `node` only if the table says so. */
export type Role = "fixed" | "time" | "key" | "node" | "counter" | "random";

/** `sql-datetime`: days in the bits above the low 32, and units of 1/300 s since midnight in those. */
export type TimeUnit = "s" | "10ms" | "ms" | "10us" | "us" | "100ns" | "ns" | "sql-datetime";

/** The numeral system of a text form, whose texts may have constant characters around and between their digits. */
export interface Numeral {
  /** The digits in order of value. */
  readonly digits: string;
  /** Both cases of each letter are read. */
  readonly folded?: true;
  /** Forms of one name, digits and key are the same form. */
  readonly key?: string;
}

/** How bits are written as text. A value, so that a bundle contains only the forms that it uses. */
export interface TextForm {
  readonly name: string;
  /** Constant prefix of every text. */
  readonly prefix?: string;
  /** Absent for a form whose order and digits are not known. */
  readonly numeral?: Numeral;
  /** Number of bits in a text. */
  readonly bits: number;
  /** Set: letters of both cases are read, and texts of one ID differ in nothing else. The canonical one is in lower case. */
  readonly isCaseless?: true;
  /** Longer texts are rejected without reading them. */
  readonly lengthMax: number;
  /** The words of `text` from `start` up to, but not including, `end`; `undefined` if invalid. */
  readonly read: (text: string, start: number, end: number) => Words | undefined;
  readonly parse: (text: string) => Result<Words, ParseError>;
  /** The single text of words that fit the form. */
  readonly format: (words: Words) => string;
}

/**
 * One row of a layout, as in an RFC diagram, most significant first. Rows with the same name form one field, split
 * around fixed bits. Their bits are concatenated in row order.
 */
export type Row =
  | { readonly field: string; readonly bits: number; readonly role: "fixed"; readonly value: number }
  | {
      readonly field: string;
      readonly bits: number;
      readonly role: "time";
      readonly unit: TimeUnit;
      readonly epochMs: number;
      /** The greatest value, if the bits could hold more. A `number` is at most 2^53 - 1. */
      readonly max?: FieldValue;
    }
  | {
      readonly field: string;
      readonly bits: number;
      readonly role: "key" | "node" | "counter" | "random";
      readonly max?: FieldValue;
    };

/**
 * A layout as declared. Everything else is derived from it. Tables are exported apart from their compiled layouts:
 * a page that only calls `parseId` then bundles no compiler, less than half the bytes.
 */
export interface LayoutTable {
  readonly name: string;
  /** The built-in layout that this one is in other texts or from another epoch. Its IDs are minted alike. */
  readonly like?: string;
  readonly title: string;
  /** Where the layout is defined. */
  readonly source: string;
  readonly rows: readonly Row[];
  /** The canonical text form. */
  readonly text: TextForm;
  /** The smallest valid ID as a decimal number, if it is not 0. */
  readonly least?: string;
  /** Milliseconds that a short COMB counts by. */
  readonly intervalMs?: number;
  /** `own`: it has its own minter. `none`: its IDs need more than a clock and random bits. Absent: `startMinter`. */
  readonly minter?: "own" | "none";
  /** For each byte of the rows, in row order: its position in the text. Absent: the same order. */
  readonly octetOrder?: readonly number[];
}

/** A compiled field: arithmetic on words in text order. */
export interface Field {
  readonly name: string;
  readonly role: Role;
  readonly bits: number;
  /** A `number` up to 53 bits, a `bigint` above. */
  readonly max: FieldValue;
  /** The value as an exact unsigned integer. Throws for fields of more than 53 bits. */
  readonly read: (words: Words) => number;
  /** The value at any width. Not for the hot path. */
  readonly readBig: (words: Words) => bigint;
  /** Writes a value that is known to fit, in place. */
  readonly write: (words: number[], value: FieldValue) => void;
  /** The field's bits in each word. */
  readonly mask: Words;
}

/** A field's value: `number` up to 53 bits, `bigint` above. */
export type FieldValue = number | bigint;

export interface Layout {
  readonly name: string;
  readonly table: LayoutTable;
  /** All fields in row order, including fixed ones. */
  readonly fields: readonly Field[];
  readonly field: (name: string) => Field | undefined;
  /** Number of fixed bits: the evidence in the bits that an ID has this layout. 0 means no evidence. */
  readonly fixedBits: number;
  /** The fixed bits of each word: their mask and their value. */
  readonly fixed: { readonly mask: Words; readonly value: Words };
  /** Whether all fixed bits match and every field is in range. */
  readonly fits: (words: Words) => boolean;
  /** The first fault of words that do not fit: a wrong fixed field, else a value out of range. */
  readonly misfit: (words: Words) => ParseError | undefined;
  /**
   * When the ID was minted: Unix time in milliseconds, rounded down. It returns `undefined` for a time beyond 2^53 - 1, which
   * no `number` tells from its neighbours. `undefined` without a time field.
   */
  readonly mintedAtMs: ((words: Words) => number | undefined) | undefined;
  /** All text forms, the canonical one first. */
  readonly texts: readonly TextForm[];
  /** The words of a canonical text. Does not check fixed bits. */
  readonly parseText: (text: string) => Result<Words, ParseError>;
  /** Strict: every ID has one canonical text. Only UUIDs, hexadecimal and Crockford base32 are case-insensitive. */
  readonly parse: (text: string) => Result<Words, ParseError>;
  /** The canonical text. */
  readonly format: (words: Words) => string;
  /** All fields by name, including fixed ones. */
  readonly decode: (words: Words) => Readonly<Record<string, FieldValue>>;
  /** Every field that is not fixed is required and must fit. A fixed field is optional and must have its own value. */
  readonly encode: (values: Readonly<Record<string, FieldValue>>) => Result<Words, EncodeError>;
}

declare const GIVEN: unique symbol;

/** A layout whose `key` and `node` fields the compiler knows: `Needed` ones, and `Optional` ones that a minter can draw. */
export interface LayoutWith<Needed extends string, Optional extends string = never> extends Layout {
  /** For the compiler alone; it is never there. */
  readonly [GIVEN]?: readonly [Needed, Optional];
}

/** A value for each `key` and `node` field of a layout. The names are unknown for a layout declared at run time. */
export type KeysOf<Of extends Layout> =
  Of extends LayoutWith<infer Needed, infer Optional>
    ? string extends Needed
      ? { readonly [field: string]: Of | FieldValue }
      : { readonly [Field in Needed]: FieldValue } & { readonly [Field in Optional]?: FieldValue }
    : never;

/** Why a text is not an ID of a layout. `at` is the index of the first wrong character. */
export type ParseError =
  | { readonly reason: "empty" }
  | { readonly reason: "length"; readonly expected: string; readonly actual: number }
  | { readonly reason: "whitespace"; readonly at: number }
  | { readonly reason: "alphabet"; readonly at: number }
  /** `prefix`: the expected prefix, if the text does not start with it. */
  | { readonly reason: "shape"; readonly at: number; readonly suggestion?: string; readonly prefix?: string }
  | { readonly reason: "fixed-bits"; readonly field: string; readonly expected: number; readonly actual: number }
  /** An ID or a field is out of range. */
  | { readonly reason: "range"; readonly field?: string; readonly min: string; readonly max: string };

/** Why field values do not form an ID. */
export type EncodeError =
  | { readonly reason: "missing-field"; readonly field: string }
  | { readonly reason: "unknown-field"; readonly field: string }
  | { readonly reason: "fixed-field"; readonly field: string; readonly expected: number; readonly value: string }
  | { readonly reason: "out-of-range"; readonly field: string; readonly value: string; readonly max: string };
