import * as v from "valibot";
import { PACKS_MAX } from "../../../routing/limits.ts";
import { parseJson } from "../../../routing/schema/json-scanner.ts";
import { excessOf } from "../../../routing/schema/parse.ts";
import { described, integer, list, matching, name, named, optional } from "../../../routing/schema/parts.ts";
import { FIELD_BITS_MAX, PACK_BYTES_MAX, PACK_RANGES_MAX, PACK_REGIONS_MAX } from "./format.ts";

/** Packs in the declared table: ranges in separate files. */

export const packSchema = v.strictObject({
  sha256: described(
    matching(/^[0-9a-f]{64}$/, "A digest is 64 hexadecimal digits in lower case."),
    "SHA-256 of the pack's header, which has those of its pages.",
  ),
  bytes: described(integer(1, PACK_BYTES_MAX), "Bytes of the file."),
  ranges: described(integer(1, PACK_RANGES_MAX), "Number of ranges."),
  bits: described(integer(1, FIELD_BITS_MAX), "Width of the field of the ranges."),
  field: optional(name, "The field; without a field and a slice: the layout's key."),
  slice: optional(name, "The slice of the layout's key, instead of a field."),
  regions: described(list(name, PACK_REGIONS_MAX), "The regions that it names, in the order of their numbers."),
});

export const packsSchema = described(
  named(packSchema, PACKS_MAX),
  "Ranges in separate files, by name; written by `waybill table pack`.",
);

export const routeMember = optional(name, "The pack's ranges decide; other IDs continue with the next routes.");

export type DeclaredPack = v.InferOutput<typeof packSchema>;

/** The packs that a text declares, without checking the rest; none where the text is not a table. */
export const declaredPacks = (text: string): readonly (readonly [name: string, pack: DeclaredPack])[] => {
  // Most tables have none, and need not be parsed again.
  const mayHave = text.includes('"packs"') || text.includes("\\u");
  if (!mayHave || excessOf(text) !== undefined) return [];
  const table = v.safeParse(WITH_PACKS, parseJson(text), { abortEarly: true });
  return table.success ? Object.entries(table.output.packs) : [];
};

const WITH_PACKS = /* @__PURE__ */ v.object({ packs: packsSchema });

declare module "../../../routing/schema/table.ts" {
  interface DeclaredTable {
    packs?: Record<string, DeclaredPack>;
  }
  interface DeclaredRoute {
    pack?: string;
  }
}
