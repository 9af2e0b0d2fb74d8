import * as v from "valibot";
import { ALPHABET_NAMES, TEXT_NAMES } from "../../ids/index.ts";
import {
  ROWS_PER_LAYOUT_MAX,
  SLICES_PER_LAYOUT_MAX,
  TABLE_TEXT_BYTES_MAX,
  TEXT_LENGTH_MAX,
  TEXTS_PER_LAYOUT_MAX,
} from "../limits.ts";
import { described, integer, list, name, named, optional, time, wholeNumber } from "./parts.ts";

/** Layouts in the declared table: its own, and what it adds to the built-in ones. */

const bitCount = integer(0, 128);

/** The gateway removes all headers of these names from the client's request (src/proxy/headers.ts). */
const sliceHeader = v.pipe(
  v.string(),
  v.maxLength(64),
  v.regex(
    /^waybill-[a-z0-9]+(-[a-z0-9]+)*$/,
    "A slice's header starts with waybill- and is in lower case: waybill-partition.",
  ),
);

const slice = v.union([
  v.strictTuple([bitCount, bitCount]),
  v.strictObject({
    offset: described(bitCount, "From the most significant bit of the key."),
    bits: described(bitCount, "How many."),
    codes: optional(v.literal("m49"), "The numbers are UN M.49 codes of countries and areas."),
    header: optional(sliceHeader, "Request header with the slice's number for origins, such as waybill-partition."),
  }),
]);

const wideNumber = v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,77}$/, "Write it as decimal digits."));

const row = v.strictObject({
  field: described(v.string(), "Name of the field. Rows of one name are parts of one field."),
  bits: described(v.pipe(v.number(), v.safeInteger()), "How many."),
  role: described(
    v.picklist(["fixed", "time", "key", "node", "counter", "random"]),
    "`fixed` bits identify the layout; routes can depend on `time` and `key`, and on `node` by its name.",
  ),
  value: optional(wholeNumber, "The constant value of a fixed field."),
  unit: optional(v.picklist(["s", "10ms", "ms", "10us", "us", "100ns", "ns", "sql-datetime"]), "Unit of a time."),
  epoch: optional(time, "When a time is 0."),
  max: optional(
    v.union([wholeNumber, wideNumber]),
    'Greatest value, where it is less than the bits can hold; a text such as "9007199254740993" above 2^53 - 1.',
  ),
});

const minted = v.strictObject({
  from: described(time, "The earliest time."),
  aheadSeconds: described(integer(0, 1_000_000_000), "How far ahead of the gateway's clock."),
});

/** The names of forms that only one built-in layout has, for those like it. */
const OWN_TEXTS = ["grouped-hex", "push-id", "cuid", "longs", "base64"] as const;

const textName = v.picklist([...TEXT_NAMES, ...OWN_TEXTS]);

const TEXT_SENTENCE = `Write ${TEXT_NAMES.join(", ")}; or an object, such as { "alphabet": "base58" }.`;

const digitCount = integer(1, TEXT_LENGTH_MAX);

const alphabetText = v.strictObject({
  alphabet: described(
    v.pipe(v.string(), v.maxLength(TEXT_LENGTH_MAX)),
    `The digits in order of value, as they are written; or the name of an alphabet: ${ALPHABET_NAMES.join(", ")}.`,
  ),
  width: optional(digitCount, "Number of digits. Absent: the digits of the greatest value."),
  padded: optional(v.boolean(), "False: as few digits as a value needs."),
  case: optional(
    v.picklist(["kept", "ignored"]),
    "Ignored: both cases of each letter are read, and the alphabet's are written. Kept by default.",
  ),
  prefix: optional(v.string(), "Constant beginning of each text, with its separator: `user_`."),
  groups: optional(
    v.pipe(v.array(digitCount), v.maxLength(TEXT_LENGTH_MAX)),
    "Number of digits in each group, with a `separator` between the groups.",
  ),
  separator: optional(v.string(), "One character between groups."),
  suffix: optional(v.string(), "Constant end of each text, such as `==`."),
  fill: optional(
    v.picklist(["start", "end"]),
    "Where zero bits fill up the digits: at the start of a number, by default; or at the end of bytes, as in RFC 4648.",
  ),
  name: optional(v.string(), "Name of the text form, in tools. Absent: that of the alphabet."),
});

export const layoutSchema = v.strictObject({
  like: optional(name, "The built-in layout whose bits this one has, with another `epoch` or other texts."),
  epoch: optional(time, "When the time is 0: for snowflake, sharding-id, flake-id, sonyflake and those like them."),
  intervalSeconds: optional(
    integer(1, 3_600),
    "Seconds that short-prefix-comb or short-suffix-comb counts by; 60 by default, as of its libraries.",
  ),
  rows: optional(list(row, ROWS_PER_LAYOUT_MAX), "A custom layout: its fields, most significant first."),
  text: optional(
    v.union(
      [
        textName,
        alphabetText,
        list(
          v.union([textName, alphabetText], TEXT_SENTENCE),
          TEXTS_PER_LAYOUT_MAX,
          "A layout needs a text form; name one.",
        ),
      ],
      TEXT_SENTENCE,
    ),
    "Text form of a custom layout; or several: the first is canonical, and the others are read too.",
  ),
  prefix: optional(v.string(), "Prefix of each text, such as `ord_`."),
  octetOrder: optional(
    v.pipe(v.array(wholeNumber), v.maxLength(TABLE_TEXT_BYTES_MAX)),
    "For each byte of the rows its place in the text; absent: the same order.",
  ),
  slices: optional(
    named(slice, SLICES_PER_LAYOUT_MAX),
    "Parts of the layout's key: [offset, bits], counted from the key's most significant bit.",
  ),
  mintedWithin: optional(
    v.union([v.literal(false), minted]),
    "IDs minted outside of this window are not of this layout. Absent: from 2000-01-01 to a day ahead.",
  ),
});

export type DeclaredLayout = v.InferOutput<typeof layoutSchema>;
export type DeclaredRow = v.InferOutput<typeof row>;
export type DeclaredSlice = v.InferOutput<typeof slice>;
