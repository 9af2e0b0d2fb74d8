import * as v from "valibot";
import { PEEK_BYTES_MAX, PLACES_MAX } from "../../../routing/limits.ts";
import { claim, integer, list, matching, name, optional, text, token } from "../../../routing/schema/parts.ts";

/** Where else IDs are, in the declared table. Rules about more than one value are in `check.ts`. */

const pointer = matching(
  /^(?:\/(?:[^/~]|~[01])*){0,32}$/,
  "Write a JSON pointer of at most 32 names, such as /order/id; an empty one is the whole body.",
);

const place = v.strictObject({
  query: optional(text, "A query parameter. Its name is compared exactly, once both are decoded."),
  header: optional(token, "A request header."),
  cookie: optional(token, "A cookie."),
  json: optional(pointer, "A member of the JSON body, by JSON pointer: a string or a whole number."),
  form: optional(text, "A field of a body of type application/x-www-form-urlencoded."),
  jwtClaim: optional(claim, "A claim of the bearer token, which is verified; nested: a JSON pointer."),
  entity: optional(name, "The entity of the ID; by default the one that declares the place."),
  list: optional(v.boolean(), "Whether several IDs may be there: between commas, or as an array. Default false."),
  withinBytes: optional(
    integer(1, PEEK_BYTES_MAX),
    "For `json` and `form`: the ID ends within so many bytes of the body; default 16384, at most 65536. The largest of a list counts.",
  ),
  otherTypes: optional(
    v.picklist(["refuse", "pass"]),
    "For `json` and `form`: bodies of types that no place here reads are refused (the default) or passed on unread.",
  ),
});

export const placesSchema = list(place, PLACES_MAX, "Name a place, or remove this.");

export type DeclaredPlace = v.InferOutput<typeof place>;

declare module "../../../routing/schema/table.ts" {
  interface DeclaredEntity {
    idIn?: DeclaredPlace[];
  }
}

declare module "../../../routing/schema/without-id.ts" {
  interface DeclaredWithoutId {
    idIn?: DeclaredPlace[];
  }
}
