import type { OpenApiPart } from "../../../routes/feature.ts";
import { parameter } from "../../../routes/openapi/paths.ts";
import { json, operation } from "../../../routes/openapi/table.ts";
import MINT_BODY_SCHEMA from "../../routing/mint-body.schema.json" with { type: "json" };

/** The file names its own dialect; the document has one dialect for all schemas. */
const { $schema: _, ...MINT_BODY } = MINT_BODY_SCHEMA;

const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT };
const text = (description: string) => ({ type: "string", description });

const AMBIGUOUS = {
  type: "object",
  description: "Only if `/any` would reject some of the IDs, and minting others does not help.",
  required: ["count", "path"],
  properties: {
    count: { type: "integer", minimum: 1 },
    path: text("The path of the entity that accepts them."),
    idLayout: text("The value of the header `id-layout` that makes them unambiguous on `/any`."),
  },
};

const MINTED = {
  type: "object",
  required: ["entity", "layout", "ids"],
  properties: {
    entity: TEXT,
    layout: TEXT,
    region: TEXT,
    regions: TEXTS,
    ids: TEXTS,
    shortKeys: { ...TEXTS, description: "The short key of each ID, for LUUIDs." },
    links: { ...TEXTS, description: "The path of each short key, where the entity's path takes them." },
    ambiguous: AMBIGUOUS,
  },
};

const IDEMPOTENCY_KEY = parameter(
  "header",
  "idempotency-key",
  "A retry with the same key and body gets the same IDs for 24 hours.",
  { minLength: 1, maxLength: 512 },
);

export const openapi: OpenApiPart = {
  schemas: { MintBody: MINT_BODY },
  paths: {
    "/mint": {
      post: operation({
        name: "mint",
        tag: "ids",
        summary: "Mint IDs that route to the region named in the response",
        security: [],
        parameters: [IDEMPOTENCY_KEY],
        body: {
          "application/json": {
            schema: { $ref: "#/components/schemas/MintBody" },
            examples: {
              order: { value: { entity: "order", country: "KZ", count: 3 } },
              parcel: { value: { layout: "hotguid", shardKey: 840 } },
            },
          },
        },
        status: 201,
        description: "The IDs, in the order in which they were made: rising, where their layout begins with a time.",
        content: { ...json(MINTED), "text/plain": { schema: { ...TEXT, description: "One ID per line." } } },
      }),
    },
  },
};
