import * as v from "valibot";
import { BODY_BYTES_MAX, BULK_MAX, KEPT_BYTES_MAX, KEY_SECONDS_MAX, SOURCES_MAX } from "../../../routing/limits.ts";
import {
  claim,
  described,
  integer,
  list,
  matching,
  name,
  optional,
  text,
  token,
  wholeNumber,
} from "../../../routing/schema/parts.ts";

/** How entities are created, in the declared table. Rules about more than one value are in `check.ts`. */

const pointer = matching(/^(?:\/(?:[^/~]|~[01])*)*$/, "Write a JSON pointer, such as /customer/country.");

const collection = matching(
  /^(?:\/[A-Za-z0-9._~!$&'()+,;=@-]+)+(?:\/:id(?:\/[A-Za-z0-9._~!$&'()+,;=@-]+)+)?$/,
  "A collection is a path of literal text, such as /orders, or below an entity: /orders/:id/items.",
);

/** Some thirty years. */
const AGE_SECONDS_MAX = 1_000_000_000;

const keyValue = v.union([wholeNumber, text]);

const source = v.strictObject({
  header: optional(token, "A request header."),
  jwtClaim: optional(claim, "A claim of the verified bearer token; nested: a JSON pointer."),
  member: optional(pointer, "A member of the JSON body, by JSON pointer."),
  clientCountry: optional(v.literal(true), "The client's country, ISO 3166-1 alpha-2."),
  parent: optional(name, "A field of the parent's ID, for a collection below an entity."),
  value: optional(keyValue, "Always this one."),
  values: optional(
    v.pipe(v.record(text, keyValue), v.minEntries(1, "Name a value for something.")),
    "The field's value by what the source says. Without it, what the source says is the value.",
  ),
});

const idempotency = v.strictObject({
  required: optional(v.boolean(), "Whether a create without a key is refused; default false."),
  ttlSeconds: optional(integer(60, KEY_SECONDS_MAX), "How long a key holds; default 86400."),
  leaseSeconds: optional(
    integer(1, 3600),
    "After it an attempt of which nothing was heard is taken for dead; default 60.",
  ),
  scope: optional(
    v.strictObject({ jwtClaim: described(claim, "The claim that names the caller.") }),
    "Whose keys: by a verified claim instead of the credentials.",
  ),
  byClientId: optional(v.boolean(), "The client's own ID is the key where the field is absent; default false."),
  keepAnswer: optional(
    v.strictObject({
      fields: optional(list(token, 20), "Header fields that are kept beside the usual ones."),
      bytesMax: optional(integer(0, KEPT_BYTES_MAX), "The largest body that is kept; default and most 65536."),
    }),
    "The origin's answer is kept, and a retry gets it. Without this a retry asks the origin again.",
  ),
});

const clientId = v.strictObject({
  header: optional(token, "On POST: the request header with the client's ID."),
  member: optional(pointer, "On POST: the member of the JSON body with it."),
  createFlag: optional(token, "PUT with this request header creates, beside `if-none-match: *`."),
  beforeSeconds: described(integer(0, AGE_SECONDS_MAX), "How old an ID may be at its creation."),
  afterSeconds: described(integer(0, AGE_SECONDS_MAX), "How far ahead of the clock it may be."),
  clock: optional(
    v.strictObject({
      header: described(token, "The client's own time in Unix ms, when it sends."),
      skewSeconds: described(integer(0, AGE_SECONDS_MAX), "How far it may differ from the gateway's."),
    }),
    "Ages are counted by the client's own clock, where it sends it.",
  ),
});

export const createSchema = v.strictObject({
  collection: optional(collection, "Where POST creates; default: the path before `/:id`."),
  layout: optional(name, "The layout of new IDs, where the entity has several."),
  key: optional(
    v.record(name, v.union([source, list(source, SOURCES_MAX)])),
    "Sources of the new ID's key by field: country, shardKey, a slice, or another field of the layout.",
  ),
  bodyBytesMax: optional(
    integer(1024, BODY_BYTES_MAX),
    "The largest body that is read for a member, a key or a bulk; default and most 1048576.",
  ),
  bulk: optional(
    v.strictObject({
      array: described(pointer, "The list in the JSON body, one entity for each of its items."),
      max: described(integer(1, BULK_MAX), "Its greatest length."),
    }),
    "A request may create several entities. Without it a body that is a list is refused.",
  ),
  idempotency: optional(idempotency, "How `idempotency-key` is honoured."),
  clientId: optional(clientId, "Clients may bring their own IDs."),
});

export type DeclaredCreate = v.InferOutput<typeof createSchema>;
export type DeclaredKeySource = v.InferOutput<typeof source>;

declare module "../../../routing/schema/table.ts" {
  interface DeclaredEntity {
    create?: DeclaredCreate;
  }
}
