import * as v from "valibot";
import { PACKS_MAX, SPLIT_PARTS_MAX } from "./limits.ts";
import { FIELD_BITS_MAX, PACK_BYTES_MAX, PACK_RANGES_MAX, PACK_REGIONS_MAX } from "./pack/format.ts";
import { name } from "./schema-parts.ts";

/** Where a route leads that has no region of its own: the ranges of a pack, or the parts of a split. */

const count = (max: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(max));

export const packSchema = v.strictObject({
  sha256: v.pipe(
    v.string(),
    v.regex(/^[0-9a-f]{64}$/, "A digest is 64 hexadecimal digits in lower case."),
    v.description("SHA-256 of the pack's header, which holds those of its pages."),
  ),
  bytes: v.pipe(count(PACK_BYTES_MAX), v.description("Octets of the file.")),
  ranges: v.pipe(count(PACK_RANGES_MAX), v.description("How many ranges it has.")),
  bits: v.pipe(count(FIELD_BITS_MAX), v.description("Width of the field that its ranges are of.")),
  field: v.exactOptional(v.pipe(name, v.description("The field; absent, and no slice either: the layout's key."))),
  slice: v.exactOptional(v.pipe(name, v.description("The slice of the layout's key, instead of a field."))),
  regions: v.pipe(
    v.array(name),
    v.minLength(1),
    v.maxLength(PACK_REGIONS_MAX),
    v.description("The regions that it names, in the order of their numbers."),
  ),
});

export const packsSchema = v.pipe(
  v.record(name, packSchema),
  v.maxEntries(PACKS_MAX),
  v.description("Ranges in files of their own, by name: `waybill table pack` writes them."),
);

export const splitSchema = v.strictObject({
  by: v.pipe(v.literal("hash"), v.description("A hash of what the entity is told by, however its ID is written.")),
  parts: v.pipe(v.number(), v.safeInteger(), v.minValue(2), v.maxValue(SPLIT_PARTS_MAX)),
  regions: v.pipe(
    v.union([v.array(name), v.record(v.string(), name)]),
    v.description('A region for each part in turn, or by parts: { "0-1": "eu", "2-3": "eu2" }.'),
  ),
});

export type DeclaredPack = v.InferOutput<typeof packSchema>;
export type DeclaredSplit = v.InferOutput<typeof splitSchema>;
