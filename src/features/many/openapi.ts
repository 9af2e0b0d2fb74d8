import type { OpenApiPart } from "../../../routes/feature.ts";
import { parameter } from "../../../routes/openapi/paths.ts";
import { json, operation } from "../../../routes/openapi/table.ts";

const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT };

const MANY_BODY = {
  type: "object",
  required: ["ids"],
  properties: { ids: TEXTS, locate: { type: "boolean", default: false } },
};

const MANY_ANSWER = {
  type: "object",
  required: ["results", "summary"],
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        required: ["index", "id"],
        properties: {
          index: { type: "integer" },
          id: TEXT,
          region: TEXT,
          entity: TEXT,
          layout: TEXT,
          status: { type: "integer" },
          contentType: TEXT,
          contentEncoding: TEXT,
          body: {},
          text: TEXT,
          base64: TEXT,
          problem: { $ref: "#/components/schemas/Problem" },
          canary: { type: "integer", description: "The revision of the canary that decided." },
        },
      },
    },
    summary: { type: "object" },
  },
};

export const openapi: OpenApiPart = {
  paths: {
    "/any": {
      post: operation({
        name: "many",
        tag: "ids",
        summary: "Up to 1,000 IDs at once: each fetched from its region, or only located",
        security: [],
        parameters: [parameter("query", "locate", "`true`: no origin is asked.", { enum: ["true"] })],
        body: {
          "application/json": { schema: { anyOf: [TEXTS, MANY_BODY] } },
          "text/plain": { schema: { ...TEXT, description: "One ID per line." } },
        },
        description:
          "In order; as `application/x-ndjson` each as soon as it is there. Without its summary it was cut off.",
        content: { ...json(MANY_ANSWER), "application/x-ndjson": {} },
      }),
    },
  },
};
