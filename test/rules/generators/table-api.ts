import { type JsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import * as v from "valibot";
import {
  auditSchema,
  canarySchema,
  packSchema,
  revisionSchema,
  revisionsSchema,
  selectorSchema,
  statusSchema,
} from "../../../src/formats/table-api.ts";
import { endCanarySchema, rollbackSchema, startCanarySchema } from "../../../src/formats/table-requests.ts";

/** As OpenAPI names them. */
const TABLE_API = {
  TableRevision: revisionSchema,
  TableRevisions: revisionsSchema,
  TableAudit: auditSchema,
  TableCanary: canarySchema,
  TableStatus: statusSchema,
  StoredPack: packSchema,
  RollbackRequest: rollbackSchema,
  CanaryRequest: v.looseObject({ ...startCanarySchema.entries, ...selectorSchema.entries }),
  EndCanaryRequest: endCanarySchema,
};

/** The schemas of `/-/table` for OpenAPI 3.1. */
export const tableApiFile = (): { readonly path: string; readonly text: string } => ({
  path: "src/formats/table-api.schema.json",
  text: `${JSON.stringify(tableApi(), null, 2)}\n`,
});

const tableApi = (): object =>
  toJsonSchemaDefs(TABLE_API, {
    typeMode: "input",
    errorMode: "ignore",
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    // A document describes what is sent and accepted now. It leaves open whether other members are allowed.
    overrideSchema: ({ jsonSchema: { additionalProperties: _, anyOf, required = [], ...rest } }) => ({
      ...(anyOf === undefined ? rest : nullable(anyOf, rest)),
      ...(required.length > 0 && { required }),
    }),
    overrideAction: ({ valibotAction, jsonSchema }) =>
      valibotAction.type === "safe_integer" ? { ...jsonSchema, type: "integer", maximum: undefined } : undefined,
  });

/** `{type: [T, "null"]}` in place of `anyOf`. */
const nullable = (anyOf: readonly (JsonSchema | boolean)[], rest: JsonSchema): JsonSchema => {
  const [schema] = anyOf;
  if (typeof schema !== "object" || typeof schema.type !== "string") throw new Error("not a nullable schema");
  return { ...schema, ...rest, type: [schema.type, "null"] };
};
