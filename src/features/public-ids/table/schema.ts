import * as v from "valibot";
import { described, type MembersOutput, name, optional } from "../../../routing/schema/parts.ts";

/** Public IDs in the declared table. */

const jsonPath = described(
  v.string(),
  "JSON pointer in which `*` is any one name or index and `**` any number of them: /items/*/orderId.",
);

const fieldEntity = described(name, "The public entity whose ID is there.");

const otherBodies = v.exactOptional(
  described(
    v.picklist(["pass", "refuse"]),
    "Bodies that are not JSON and cannot be searched for IDs: passed on (the default) or refused.",
  ),
);

const publicSchema = v.union([
  v.literal(true),
  v.strictObject({
    as: described(
      v.picklist(["sealed", "ulong", "long", "decimal", "guid", "uint128"]),
      "`sealed` is Waybill's own form for 128-bit IDs; the others are those of Architect.Identities.",
    ),
    form: optional(
      v.picklist(["uuid", "base62", "hex"]),
      "Text form of the compatible kinds; base62 if absent. Sealed IDs have one.",
    ),
  }),
]);

const namedField = v.strictObject({ path: jsonPath, entity: fieldEntity });

export const entityMembers = {
  public: optional(
    publicSchema,
    "Clients see public IDs only; `true` is { as: sealed }. Keys are a secret of the deployment.",
  ),
  publicFields: optional(
    v.array(v.union([jsonPath, namedField])),
    "Where IDs of public entities are in JSON responses; a bare path means this entity's own ID.",
  ),
  otherBodies,
};

export const withoutIdMembers = {
  publicFields: optional(
    v.pipe(v.array(namedField), v.minLength(1, "Name a field, or remove this.")),
    "Where IDs of public entities are in JSON responses.",
  ),
  otherBodies,
};

export type DeclaredPublic = v.InferOutput<typeof publicSchema>;

type OfEntity = MembersOutput<typeof entityMembers>;
type OfWithoutId = MembersOutput<typeof withoutIdMembers>;

declare module "../../../routing/schema/table.ts" {
  interface DeclaredEntity extends OfEntity {}
}

declare module "../../../routing/schema/without-id.ts" {
  interface DeclaredWithoutId extends OfWithoutId {}
}
