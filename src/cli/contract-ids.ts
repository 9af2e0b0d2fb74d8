import type { Parameter } from "./contract-paths.ts";

/** Why a parameter is taken for an ID, as the end of a sentence; `undefined` for one that is none. */
export type IdTest = (parameter: Parameter) => string | undefined;

/** `id`, `orderId`, `order_id`, `order-id`, `orderID`, `uuid`, `orderUuid`; `paid` and `grid` are none. */
const ID_NAME = /^(?:.*[a-z0-9]I[dD]|(?:.*[_-])?(?:id|ID|uuid|guid|UUID|GUID)|.*[a-z0-9](?:Uuid|Guid|UUID|GUID))$/;

/** Formats that are in use for IDs; `uuid` alone is registered (OpenAPI Format Registry). */
const ID_FORMATS: ReadonlySet<string> = new Set([
  "uuid",
  "guid",
  "ulid",
  "ksuid",
  "xid",
  "cuid",
  "objectid",
  "snowflake",
]);

export const looksLikeId: IdTest = ({ name, format }) => {
  if (format !== undefined && ID_FORMATS.has(format.toLowerCase())) return `its format is ${format}`;
  return ID_NAME.test(name) ? "it is named like one" : undefined;
};

/** What a user's expression finds in the name is one, and nothing else. */
export const matchesGiven =
  (expression: RegExp): IdTest =>
  ({ name }) =>
    expression.test(name) ? "--id-param says so" : undefined;
