import * as v from "valibot";
import * as limits from "../../../routing/limits.ts";
import {
  deadlinesSchema,
  described,
  fieldsSchema,
  integer,
  list,
  matching,
  name,
  optional,
  wholeAnswersSchema,
} from "../../../routing/schema/parts.ts";
import { sourcesSchema } from "../../../routing/schema/without-id.ts";

/** How GraphQL is served, in the declared table. Rules about more than one value are in `check.ts`. */

const graphqlName = matching(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "Write a name of GraphQL, such as orderId.");

const path = matching(
  /^(?:\/[A-Za-z0-9._~!$&'()+,;=@-]+)+$/,
  "The path of GraphQL is literal text without a slash at its end, such as /graphql.",
);

const idRule = v.strictObject({
  argument: described(graphqlName, "Name of the argument, or of a member of an input object in an argument."),
  field: optional(
    v.union([graphqlName, list(graphqlName, 100)]),
    "Fields whose arguments are meant; all unless given.",
  ),
  type: optional(graphqlName, "Only values of variables of this type, such as OrderId; lists of it too."),
  entity: optional(name, "The entity of the ID; without it the ID is a global one, as of `globalId`."),
  plural: optional(
    v.boolean(),
    "The field answers a list with one entry for each ID, in order, as `nodes` does: it may be split. Default false.",
  ),
});

const globalId = v.strictObject({
  form: described(
    v.picklist(["base64", "gid", "prefix", "prefix-base64url"]),
    "`base64` of Type:id, `gid`://app/Type/id, or a `prefix` before the ID, which may be in base64url.",
  ),
  types: described(
    v.pipe(v.record(v.pipe(v.string(), v.minLength(1), v.maxLength(128)), name), v.minEntries(1, "Name a type.")),
    "Entities by the type's name, or by the prefix with its separator: order_.",
  ),
});

const limitsSchema = v.strictObject({
  bodyBytesMax: optional(
    integer(1024, limits.BODY_BYTES_MAX),
    "The largest body of a request; default 262144, most 1048576.",
  ),
  tokensMax: optional(integer(10, limits.GRAPHQL_TOKENS_MAX), "Tokens of a document; default 1000."),
  depthMax: optional(integer(1, 100), "Selections within each other; default 20."),
  aliasesMax: optional(integer(0, 1000), "Aliases, counted as often as their fragment is spread; default 15."),
  idsMax: optional(integer(1, 1000), "IDs in an operation; default 100."),
  regionsMax: optional(integer(1, limits.GRAPHQL_REGIONS_MAX), "Regions that one operation is split for; default 6."),
  answerBytesMax: optional(
    integer(1024, limits.GRAPHQL_ANSWER_BYTES_MAX),
    "The largest answer of one region that is put together with others; default 524288.",
  ),
});

const hash = matching(/^[0-9a-f]{64}$/, "A document is named by its SHA-256: 64 hexadecimal digits in lower case.");

/** `Query.*`: the items of a list. */
const nullableField = matching(
  /^[A-Za-z_][A-Za-z0-9_]{0,127}(?:\.\*)?$/,
  "Write a field's name, or nodes.* for items.",
);

export const graphqlSchema = v.strictObject({
  path: described(path, "The endpoint's path."),
  ids: optional(
    list(idRule, 1000),
    "Where IDs stand; the first rule that fits decides. node(id:) and nodes(ids:) are known.",
  ),
  globalId: optional(
    globalId,
    "The form of global IDs, such as Relay's. Without it they are read as `/any/:id` reads them.",
  ),
  introspection: optional(name, "The region that answers `__schema` and `__type`; without it they are refused."),
  sources: v.exactOptional(sourcesSchema),
  bySource: optional(
    list(graphqlName, 1000),
    "Fields of the root that go where `sources` say, whatever stands beside them, such as viewer.",
  ),
  nonNull: optional(
    list(nullableField, 1000),
    "Fields of the query's root that are never null, and nodes.* for items: a region that fails makes more null.",
  ),
  queryType: optional(graphqlName, "Name of the query's root type; Query unless given."),
  persisted: optional(
    v.pipe(v.record(hash, v.pipe(v.string(), v.maxLength(65_536))), v.maxEntries(1000)),
    "Registered documents by their SHA-256: a request may name one instead of its text. Without it none may.",
  ),
  limits: optional(limitsSchema, "Limits of one request's cost."),
  deadlines: v.exactOptional(deadlinesSchema),
  wholeAnswers: v.exactOptional(wholeAnswersSchema),
  fields: v.exactOptional(fieldsSchema),
});

export type DeclaredGraphql = v.InferOutput<typeof graphqlSchema>;

declare module "../../../routing/schema/table.ts" {
  interface DeclaredTable {
    graphql?: DeclaredGraphql;
  }
}
