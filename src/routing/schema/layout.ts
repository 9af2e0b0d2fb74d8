import * as v from "valibot";
import { TEXT_NAMES } from "../../ids/index.ts";
import { ROWS_PER_LAYOUT_MAX, SLICES_PER_LAYOUT_MAX, TABLE_TEXT_BYTES_MAX } from "../limits.ts";
import { name, time, wholeNumber } from "./parts.ts";

/** What the table says of layouts: its own, and what it adds to ours. */

const bitCount = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(128));

/** What origins are told of a slice. All inbound fields of these names are removed (src/proxy/headers.ts). */
const sliceHeader = v.pipe(
  v.string(),
  v.maxLength(64),
  v.regex(
    /^waybill-[a-z0-9]+(-[a-z0-9]+)*$/,
    "A slice's field is named waybill- and more, in lower case: waybill-partition.",
  ),
  v.description("Request field in which origins are told the slice's number, such as waybill-partition."),
);

const slice = v.union([
  v.strictTuple([bitCount, bitCount]),
  v.strictObject({
    offset: bitCount,
    bits: bitCount,
    codes: v.exactOptional(v.literal("m49")),
    header: v.exactOptional(sliceHeader),
  }),
]);

const row = v.strictObject({
  field: v.pipe(v.string(), v.description("Name of the field. Rows of one name are parts of one field.")),
  bits: v.pipe(v.number(), v.safeInteger()),
  role: v.pipe(
    v.picklist(["fixed", "time", "key", "node", "counter", "random"]),
    v.description("`fixed` bits prove the layout; `time` and `key` may decide a route, `node` where a route names it."),
  ),
  value: v.exactOptional(v.pipe(wholeNumber, v.description("What a fixed field always is."))),
  unit: v.exactOptional(
    v.pipe(
      v.picklist(["s", "10ms", "ms", "10us", "us", "100ns", "ns", "sql-datetime"]),
      v.description("What a time counts."),
    ),
  ),
  epoch: v.exactOptional(v.pipe(time, v.description("When a time is 0."))),
  max: v.exactOptional(v.pipe(wholeNumber, v.description("Greatest value, where it is less than the bits hold."))),
});

export const layoutSchema = v.strictObject({
  like: v.exactOptional(v.pipe(name, v.description("The built-in layout that this one is, but for its `epoch`."))),
  epoch: v.exactOptional(
    v.pipe(
      time,
      v.description("When the time is 0: for snowflake, sharding-id, flake-id, sonyflake and those like them."),
    ),
  ),
  rows: v.exactOptional(
    v.pipe(
      v.array(row),
      v.minLength(1),
      v.maxLength(ROWS_PER_LAYOUT_MAX),
      v.description("A layout of your own: its fields, most significant first."),
    ),
  ),
  text: v.exactOptional(v.pipe(v.picklist(TEXT_NAMES), v.description("How IDs of your own layout are written."))),
  prefix: v.exactOptional(v.pipe(v.string(), v.description("What stands in front of each text, such as `ord_`."))),
  octetOrder: v.exactOptional(
    v.pipe(
      v.array(wholeNumber),
      v.maxLength(TABLE_TEXT_BYTES_MAX),
      v.description("For each octet of the rows its place in the text; absent: the same order."),
    ),
  ),
  slices: v.exactOptional(
    v.pipe(
      v.record(name, slice),
      v.maxEntries(SLICES_PER_LAYOUT_MAX),
      v.description("Parts of the layout's key: [offset, bits], counted from the key's most significant bit."),
    ),
  ),
  mintedWithin: v.exactOptional(
    v.pipe(
      v.union([
        v.literal(false),
        v.strictObject({
          from: time,
          aheadSeconds: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(1_000_000_000)),
        }),
      ]),
      v.description(
        "IDs minted outside of this window are not of this layout. Absent: from 2000-01-01 to a day ahead.",
      ),
    ),
  ),
});

export type DeclaredLayout = v.InferOutput<typeof layoutSchema>;
export type DeclaredRow = v.InferOutput<typeof row>;
export type DeclaredSlice = v.InferOutput<typeof slice>;
